package arrow

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/layout"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
)

// check reads file back and compares it with what was written in batches of batch rows, bit for bit.
func check(tb testing.TB, t layouttest.Table, file []byte, o Options, batch int) {
	tb.Helper()
	found, batches := read(tb, file, o.Stream)
	columns, _, err := layout.Represent(t.Schema(), o.Layout, "")
	if err != nil {
		tb.Fatal(err)
	}
	if m := found.Metadata(); len(found.Fields()) != len(columns) || m.Len() != 1 || m.Keys()[0] != "sources" || m.Values()[0] != "a, b" {
		tb.Errorf("found the schema %v, expected %d columns and the sources", found, len(columns))
	}
	for k, column := range columns {
		if want := column.Field; !found.Field(k).Equal(want) {
			tb.Errorf("found the field %v, expected %v", found.Field(k), want)
		}
	}
	if want := (t.Rows + batch - 1) / batch; len(batches) != want {
		tb.Fatalf("found %d record batches, expected %d", len(batches), want)
	}
	for i, c := range t.Columns {
		var parts [][]byte // of the columns that it became
		for k, column := range columns {
			if column.Source != i {
				continue
			}
			var values []byte
			rows := 0
			for _, b := range batches {
				values = append(values, bytesOf(tb, b.Column(k))...)
				rows += b.Column(k).Len()
			}
			if rows != t.Rows {
				tb.Errorf("column %d: found %d rows, expected %d", i, rows, t.Rows)
			}
			parts = append(parts, values)
		}
		if values := layouttest.Join(parts, c.DType.Size()); !bytes.Equal(values, t.Data[i]) {
			tb.Errorf("column %d: found %d bytes, expected the %d bytes that were written", i, len(values), len(t.Data[i]))
		}
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	layouttest.Each(t, layout.Names(), []int{0, 1, 203}, func(t *testing.T, layoutName string, written layouttest.Table) {
		for _, codec := range Codecs() {
			for _, stream := range []bool{false, true} {
				o := Options{Layout: layoutName, Compression: codec, Stream: stream}
				if layouttest.ImagesOnly(layoutName) {
					checkImages(t, written, o, 97)
					continue
				}
				check(t, written, write(t, written, o, 97), o, 97)
			}
		}
	})
}

func TestLevels(t *testing.T) {
	t.Parallel()
	written := layouttest.Random(700, source.Column{Name: "image", DType: idx.Uint8, Shape: []int{7, 9}})
	for at, source := 0, rand.New(rand.NewPCG(1, 2)); at < len(written.Data[0]); { // words out of a few
		word := source.IntN(64)
		at += copy(written.Data[0][at:], written.Data[0][word*9:][:3+word%7])
	}
	for codec, highest := range map[string]int{"lz4": 9, "zstd": 22} {
		var sizes []int
		for _, level := range []int{0, highest} {
			o := Options{Compression: codec, Level: level}
			file := write(t, written, o, 700)
			check(t, written, file, o, 700)
			sizes = append(sizes, len(file))
		}
		if sizes[1] >= sizes[0] {
			t.Errorf("%s: found %d bytes at the fastest and %d at the highest level, expected less", codec, sizes[0], sizes[1])
		}
	}
}

// TestLists looks at values as readers see them, not at buffers.
func TestLists(t *testing.T) {
	t.Parallel()
	written := layouttest.Table{
		Rows:    2,
		Columns: []source.Column{{Name: "v", DType: idx.Int16, Shape: []int{3}}, {Name: "e", DType: idx.Int16, Shape: []int{0}}},
		Data:    [][]byte{{1, 0, 2, 0, 3, 0, 255, 255, 0, 128, 0, 1}, {}},
	}
	_, batches := read(t, write(t, written, Options{}, 2), false)
	for i, want := range [][2]string{{"[1,2,3]", "[]"}, {"[-1,-32768,256]", "[]"}} {
		for k := range want {
			if found := batches[0].Column(k).ValueStr(i); found != want[k] {
				t.Errorf("column %d, row %d: found %s, expected %s", k, i, found, want[k])
			}
		}
	}
	if _, ok := batches[0].Column(0).(*array.FixedSizeList); !ok {
		t.Errorf("found %T, expected a FixedSizeList", batches[0].Column(0))
	}
}

// TestFileIsAStream takes away what a file has more than a stream. What is left must be the stream.
func TestFileIsAStream(t *testing.T) {
	t.Parallel()
	written := layouttest.Random(50, source.Column{Name: "x", DType: idx.Uint8, Shape: []int{3}})
	file, stream := write(t, written, Options{}, 20), write(t, written, Options{Stream: true}, 20)
	if !bytes.HasPrefix(file, []byte("ARROW1\x00\x00")) || !bytes.HasSuffix(file, []byte("ARROW1")) || !bytes.HasPrefix(file[8:], stream) {
		t.Error("the file is not the magic number, the stream, and a footer")
	}
}

func TestUnsupported(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		shape   []int
		options Options
	}{
		{"codec", nil, Options{Compression: "gzip"}},
		{"level of no codec", nil, Options{Level: 1}},
		{"level", nil, Options{Compression: "lz4", Level: 10}},
		{"layout", nil, Options{Layout: "lists"}},
		{"body of 256 MiB", []int{256 << 20}, Options{}},
		{"list of 2^31 elements", []int{min(1<<31, math.MaxInt)}, Options{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := &schema.Schema{Columns: []source.Column{{Name: "x", DType: idx.Uint8, Shape: test.shape}}}
			_, err := New(&bytes.Buffer{}, s, test.options)
			var typed *fault.Error
			if !errors.As(err, &typed) || !errors.Is(err, fault.Usage) {
				t.Errorf("found the error %v, expected a fault.Usage", err)
			}
		})
	}
}

// TestNothingIsCopied looks for the batch's own memory in what is written.
func TestNothingIsCopied(t *testing.T) {
	t.Parallel()
	written := layouttest.Random(50, source.Column{Name: "x", DType: idx.Float32, Shape: []int{7, 9}})
	var w watcher
	s, err := New(&w, written.Schema(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	step, err := s.Encode(context.Background(), schema.Batch{Rows: 50, Columns: written.Data})
	if err == nil {
		w.want = &written.Data[0][0]
		err = step()
	}
	if err != nil || !w.met {
		t.Errorf("the batch's buffer was not written as it is; error %v", err)
	}
}

// A watcher looks for a write of memory that starts at want.
type watcher struct {
	want *byte
	met  bool
}

func (w *watcher) Write(p []byte) (int, error) {
	w.met = w.met || &p[0] == w.want
	return len(p), nil
}

func TestWriteErrors(t *testing.T) {
	t.Parallel()
	layouttest.Random(50,
		source.Column{Name: "image", DType: idx.Uint8, Shape: []int{7, 9}},
		source.Column{Name: "label", DType: idx.Uint8}).FailWrites(t, with(Options{}))
}
