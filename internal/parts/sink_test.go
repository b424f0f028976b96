package parts_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/parts"
	"github.com/idxport/idxport/internal/publish"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/sink/parquet"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sinktest"
)

var _ sink.Sizer = (*parts.Sink)(nil)

// newFolder returns a folder for parts, and a function that publishes and reads it.
func newFolder(t *testing.T) (*publish.Folder, func() map[string][]byte) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	set := must.Get(
		publish.Prepare([]publish.Target{{Path: dir, Folder: true, Kind: publish.Parts}}, publish.Options{}))(t)
	t.Cleanup(set.Discard)
	return set.Folder(0), func() map[string][]byte {
		t.Helper()
		must.Do(t, set.Commit())
		entries := must.Get(os.ReadDir(dir))(t)
		files := map[string][]byte{}
		for _, entry := range entries {
			files[entry.Name()] = must.Get(os.ReadFile(filepath.Join(dir, entry.Name())))(t)
		}
		return files
	}
}

type opener = func(io.Writer) (sink.Sink, error)

func openCSV(s *schema.Schema) opener {
	return func(w io.Writer) (sink.Sink, error) { return csv.New(w, s, sink.Options{Layout: "pjreddie"}) }
}

func openParquet(s *schema.Schema) opener {
	return func(w io.Writer) (sink.Sink, error) { return parquet.New(w, s, sink.Options{}) }
}

func TestContract(t *testing.T) {
	t.Parallel()
	for _, o := range []parts.Options{{Rows: 7}, {Rows: 64}} {
		for name, open := range map[string]func(*schema.Schema) opener{"csv": openCSV, "parquet": openParquet} {
			o.Stem, o.Extension = "part", "."+name
			t.Run(fmt.Sprintf("%s %d rows", name, o.Rows), func(t *testing.T) {
				t.Parallel()
				sinktest.Run(t, func(t *testing.T, s *schema.Schema) (sink.Sink, func() map[string][]byte, error) {
					folder, finish := newFolder(t)
					k, err := parts.New(folder, s, o, open(s))
					return k, finish, err
				}, sinktest.Images(), sinktest.Unlabelled())
			})
		}
	}
}

// numbers returns a table of consecutive numbers, in rows of four bytes, and its batches of size
// rows.
func numbers(first, rows, size int) (s *schema.Schema, batches []schema.Batch) {
	s = &schema.Schema{Rows: int64(rows), SourceRows: int64(first + rows),
		Columns: []source.Column{{Name: "data", DType: idx.Uint8, Shape: []int{4}}}}
	for at := first; at < first+rows; at += size {
		b := schema.Batch{First: int64(at), Rows: min(size, first+rows-at)}
		var data []byte
		for i := range b.Rows {
			data = append(data, fmt.Appendf(nil, "%04d", at+i)...)
		}
		b.Columns = [][]byte{data}
		batches = append(batches, b)
	}
	return s, batches
}

// write writes all batches, the last one encoded first, and returns the contents of the files in
// order and their descriptions.
func write(t *testing.T, o parts.Options, s *schema.Schema, batches []schema.Batch) (files []string, all []parts.Part) {
	t.Helper()
	folder, finish := newFolder(t)
	o.Stem, o.Extension = "part", ".csv"
	k := must.Get(parts.New(folder, s, o, func(w io.Writer) (sink.Sink, error) {
		return csv.New(w, s, sink.Options{Layout: "matrix"})
	}))(t)
	steps := make([]func() error, len(batches))
	for i, b := range slices.Backward(batches) {
		steps[i] = must.Get(k.Encode(t.Context(), b))(t)
	}
	for _, step := range steps {
		must.Do(t, step())
	}
	must.Do(t, k.Close())
	found := finish()
	for i, name := range slices.Sorted(maps.Keys(found))[1:] { // after _SUCCESS
		if file := k.Parts[i].File; file.Name != name || file.Count != int64(len(found[name])) {
			t.Errorf("part %d is %s of %d bytes, found %s of %d", i, file.Name, file.Count, name, len(found[name]))
		}
		files = append(files, string(found[name]))
	}
	return files, k.Parts
}

// text returns the numbers first to last−1 in the style matrix.
func text(first, last int) string {
	var b bytes.Buffer
	for n := first; n < last; n++ {
		d := fmt.Appendf(nil, "%04d", n)
		fmt.Fprintf(&b, "%d,%d,%d,%d\n", d[0], d[1], d[2], d[3])
	}
	return b.String()
}

func TestRows(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ first, rows, batch, perFile int }{
		{0, 100, 8, 8}, {0, 100, 8, 10}, {0, 100, 16, 3}, {0, 100, 8, 25}, {0, 100, 8, 100}, {0, 100, 8, 1000},
		{0, 100, 8, math.MaxInt}, {5, 40, 8, 10}, {0, 1, 8, 1}, {17, 3, 8, 1}, {0, 0, 8, 10},
	} {
		s, batches := numbers(test.first, test.rows, test.batch)
		files, all := write(t, parts.Options{Rows: int64(test.perFile), First: int64(test.first)}, s, batches)
		var want []string
		if test.rows == 0 {
			want = []string{""}
		}
		for at := test.first; at < test.first+test.rows; at += min(test.perFile, test.rows) {
			want = append(want, text(at, at+min(test.perFile, test.first+test.rows-at)))
		}
		if !slices.Equal(files, want) {
			t.Errorf("%+v: found %q, expected %q", test, files, want)
		}
		rows := int64(0)
		for _, p := range all {
			rows += p.Rows
		}
		if rows != int64(test.rows) {
			t.Errorf("%+v: the parts have %d rows", test, rows)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	s, _ := numbers(0, 200_001, 1<<16)
	folder, _ := newFolder(t)
	_, err := parts.New(folder, s, parts.Options{Rows: 2, Stem: "part"}, openCSV(s))
	if err == nil || !strings.Contains(err.Error(), "100001 files") ||
		!strings.Contains(fault.HintOf(err), "--rows-per-file 3 ") {
		t.Errorf("found %v, expected a hint to use 3 rows", err)
	}
}

// A failing splitter fails at one place with errBroken, and writes nothing.
type failing struct{ at string }

var errBroken = errors.New("out of paper")

func (f failing) fails(at string) error {
	if f.at == at {
		return errBroken
	}
	return nil
}

func (f failing) Encode(_ context.Context, b schema.Batch) (func() error, error) {
	if b.Rows == 0 {
		return nil, errors.New("found a batch without rows")
	}
	return func() error { return f.fails("step") }, f.fails("encode")
}
func (f failing) Next(io.Writer) error { return f.fails("next") }
func (f failing) Close() error         { return f.fails("close") }
func (failing) BatchSize(int) int64    { return 0 }

// TestFailuresOfTheFormat checks that errors of the format's sink are returned unchanged, for the
// first file and later ones.
func TestFailuresOfTheFormat(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"open", "encode", "step", "next", "close", ""} {
		s, batches := numbers(0, 10, 4)
		folder, _ := newFolder(t)
		k, err := parts.New(folder, s, parts.Options{Rows: 2, Stem: "part", Extension: ".x"},
			func(io.Writer) (sink.Sink, error) { return failing{at}, failing{at}.fails("open") })
		for i := 0; i < len(batches) && err == nil; i++ {
			var step func() error
			if step, err = k.Encode(t.Context(), batches[i]); err == nil {
				err = step()
			}
		}
		if err == nil {
			err = k.Close()
		}
		if (err == nil) != (at == "") || at != "" && !errors.Is(err, errBroken) {
			t.Errorf("at %q: found %v", at, err)
		}
	}
}

// TestTooManyParts writes a table of unknown length when the numbers in names are nearly used up.
func TestTooManyParts(t *testing.T) {
	t.Parallel()
	s, _ := numbers(0, 10, 10)
	s.Rows = -1
	folder, _ := newFolder(t)
	k := must.Get(parts.New(folder, s, parts.Options{Rows: 1, Stem: "part", Extension: ".x"},
		func(io.Writer) (sink.Sink, error) { return failing{}, nil }))(t)
	k.Parts = slices.Repeat(k.Parts, parts.MaxParts-1) // the next but one file is the last
	for row, refused := range []bool{false, false, true} {
		b := schema.Batch{First: int64(row), Rows: 1, Columns: [][]byte{{1, 2, 3, 4}}}
		step := must.Get(k.Encode(t.Context(), b))(t)
		if err := step(); refused != errors.Is(err, fault.Usage) || !refused && err != nil {
			t.Fatalf("row %d: found %v", row, err)
		}
	}
}
