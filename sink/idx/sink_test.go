package idx

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sinktest"
)

var (
	_ sink.Sink  = (*Sink)(nil)
	_ sink.Sizer = (*Sink)(nil)
)

// sample returns rows records of c, little-endian, and the IDX file of them, both built element by
// element.
func sample(c source.Column, rows int) (data, file []byte) {
	size := c.DType.Size()
	file = []byte{0, 0, byte(c.DType), byte(1 + len(c.Shape))}
	for _, d := range append([]int{rows}, c.Shape...) {
		file = append(file, byte(d>>24), byte(d>>16), byte(d>>8), byte(d))
	}
	random := rand.New(rand.NewPCG(7, uint64(rows)))
	for range rows * c.Elements() {
		element := binary.LittleEndian.AppendUint64(nil, random.Uint64())[:size]
		data = append(data, element...)
		slices.Reverse(element)
		file = append(file, element...)
	}
	return data, file
}

// convert writes data, rows records of the only column, in batches of batchRows.
func convert(t *testing.T, c source.Column, data []byte, rows, batchRows int, codec compressed.Codec) []byte {
	t.Helper()
	table := layouttest.Table{Columns: []source.Column{c}, Rows: rows, Data: [][]byte{data}}
	return table.Write(t, func(w io.Writer, s *schema.Schema) (sink.Sink, error) {
		return New(w, s, Options{Compression: codec})
	}, table.Schema(), batchRows)
}

func TestEveryTypeAndRank(t *testing.T) {
	t.Parallel()
	for _, d := range idx.DTypes() {
		for _, shape := range [][]int{{}, {3}, {5, 7}, {2, 3, 3}, {2, 1, 3, 2}, {0}, {4, 0}} {
			c := source.Column{Name: "data", DType: d, Shape: shape}
			t.Run(fmt.Sprint(d, shape), func(t *testing.T) {
				t.Parallel()
				for _, rows := range []int{0, 1, 25} {
					data, want := sample(c, rows)
					if got := convert(t, c, data, rows, 10, compressed.Codec{}); !bytes.Equal(got, want) {
						t.Errorf("%d rows: got\n% x\nwant\n% x", rows, got, want)
					}
					z, err := gzip.NewReader(bytes.NewReader(convert(t, c, data, rows, 10, compressed.Codec{Name: "gzip"})))
					if err != nil {
						t.Fatal(err)
					}
					if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, want) {
						t.Errorf("%d rows in gzip: got\n% x, error %v, want\n% x", rows, got, err, want)
					}
				}
			})
		}
	}
}

// The example in the format's description: a labels file of MNIST starts with 00 00 08 01 and the
// number of items.
func TestHeaderOfLabels(t *testing.T) {
	t.Parallel()
	c := source.Column{Name: "label", DType: idx.Uint8}
	got := convert(t, c, []byte{5, 0, 4}, 3, 8, compressed.Codec{})
	if want := "\x00\x00\x08\x01\x00\x00\x00\x03\x05\x00\x04"; string(got) != want {
		t.Errorf("got % x, want % x", got, want)
	}
}

// TestColumn checks that the selected column of several is written.
func TestColumn(t *testing.T) {
	t.Parallel()
	s := &schema.Schema{Rows: 1, Columns: []source.Column{{Name: "image", DType: idx.Uint8, Shape: []int{2}}, {Name: "label", DType: idx.Int16}}}
	var out bytes.Buffer
	k := must.Get(New(&out, s, Options{Column: 1}))(t)
	step := must.Get(k.Encode(context.Background(), schema.Batch{Rows: 1, Columns: [][]byte{{9, 9}, {0x02, 0x01}}}))(t)
	must.Do(t, errors.Join(step(), k.Close()))
	if got, want := out.String(), "\x00\x00\x0b\x01\x00\x00\x00\x01\x01\x02"; got != want {
		t.Errorf("got % x, want % x", got, want)
	}
}

// TestBytesAreNotCopied checks that elements of one byte are written from the batch itself.
func TestBytesAreNotCopied(t *testing.T) {
	t.Parallel()
	var written [][]byte
	w := sinktest.WriterFunc(func(p []byte) (int, error) {
		written = append(written, p)
		return len(p), nil
	})
	k := must.Get(New(w, &schema.Schema{Rows: 4, Columns: []source.Column{{DType: idx.Uint8}}}, Options{}))(t)
	column := []byte{1, 2, 3, 4}
	step := must.Get(k.Encode(context.Background(), schema.Batch{Rows: 4, Columns: [][]byte{column}}))(t)
	must.Do(t, step())
	if last := written[len(written)-1]; &last[0] != &column[0] {
		t.Error("the sink wrote a copy of the batch")
	}
	if size := k.BatchSize(1000); size != 0 {
		t.Errorf("found BatchSize %d, want 0", size)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rows  int64
		shape []int
		want  error
	}{
		"rows unknown":  {-1, nil, fault.Usage},
		"too many rows": {math.MaxUint32 + 1, nil, fault.Usage},
		"rank 256":      {1, slices.Repeat([]int{1}, 255), fault.Usage},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &schema.Schema{Rows: test.rows, Columns: []source.Column{{Name: "data", DType: idx.Uint8, Shape: test.shape}}}
			var refused *fault.Error
			if _, err := New(io.Discard, s, Options{}); !errors.As(err, &refused) || !errors.Is(err, test.want) {
				t.Errorf("got %v, want a *fault.Error that is %q", err, test.want)
			}
		})
	}
	if _, err := New(io.Discard, &schema.Schema{Rows: 1, Columns: make([]source.Column, 2)}, Options{Column: 2}); err == nil {
		t.Error("an index without a column was accepted")
	}
}

// TestCounted checks that Close fails if the number of rows differs from that in the header.
func TestCounted(t *testing.T) {
	t.Parallel()
	sinktest.Counted(t, func(w io.Writer, s *schema.Schema) (sink.Sink, error) { return New(w, s, Options{}) })
}

func TestContract(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options Options
		tables  []sinktest.Table
	}{
		"plain":            {Options{}, []sinktest.Table{sinktest.Single(), sinktest.Images(), sinktest.Empty()}},
		"gzip":             {Options{Compression: compressed.Codec{Name: "gzip"}}, []sinktest.Table{sinktest.Single()}},
		"zstd":             {Options{Compression: compressed.Codec{Name: "zstd"}}, []sinktest.Table{sinktest.Images(), sinktest.Empty()}},
		"a column of many": {Options{Column: 5}, []sinktest.Table{sinktest.Numbers()}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sinktest.RunWriter(t, func(w io.Writer, s *schema.Schema) (sink.Sink, error) { return New(w, s, test.options) }, test.tables...)
		})
	}
	if _, err := New(io.Discard, &schema.Schema{Columns: []source.Column{{DType: idx.Uint8}}}, Options{Compression: compressed.Codec{Name: "rar"}}); err == nil {
		t.Error("an unknown codec was accepted")
	}
}
