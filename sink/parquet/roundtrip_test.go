package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/layout"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
)

// check reads file back and compares it with what was written, bit for bit.
func check(tb testing.TB, t layouttest.Table, file []byte, layoutName string) {
	tb.Helper()
	f := open(tb, file)
	if found := f.NumRows(); found != int64(t.Rows) {
		tb.Fatalf("found %d rows, expected %d", found, t.Rows)
	}
	columns, _, err := layout.Represent(t.Schema(), layoutName, "")
	if err != nil {
		tb.Fatal(err)
	}
	for i, c := range t.Columns {
		var parts [][]byte // of the leaves that it became
		for k, column := range columns {
			if column.Source == i { // each has one leaf
				parts = append(parts, checkLeaf(tb, t, f, k, c, layoutName))
			}
		}
		if values := layouttest.Join(parts, c.DType.Size()); !bytes.Equal(values, t.Data[i]) {
			tb.Errorf("column %d: found %d bytes of values, expected the %d bytes that were written", i, len(values), len(t.Data[i]))
		}
	}
}

// checkLeaf reads a leaf of c and checks its entries.
func checkLeaf(tb testing.TB, t layouttest.Table, f *pq.File, leaf int, c source.Column, layoutName string) []byte {
	tb.Helper()
	found := read(tb, f, leaf, c.DType)
	if len(found.rows) != t.Rows {
		tb.Fatalf("leaf %d: found %d rows, expected %d", leaf, len(found.rows), t.Rows)
	}
	entries, missing := 1, 0
	if slices.Contains([]string{"list", "nested", "tensor"}, layoutName) {
		entries = max(c.Elements(), 1)
		if c.Elements() == 0 { // an empty list is one entry without a value
			missing = t.Rows
		}
	}
	for row, n := range found.rows {
		if n != entries {
			tb.Fatalf("leaf %d, row %d: found %d entries, expected %d", leaf, row, n, entries)
		}
	}
	if found.missing != missing {
		tb.Errorf("leaf %d: found %d missing entries, expected %d", leaf, found.missing, missing)
	}
	return found.values
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	layouttest.Each(t, layout.Names(), []int{0, 1, 1003}, func(t *testing.T, layoutName string, written layouttest.Table) {
		if layouttest.ImagesOnly(layoutName) {
			checkImages(t, written, Options{Layout: layoutName, Compression: "snappy"}, 97)
			return
		}
		file := write(t, written, Options{Layout: layoutName, Compression: "snappy"}, 97)
		check(t, written, file, layoutName)
	})
}

func TestCodecs(t *testing.T) {
	t.Parallel()
	for _, codec := range Codecs() {
		for _, level := range []int{0, 1, 9} {
			for _, d := range []idx.DType{idx.Uint8, idx.Float64} {
				t.Run(fmt.Sprintf("%s %d %v", codec, level, d), func(t *testing.T) {
					t.Parallel()
					o := Options{Compression: codec, Level: level}
					written := layouttest.Random(700, source.Column{Name: "image", DType: d, Shape: []int{7, 9}}, source.Column{Name: "label", DType: d})
					if level > 0 && (codec == "none" || codec == "snappy") {
						if _, err := New(&bytes.Buffer{}, written.Schema(), o); !errors.Is(err, fault.Usage) {
							t.Errorf("found the error %v, expected ErrUnsupported: there are no levels", err)
						}
						return
					}
					for i := range written.Data { // half of it can be compressed
						clear(written.Data[i][:len(written.Data[i])/2])
					}
					file := write(t, written, o, 64)
					if codec == "lz4_raw" {
						checkLZ4(t, file, write(t, written, Options{Compression: "none"}, 64), level)
						return
					}
					check(t, written, file, "list")
				})
			}
		}
	}
}

// TestInt16Dictionary writes enough for the dictionary of 65,536 entries to pay, with a last group of indices that is not full.
func TestInt16Dictionary(t *testing.T) {
	t.Parallel()
	written := layouttest.Random(2501, source.Column{Name: "x", DType: idx.Int16, Shape: []int{71}})
	file := write(t, written, Options{Compression: "none"}, 2501)
	check(t, written, file, "list")
	if plain := 4 * 2501 * 71; len(file) >= plain {
		t.Errorf("found a file of %d bytes, expected less than the %d of PLAIN values", len(file), plain)
	}
}

// TestFloatsKeepTheirBits writes the floats that arithmetic would change.
func TestFloatsKeepTheirBits(t *testing.T) {
	t.Parallel()
	written := layouttest.Table{Rows: 6, Columns: []source.Column{
		{Name: "a", DType: idx.Float32}, {Name: "b", DType: idx.Float64},
		{Name: "c", DType: idx.Float32, Shape: []int{1}}, {Name: "d", DType: idx.Float64, Shape: []int{1}},
	}}
	var single, double []byte
	for _, bits := range []uint32{0x7fc00001, 0xffc12345, 0x7f800001, 0x80000000, 0, 0xff800000} { // NaNs, a signalling one, −0, 0, −∞
		single = binary.LittleEndian.AppendUint32(single, bits)
		double = binary.LittleEndian.AppendUint64(double, uint64(bits)<<32|7)
	}
	written.Data = [][]byte{single, double, single, double}
	check(t, written, write(t, written, Options{}, 4), "list")
}

func TestUnsupported(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		column  source.Column
		options Options
	}{
		{"codec", source.Column{}, Options{Compression: "lzo"}},
		{"level", source.Column{}, Options{Compression: "zstd", Level: 23}},
		{"negative level", source.Column{}, Options{Level: -1}},
		{"layout", source.Column{}, Options{Layout: "lists"}},
		{"record of 2 GiB", source.Column{Shape: []int{math.MaxInt32}}, Options{}},
		{"record of 2 GiB as bytes", source.Column{Shape: []int{math.MaxInt32}}, Options{Layout: "fixed-binary"}},
		{"record of 2 GiB as bytes after a length", source.Column{Shape: []int{math.MaxInt32 - 4}}, Options{Layout: "binary"}},
		{"image of 2 GiB", source.Column{Shape: []int{1 << 15, 1<<16 - 2}}, Options{Layout: "spark-image"}},
		{"PNG file of 2 GiB", source.Column{Shape: []int{1 << 15, 1<<16 - 2}}, Options{Layout: "huggingface"}},
		{"2 GiB in PLAIN values", source.Column{DType: idx.Float64, Shape: []int{1 << 28}}, Options{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.column.Name = "x"
			if test.column.DType == 0 {
				test.column.DType = idx.Uint8
			}
			_, err := New(&bytes.Buffer{}, &schema.Schema{Columns: []source.Column{test.column}}, test.options)
			var typed *fault.Error
			if !errors.As(err, &typed) || !errors.Is(err, fault.Usage) {
				t.Errorf("found the error %v, expected a fault.Usage", err)
			}
		})
	}
}

// TestCodecErrors fails each call of the codec in turn: none is passed over.
func TestCodecErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken codec")
	labels := source.Column{Name: "label", DType: idx.Uint8, Classes: []string{"a", "b"}}
	written := layouttest.Random(300, labels, source.Column{Name: "id", DType: idx.Float64}, source.Column{Name: "few", DType: idx.Uint8}, source.Column{Name: "image", DType: idx.Uint8, Shape: []int{7}})
	for _, data := range [][]byte{written.Data[0], written.Data[2]} {
		for i := range data {
			data[i] %= 2
		}
	}
	s := &schema.Schema{Columns: written.Columns, Rows: 300}
	for at := 1; ; at++ {
		k, err := New(io.Discard, s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		calls, encode := 0, k.press.codec.encode
		k.press.codec.encode = func(dst, src []byte) ([]byte, error) {
			if calls++; calls == at {
				return nil, broken
			}
			return encode(dst, src)
		}
		step, err := k.Encode(t.Context(), schema.Batch{Rows: 300, Columns: written.Data})
		if err == nil {
			err = step()
		}
		if err == nil {
			err = k.Close()
		}
		if calls < at {
			if at < 7 { // dictionary and data of label and of few, and data of the others
				t.Errorf("the codec was called %d times, expected 6 at least", calls)
			}
			return
		}
		if !errors.Is(err, broken) {
			t.Errorf("call %d: found the error %v, expected the codec's", at, err)
		}
	}
}

func TestWriteErrors(t *testing.T) {
	t.Parallel()
	layouttest.Random(50,
		source.Column{Name: "image", DType: idx.Uint8, Shape: []int{7, 9}},
		source.Column{Name: "label", DType: idx.Uint8}).FailWrites(t, with(Options{}))
}
