package idx

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sinktest"
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

func TestEveryTypeAndRank(t *testing.T) {
	t.Parallel()
	for _, d := range idx.DTypes() {
		for _, shape := range [][]int{{}, {3}, {5, 7}, {2, 3, 3}, {2, 1, 3, 2}, {0}, {4, 0}} {
			c := source.Column{Name: "data", DType: d, Shape: shape}
			for _, rows := range []int{0, 1, 25} {
				data, want := sample(c, rows)
				table := layouttest.Table{Columns: []source.Column{c}, Rows: rows, Data: [][]byte{data}}
				got := table.Write(t, func(w io.Writer, s *schema.Schema) (sink.Sink, error) {
					return New(w, s, sink.Options{})
				}, table.Schema(), 10)
				if !bytes.Equal(got, want) {
					t.Errorf("%v, records of %v, %d rows: found\n% x\nexpected\n% x", d, shape, rows, got, want)
				}
			}
		}
	}
}

// TestHeaders compares with what NumPy 2.4 writes for the same arrays
// (numpy.lib.format.write_array_header_1_0): the length, and the text without the padding.
func TestHeaders(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		d     idx.DType
		rows  int64
		shape []int
		size  int
		want  string
	}{
		"images": {idx.Uint8, 60000, []int{28, 28}, 128,
			"{'descr': '|u1', 'fortran_order': False, 'shape': (60000, 28, 28), }"},
		"labels": {idx.Int8, 10000, nil, 128, "{'descr': '|i1', 'fortran_order': False, 'shape': (10000,), }"},
		"empty":  {idx.Int16, 0, []int{28}, 128, "{'descr': '<i2', 'fortran_order': False, 'shape': (0, 28), }"},
		"int":    {idx.Int32, 2, []int{3, 0}, 128, "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3, 0), }"},
		"a space to spare": {idx.Float32, 2, []int{123456, 123456, 123456, 123456, 100000}, 128,
			"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 123456, 123456, 123456, 123456, 100000), }"},
		"no space to spare": {idx.Float32, 2, []int{123456, 123456, 123456, 123456, 1000000}, 192,
			"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 123456, 123456, 123456, 123456, 1000000), }"},
		"most rows": {idx.Float64, math.MaxInt64, nil, 128,
			"{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807,), }"},
		"most dimensions": {idx.Float64, 1, slices.Repeat([]int{1}, 31), 192,
			"{'descr': '<f8', 'fortran_order': False, 'shape': (1" + strings.Repeat(", 1", 31) + "), }"},
	} {
		got := must.Get(npyHeader(source.Column{DType: test.d, Shape: test.shape}, test.rows))(t)
		length := test.size - 10
		want := "\x93NUMPY\x01\x00" + string([]byte{byte(length), byte(length >> 8)}) + test.want
		if want += strings.Repeat(" ", test.size-len(want)-1) + "\n"; string(got) != want {
			t.Errorf("%s: found\n%q\nexpected\n%q", name, got, want)
		}
	}
}

// TestBatchesAreWrittenAsTheyAre checks that the selected column of several is written, without a
// copy if its elements have the right order of bytes.
func TestBatchesAreWrittenAsTheyAre(t *testing.T) {
	t.Parallel()
	s := &schema.Schema{Rows: 3, Columns: []source.Column{
		{Name: "image", DType: idx.Uint8, Shape: []int{2}}, {Name: "label", DType: idx.Int16}}}
	for column, open := range []func(io.Writer, *schema.Schema, sink.Options) (*Sink, error){New, NewNPY} {
		var written [][]byte
		w := sinktest.WriterFunc(func(p []byte) (int, error) {
			written = append(written, p)
			return len(p), nil
		})
		k := must.Get(open(w, s, sink.Options{Column: column}))(t)
		data := []byte{1, 2, 3, 4, 5, 6}
		step := must.Get(k.Encode(context.Background(), schema.Batch{Rows: 3, Columns: [][]byte{data, data}}))(t)
		if written != nil || k.BatchSize(1000) != 0 {
			t.Errorf("found %d writes before the first step, expected none, and a BatchSize of 0", len(written))
		}
		must.Do(t, errors.Join(step(), k.Close()))
		if len(written) != 2 || !bytes.Equal(written[1], data) || &written[1][0] != &data[0] {
			t.Errorf("column %d: found % x, expected a header and the batch itself", column, written)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		open  func(io.Writer, *schema.Schema, sink.Options) (*Sink, error)
		rows  int64
		shape []int
		o     sink.Options
		want  string
	}{
		"rows unknown":       {New, -1, nil, sink.Options{}, "rows is needed in advance"},
		"too many rows":      {New, math.MaxUint32 + 1, nil, sink.Options{}, "found 4294967296 rows"},
		"rank 256":           {New, 1, slices.Repeat([]int{1}, 255), sink.Options{}, `column "data"`},
		"rank 33":            {NewNPY, 1, slices.Repeat([]int{1}, 32), sink.Options{}, "found 33 dimensions"},
		"no such column":     {NewNPY, 1, nil, sink.Options{Column: 1}, "column 1 does not exist"},
		"unknown compressor": {New, 1, nil, sink.Options{Compression: compressed.Codec{Name: "rar"}}, "rar"},
	} {
		c := source.Column{Name: "data", DType: idx.Uint8, Shape: test.shape}
		_, err := test.open(io.Discard, &schema.Schema{Rows: test.rows, Columns: []source.Column{c}}, test.o)
		isUsage := errors.Is(err, fault.Usage) || test.o.Column > 0
		if err == nil || !strings.Contains(err.Error(), test.want) || !isUsage {
			t.Errorf("%s: found %v, expected fault.Usage with %q", name, err, test.want)
		}
	}
}

func TestContract(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		open   func(io.Writer, *schema.Schema, sink.Options) (*Sink, error)
		o      sink.Options
		tables []sinktest.Table
	}{
		{New, sink.Options{}, []sinktest.Table{sinktest.Single(), sinktest.Images(), sinktest.Empty()}},
		{New, sink.Options{Compression: compressed.Codec{Name: "gzip"}}, []sinktest.Table{sinktest.Single()}},
		{New, sink.Options{Compression: compressed.Codec{Name: "zstd"}},
			[]sinktest.Table{sinktest.Images(), sinktest.Empty()}},
		{NewNPY, sink.Options{}, []sinktest.Table{sinktest.Single(), sinktest.Empty()}},
		{NewNPY, sink.Options{Column: 3}, []sinktest.Table{sinktest.Numbers()}},
	} {
		open := func(w io.Writer, s *schema.Schema) (sink.Sink, error) { return test.open(w, s, test.o) }
		t.Run(fmt.Sprint(test.o.Compression.Name, test.o.Column), func(t *testing.T) {
			t.Parallel()
			sinktest.RunWriter(t, open, test.tables...)
			sinktest.Counted(t, func(w io.Writer, s *schema.Schema) (sink.Sink, error) {
				return test.open(w, s, sink.Options{})
			})
		})
	}
}
