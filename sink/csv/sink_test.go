package csv

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/compressed"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

var (
	_ sink.Sink  = (*Sink)(nil)
	_ sink.Sizer = (*Sink)(nil)
)

// Every data type, rank and style, whatever the batches, the separator and the size of the pieces.
func TestAgainstReference(t *testing.T) {
	t.Parallel()
	shapes := [][]int{{}, {5}, {2, 3}, {3, 1, 11}, {2, 1, 3, 2}, {3, 0}, {0}}
	for _, style := range Styles() {
		for _, d := range idx.DTypes() {
			for _, shape := range shapes {
				columns := []source.Column{column("data", d, shape...)}
				if style.Name != "matrix" {
					columns = append(columns, column("empty", idx.Int16, 4, 0), column("label", idx.Uint8), column("other", d, 2, 2))
				}
				if columns[0].Elements() == 0 && len(columns) == 1 {
					continue // refused
				}
				t.Run(fmt.Sprint(style.Name, "/", d, shape), func(t *testing.T) {
					t.Parallel()
					checkTable(t, style.Name, columns)
				})
			}
		}
	}
}

// checkTable converts random tables with the columns, with and without the last of them.
func checkTable(t *testing.T, style string, columns []source.Column) {
	o := Options{Style: style}
	if style == "rowxcol" {
		o.Comma = '\t'
	}
	for _, columns := range [][]source.Column{columns, columns[:max(1, len(columns)-1)]} {
		empty, _ := randomTable(0, columns...)
		none := make([][]byte, len(columns))
		if got, want := convert(t, empty, none, o, 1, 1), reference(t, empty, none, o); got != want {
			t.Errorf("no rows: %s", difference(got, want))
		}
		s, data := randomTable(17, columns...)
		want := reference(t, s, data, o)
		if got := convert(t, s, data, o, 5, 3); got != want {
			t.Error(difference(got, want))
		}
		var out bytes.Buffer
		k, err := New(&out, s, o)
		if err != nil {
			t.Fatal(err)
		}
		k.texts.size = 70 + slack // cuts records anywhere, and leaves pieces to the steps
		runSink(t, k, s, data, 6, 2)
		if got := out.String(); got != want {
			t.Errorf("in small pieces: %s", difference(got, want))
		}
	}
}

func TestSameBytesWithAnyWorkers(t *testing.T) {
	t.Parallel()
	s, data := randomTable(600, column("image", idx.Uint8, 28, 28), column("label", idx.Uint8))
	want := reference(t, s, data, Options{})
	for _, codec := range []string{"none", "gzip"} {
		o := Options{Compression: compressed.Codec{Name: codec}}
		alone := convert(t, s, data, o, 64, 1)
		if many := convert(t, s, data, o, 64, 8); many != alone {
			t.Errorf("%s: 8 workers: %s", codec, difference(many, alone))
		}
		if codec == "gzip" {
			alone = gunzip(t, alone)
		}
		if alone != want {
			t.Errorf("%s: %s", codec, difference(alone, want))
		}
	}
}

func gunzip(t *testing.T, data string) string {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	label, image := column("label", idx.Uint8), column("image", idx.Uint8, 2, 2)
	for name, test := range map[string]struct {
		columns []source.Column
		options Options
	}{
		"unknown style":        {[]source.Column{label}, Options{Style: "excel"}},
		"no columns":           {nil, Options{}},
		"no elements":          {[]source.Column{column("image", idx.Uint8, 0, 3)}, Options{}},
		"matrix of nothing":    {[]source.Column{column("image", idx.Uint8, 0, 3)}, Options{Style: "matrix"}},
		"matrix of two":        {[]source.Column{label, image}, Options{Style: "matrix"}},
		"digit as separator":   {[]source.Column{label}, Options{Comma: '0'}},
		"letter of NaN":        {[]source.Column{label}, Options{Comma: 'a'}},
		"end of line":          {[]source.Column{label}, Options{Comma: '\n'}},
		"quote as separator":   {[]source.Column{label}, Options{Comma: '"'}},
		"half a character":     {[]source.Column{label}, Options{Comma: 0xC3}},
		"minus as a separator": {[]source.Column{label}, Options{Comma: '-'}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var refused *fault.Error
			_, err := New(io.Discard, &schema.Schema{Columns: test.columns, Rows: 1}, test.options)
			if !errors.As(err, &refused) || !errors.Is(err, fault.Usage) || !strings.HasPrefix(refused.Msg, "csv: ") || refused.Hint == "" {
				t.Errorf("got %v, want a *fault.Error that says unsupported, with a hint", err)
			}
		})
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
		if got := convert(t, s, make([][]byte, 1), Options{}, 1, 1); got != test.want {
			t.Errorf("%q: got %q, want %q", test.name, got, test.want)
		}
	}
}

// A header of several pieces.
func TestLongHeader(t *testing.T) {
	t.Parallel()
	const n = 100_000
	names := []string{"label"}
	for i := range n {
		names = append(names, fmt.Sprint("pixel", i))
	}
	s, data := randomTable(0, column("label", idx.Uint8), column("image", idx.Uint8, n))
	got := convert(t, s, data, Options{}, 1, 1)
	if want := strings.Join(names, ",") + "\n"; got != want {
		t.Error(difference(got, want))
	}
}

// Encode must not make all the text of a huge record, and its step must not either. Not parallel: it looks at the memory of the process.
func TestMemoryOfHugeRecords(t *testing.T) {
	const n = 6 << 20
	s := &schema.Schema{Columns: []source.Column{column("image", idx.Uint8, n)}, Rows: 1}
	written := &lengthWriter{}
	k, err := New(written, s, Options{Style: "pjreddie"})
	if err != nil {
		t.Fatal(err)
	}
	b := schema.Batch{Rows: 1, Columns: [][]byte{slices.Repeat([]byte{255}, n)}}
	var step func() error
	encoding := allocated(func() { step, err = k.Encode(context.Background(), b) })
	if err != nil {
		t.Fatal(err)
	}
	stepping := allocated(func() { err = step() })
	if err != nil {
		t.Fatal(err)
	}
	if limit := k.BatchSize(1) + 1<<20; encoding > limit || stepping > limit {
		t.Errorf("Encode allocated %d bytes, its step %d, expected at most %d each", encoding, stepping, limit)
	}
	if want := int64(n * len("255,")); written.n != want {
		t.Errorf("wrote %d bytes, want %d", written.n, want)
	}
}

// allocated is how many bytes f allocates.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// A lengthWriter counts.
type lengthWriter struct{ n int64 }

func (w *lengthWriter) Write(p []byte) (int, error) {
	w.n += int64(len(p))
	return len(p), nil
}

func TestBatchSize(t *testing.T) {
	t.Parallel()
	s, data := randomTable(300, column("image", idx.Uint8, 28, 28), column("label", idx.Uint8))
	for i := range data {
		data[i] = slices.Repeat([]byte{255}, len(data[i])) // the longest text
	}
	var out bytes.Buffer
	k, err := New(&out, s, Options{Style: "pjreddie"})
	if err != nil {
		t.Fatal(err)
	}
	runSink(t, k, s, data, 300, 1)
	if got := k.BatchSize(300); got != int64(out.Len()) {
		t.Errorf("BatchSize says %d, the text has %d bytes", got, out.Len())
	}
}

var errFull = errors.New("full")

// A fullWriter has room for so many bytes.
type fullWriter struct{ room int }

func (w *fullWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.room)
	w.room -= n
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

// Wherever the output fails, a step or Close says so.
func TestWriteErrors(t *testing.T) {
	t.Parallel()
	for _, style := range []string{"kaggle", "matrix"} {
		s, data := randomTable(10, column("label", idx.Int32))
		size := len(convert(t, s, data, Options{Style: style}, 3, 1))
		for room := range size {
			k, err := New(&fullWriter{room}, s, Options{Style: style})
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range cut(s, data, 3) {
				step, encodeErr := k.Encode(context.Background(), b)
				if encodeErr != nil {
					t.Fatal(encodeErr)
				}
				if err = step(); err != nil {
					break
				}
			}
			if err == nil {
				err = k.Close()
			}
			if !errors.Is(err, errFull) {
				t.Errorf("%s with room for %d of %d bytes: got error %v, want %v", style, room, size, err, errFull)
			}
		}
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	s, data := randomTable(1, column("label", idx.Uint8))
	k, err := New(io.Discard, s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := k.Encode(ctx, cut(s, data, 1)[0]); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
}
