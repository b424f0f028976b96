package csv

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
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

var _ sink.Sizer = (*Sink)(nil)

// TestPieces cuts the text of random tables anywhere, and leaves pieces to the steps: the text must
// be that of one piece, which the golden files and the tests of the renderers check.
func TestPieces(t *testing.T) {
	t.Parallel()
	for _, style := range Layouts() {
		for _, d := range idx.DTypes() {
			for _, shape := range [][]int{{}, {5}, {2, 3}, {3, 1, 11}} {
				if style.Name == "pjreddie" && len(shape) == 0 {
					continue // no other scalar than the label
				}
				columns := []source.Column{column("data", d, shape...)}
				if style.Name != "matrix" {
					columns = append(columns, column("label", idx.Uint8), column("other", d, 2, 2))
				}
				s, data := randomTable(17, columns...)
				o := sink.Options{Layout: style.Name}
				small := func(w io.Writer, s *schema.Schema) (sink.Sink, error) {
					k, err := New(w, s, o)
					k.pieceCap = 70 + slack
					return k, err
				}
				want := convert(t, s, data, with(o), 17)
				for _, open := range []layouttest.Open{with(o), small} {
					if got := convert(t, s, data, open, 6); got != want {
						t.Errorf("%s, %v of %v: %s", style.Name, d, shape, difference(got, want))
					}
				}
			}
		}
	}
}

// TestHeaders compares with the table in the package comment: scalars come first. The golden files
// have the headers of one tensor.
func TestHeaders(t *testing.T) {
	t.Parallel()
	tensors := []source.Column{column("a", idx.Uint8, 2, 2), column("label", idx.Uint8), column("a2", idx.Uint8, 3),
		column("c", idx.Uint8, 2, 1, 2)}
	for style, want := range map[string]string{
		"kaggle":   "label,a0,a1,a2,a3,a2_0,a2_1,a2_2,c0,c1,c2,c3\n",
		"kaggle1":  "label,a1,a2,a3,a4,a2_1,a2_2,a2_3,c1,c2,c3,c4\n",
		"rowxcol":  "label,a_1x1,a_1x2,a_2x1,a_2x2,a2_1x1,a2_1x2,a2_1x3,c_1x1x1,c_1x1x2,c_2x1x1,c_2x1x2\n",
		"pjreddie": "",
	} {
		s, data := randomTable(0, tensors...)
		if got := convert(t, s, data, with(sink.Options{Layout: style}), 1); got != want {
			t.Errorf("%s: found %q, expected %q", style, got, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	label, image := column("label", idx.Uint8), column("image", idx.Uint8, 2, 2)
	named, huge := column("label", idx.Int16), column("label", idx.Uint8)
	named.Classes, huge.Classes = []string{"a"}, []string{strings.Repeat("a", pieceSize+1)}
	for name, test := range map[string]struct {
		columns []source.Column
		options sink.Options
	}{
		"unknown layout":     {[]source.Column{label}, sink.Options{Layout: "excel"}},
		"no elements":        {[]source.Column{column("image", idx.Uint8, 0, 3)}, sink.Options{Layout: "rowxcol"}},
		"matrix of two":      {[]source.Column{label, image}, sink.Options{Layout: "matrix"}},
		"name of an element": {[]source.Column{column("pixel4", idx.Uint8), image}, sink.Options{}},
		"names, no header":   {[]source.Column{named}, sink.Options{Layout: "pjreddie"}},
		"names in a matrix":  {[]source.Column{named}, sink.Options{Layout: "matrix"}},
		"a huge name":        {[]source.Column{huge}, sink.Options{}},
		"another scalar":     {[]source.Column{label, image, column("x", idx.Uint8)}, sink.Options{Layout: "pjreddie"}},
		"labels of two":      {[]source.Column{column("label", idx.Uint8, 2), image}, sink.Options{Layout: "pjreddie"}},
	} {
		var refused *fault.Error
		s := &schema.Schema{Columns: test.columns, Rows: 1}
		if test.columns[0].Classes != nil {
			s.Classes = schema.NewClasses(s, 0)
		}
		_, err := New(io.Discard, s, test.options)
		if !errors.As(err, &refused) || !errors.Is(err, fault.Usage) || !strings.HasPrefix(refused.Msg, "csv: ") ||
			refused.Hint == "" {
			t.Errorf("%s: got %v, want a *fault.Error of the kind %v with a hint", name, err, fault.Usage)
		}
	}
}

func TestHeaderNames(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, want string }{
		{"label", "label\n"},
		{"=1+1", "=1+1\n"},
		{"a,b", "\"a,b\"\n"},
		{`say "a"`, "\"say \"\"a\"\"\"\n"},
		{"two\nlines", "\"two\nlines\"\n"},
		{"return\r", "\"return\r\"\n"},
		{" indented", "\" indented\"\n"},
		{"", "\"\"\n"},
		{"größe", "größe\n"},
		{strings.Repeat("x", headerPiece), strings.Repeat("x", headerPiece) + "\n"}, // a piece ends with the last name
	} {
		s, _ := randomTable(0, column(test.name, idx.Uint8))
		if got := convert(t, s, make([][]byte, 1), with(sink.Options{}), 1); got != test.want {
			t.Errorf("%q: got %q, want %q", test.name, got, test.want)
		}
	}
	s, data := randomTable(0, column("label", idx.Uint8), column("image", idx.Uint8, 100_000)) // several pieces
	var want strings.Builder
	for i := range 100_000 {
		fmt.Fprint(&want, ",pixel", i)
	}
	if got := convert(t, s, data, with(sink.Options{}), 1); got != "label"+want.String()+"\n" {
		t.Error(difference(got, want.String()))
	}
}

// TestMemoryOfHugeRecords checks that neither Encode nor its step makes all the text of a huge
// record. It is not parallel, as it measures the memory of the process.
func TestMemoryOfHugeRecords(t *testing.T) {
	const n = 6 << 20
	s := &schema.Schema{Columns: []source.Column{column("image", idx.Uint8, n)}, Rows: 1}
	written := bytes.NewBuffer(make([]byte, 0, n*len("255,")))
	k := must.Get(New(written, s, sink.Options{Layout: "pjreddie"}))(t)
	b := schema.Batch{Rows: 1, Columns: [][]byte{slices.Repeat([]byte{255}, n)}}
	var step func() error
	encoding := allocated(func() { step = must.Get(k.Encode(context.Background(), b))(t) })
	stepping := allocated(func() { must.Do(t, step()) })
	if limit := int64(17 << 20); encoding > limit || stepping > limit { // of 24 MiB of text
		t.Errorf("Encode allocated %d bytes, its step %d, expected at most %d each", encoding, stepping, limit)
	}
	if written.Len() != written.Cap() {
		t.Errorf("wrote %d bytes, want %d", written.Len(), written.Cap())
	}
}

// allocated returns how many bytes f allocates.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// TestBatchSize has random numbers of the longest text, which compress least. A batch of one piece
// is its text or, with compression, this and what it becomes.
func TestBatchSize(t *testing.T) {
	t.Parallel()
	s, data := randomTable(300, column("image", idx.Int32, 28, 28))
	_, _ = rand.NewChaCha8([32]byte{}).Read(data[0])
	for i := 3; i < len(data[0]); i += 4 {
		data[0][i] = data[0][i]&0x3f | 0x80 // -2147483648 to -1073741825
	}
	text := 300 * 28 * 28 * len("-2147483648,")
	for codec, compressing := range map[string]int{"none": 0, "gzip": 1, "zstd": 1} {
		o := sink.Options{Layout: "pjreddie", Compression: compressed.Codec{Name: codec}}
		want := len(convert(t, s, data, with(o), 300)) + text*compressing
		if got := must.Get(New(io.Discard, s, o))(t).BatchSize(300); got < int64(want) || got > int64(want*11/10) {
			t.Errorf("%s: BatchSize is %d, expected %d, or a little more", codec, got, want)
		}
	}
}

// The golden files are made by testdata/golden.py, from the same numbers.
func TestGoldenFiles(t *testing.T) {
	t.Parallel()
	labels, pixels := make([]byte, 5), make([]byte, 30)
	for r := range labels {
		labels[r] = byte(r * 3 % 10)
	}
	for i := range pixels {
		if i%4 != 0 {
			pixels[i] = byte(i * 41 % 256)
		}
	}
	image, label := column("image", idx.Uint8, 2, 3), column("label", idx.Uint8)
	both := &schema.Schema{Columns: []source.Column{image, label}, Rows: 5}
	mixed, values := types(t)
	for _, test := range []struct {
		golden  string
		schema  *schema.Schema
		columns [][]byte
		options sink.Options
	}{
		{"kaggle.csv", both, [][]byte{pixels, labels}, sink.Options{}},
		{"kaggle1.csv", both, [][]byte{pixels, labels}, sink.Options{Layout: "kaggle1"}},
		{"rowxcol.csv", both, [][]byte{pixels, labels}, sink.Options{Layout: "rowxcol"}},
		{"rowxcol.tsv", both, [][]byte{pixels, labels}, sink.Options{Layout: "rowxcol", Comma: '\t'}},
		{"pjreddie.csv", both, [][]byte{pixels, labels}, sink.Options{Layout: "pjreddie"}},
		{"matrix-image.csv", &schema.Schema{Columns: []source.Column{image}, Rows: 5}, [][]byte{pixels},
			sink.Options{Layout: "matrix"}},
		{"matrix-label.csv", &schema.Schema{Columns: []source.Column{label}, Rows: 5}, [][]byte{labels},
			sink.Options{Layout: "matrix"}},
		{"types.csv", mixed, values, sink.Options{}},
	} {
		want := must.Get(os.ReadFile(filepath.Join("testdata", test.golden)))(t)
		for _, batchRows := range []int{1, 2, 5} {
			if got := convert(t, test.schema, test.columns, with(test.options), batchRows); got != string(want) {
				t.Errorf("%s, batches of %d rows: got\n%s\nwant\n%s", test.golden, batchRows, got, want)
			}
		}
	}
}

// types returns the table of types.csv: scalars among tensors, and names that must be quoted.
func types(t *testing.T) (*schema.Schema, [][]byte) {
	return &schema.Schema{Rows: 3, Columns: []source.Column{
			column("i8", idx.Int8), column("a", idx.Float32, 2), column(`a "quoted" name`, idx.Int16),
			column("b", idx.Int32, 2, 1), column("i32, wide", idx.Int32), column("=f32", idx.Float32),
			column("f64", idx.Float64),
		}}, [][]byte{
			bytesOf(t, []int8{-128, 0, 127}),
			bytesOf(t, []float32{1, float32(math.Copysign(0, -1)), 1e20, 100000, 1 << 24, 1e-5}),
			bytesOf(t, []int16{-32768, -1, 32767}),
			bytesOf(t, []int32{0, 1, -2, 10000, 99999999, -123456789}),
			bytesOf(t, []int32{math.MinInt32, 70000, math.MaxInt32}),
			bytesOf(t, []float32{math.MaxFloat32, float32(math.NaN()), 0.1}),
			bytesOf(t, []float64{5e-324, math.Inf(-1), 0.1}),
		}
}

// TestClasses reads the names back with encoding/csv, also when a piece of text holds only a few of
// them.
func TestClasses(t *testing.T) {
	t.Parallel()
	names := []string{"plain", "with, comma", "with\ttab", `with "quotes"`, " leading", "=SUM(A1)", "+1", "-1", "@x",
		"ü", strings.Repeat(`"`, 1<<20)}
	var pixels, labels []byte
	var want [][]string
	for i := range 1_000 {
		label := i % 10
		if i == 999 {
			label = 10
		}
		pixels, labels = append(pixels, byte(i)), append(labels, byte(label))
		want = append(want, []string{fmt.Sprint(label), names[label], fmt.Sprint(i % 256)})
	}
	image, label := column("image", idx.Uint8, 1, 1), column("label", idx.Uint8)
	label.Classes = names
	s := &schema.Schema{Rows: 1_000, Columns: []source.Column{image, label}}
	s.Classes = schema.NewClasses(s, 1)
	for style, test := range map[string]struct {
		comma byte
		pixel string
	}{"kaggle": {0, "pixel0"}, "kaggle1": {'\t', "pixel1"}, "rowxcol": {0, "1x1"}} {
		o := sink.Options{Layout: style, Comma: test.comma}
		r := csv.NewReader(strings.NewReader(convert(t, s, [][]byte{pixels, labels}, with(o), 1_000)))
		r.Comma = rune(cmp.Or(test.comma, ','))
		got := must.Get(r.ReadAll())(t)
		if header := []string{"label", "class", test.pixel}; !slices.Equal(got[0], header) {
			t.Errorf("found the header %q, expected %q", got[0], header)
		}
		if !slices.EqualFunc(got[1:], want, slices.Equal) {
			t.Errorf("layout %s, separator %q: the rows differ", style, test.comma)
		}
	}
}

func TestContract(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options sink.Options
		tables  []sinktest.Table
	}{
		"plain":    {sink.Options{}, []sinktest.Table{sinktest.Images(), sinktest.Numbers(), sinktest.Named()}},
		"gzip":     {sink.Options{Compression: compressed.Codec{Name: "gzip"}}, []sinktest.Table{sinktest.Single()}},
		"one line": {sink.Options{Layout: "matrix"}, []sinktest.Table{sinktest.Single()}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sinktest.RunWriter(t, with(test.options), test.tables...)
		})
	}
}
