package formats

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	sinkparquet "github.com/idxport/idxport/sink/parquet"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/arrow"
	"github.com/idxport/idxport/source/columnar"
	"github.com/idxport/idxport/source/csv"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/source/parquet"
	"github.com/idxport/idxport/test/layouttest"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

// writeParts makes a folder of CSV files.
func writeParts(t *testing.T, texts ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i, text := range texts {
		name := "part-" + string(rune('0'+i)) + ".csv"
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	return dir
}

// openParts opens the only table of a folder.
func openParts(t *testing.T, dir string) source.Table {
	t.Helper()
	tables, err := Find(source.Local{}, dir)
	if err != nil || len(tables) != 1 {
		t.Fatalf("found %d tables and the error %v, expected one", len(tables), err)
	}
	table := must.Get(tables[0].Open(source.ReadOptions{}))(t)
	t.Cleanup(func() { _ = table.Close() })
	return table
}

// TestChain reads three files, one of them without rows, from every row on, in batches that end
// within files or span them.
func TestChain(t *testing.T) {
	t.Parallel()
	const header = "label,pixel0,pixel1\n"
	dir := writeParts(t, header+"1,10,11\n2,20,21\n3,30,31\n", header, header+"4,40,41\n", header+"5,50,51\n6,60,61\n")
	labels, pixels := []byte{1, 2, 3, 4, 5, 6}, []byte{10, 11, 20, 21, 30, 31, 40, 41, 50, 51, 60, 61}
	for rows := 1; rows <= 7; rows++ {
		for skip := range 7 {
			table := openParts(t, dir)
			must.Do(t, source.Skip(table, int64(skip)))
			got := must.Get(sourcetest.ReadAll(table, rows))(t)
			if !slices.Equal(got[0], labels[skip:]) || !slices.Equal(got[1], pixels[2*skip:]) {
				t.Errorf("batches of %d rows from row %d: found %v, expected %v and %v", rows, skip, got, labels[skip:], pixels[2*skip:])
			}
		}
	}
}

func TestChainSkipsTooFar(t *testing.T) {
	t.Parallel()
	for n := int64(3); n < 6; n++ {
		if err := source.Skip(openParts(t, writeParts(t, "a,b\n1,2\n", "a,b\n3,4\n")), n); err != io.EOF {
			t.Errorf("skip %d: found %v, expected the end", n, err)
		}
	}
}

// TestChainSkipsLargeRows skips rows that together are much larger than the memory it may allocate.
// Not parallel: it measures the allocations of the whole process.
func TestChainSkipsLargeRows(t *testing.T) {
	row := strings.Repeat("1,", 256<<10-1) + "1\n" // 512 KiB of text
	table := openParts(t, writeParts(t, strings.Repeat(row, 64), row))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	must.Do(t, source.Skip(table, 64))
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 24<<20 {
		t.Errorf("found %d bytes of memory taken, expected a few for a row", got)
	}
}

// TestChainDiffers: the files of a folder must have the same columns, and values of the same types.
func TestChainDiffers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ second, want string }{
		"another name":    {"class,pixel0\n1,2\n", "found the column class (uint8, scalar), expected label"},
		"another width":   {"label,pixel0,pixel1,pixel2\n1,2,3,4\n", "found the column image (uint8, 3), expected image (uint8, 2)"},
		"another type":    {"label,pixel0,pixel1\n1,256,3\n", "found the column image (int32, 2)"},
		"something else":  {"<html>\n", "like a web page"},
		"nothing":         {"", "empty"},
		"a ragged record": {"label,pixel0,pixel1\n1,2\n", "found 2 fields, expected 3"},
	} {
		_, err := sourcetest.ReadAll(openParts(t, writeParts(t, "label,pixel0,pixel1\n1,10,11\n", test.second)), 10)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "part-1.csv") {
			t.Errorf("%s: found the error %v, expected part-1.csv and %q", name, err, test.want)
		}
	}
}

// TestFilesThatAreGone: a file that does not exist, or is removed before it is read, is an error
// and not the end of the table.
func TestFilesThatAreGone(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing")
	if _, err := Find(source.Local{}, missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Find: found %v, expected %v", err, fs.ErrNotExist)
	}
	if _, ok, err := As("csv", missing, "", "missing"); !ok || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("As: found %t and %v, expected %v", ok, err, fs.ErrNotExist)
	}
	if _, err := openChain(csv.Open, []string{missing, missing}, "missing", source.ReadOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("openChain: found %v, expected %v", err, fs.ErrNotExist)
	}
	for _, skip := range []int64{0, 2} {
		dir := writeParts(t, "a,b\n1,2\n", "a,b\n3,4\n5,6\n", "a,b\n7,8\n")
		table := openParts(t, dir)
		must.Do(t, os.Remove(filepath.Join(dir, "part-1.csv")))
		err := source.Skip(table, skip)
		for b := (&source.Raw{Cap: 1}); err == nil; {
			err = table.Read(t.Context(), b)
		}
		if !errors.Is(err, fs.ErrNotExist) || err == io.EOF {
			t.Errorf("from row %d on: found %v, expected %v", skip, err, fs.ErrNotExist)
		}
	}
}

// writeParquet writes parts of table with the given numbers of rows.
func writeParquet(t *testing.T, table layouttest.Table, rows ...int) (paths []string) {
	t.Helper()
	dir, from := t.TempDir(), 0
	for i, n := range rows {
		part := layouttest.Table{Columns: table.Columns, Rows: n}
		for k, c := range table.Columns {
			part.Data = append(part.Data, table.Data[k][from*c.RecordSize():][:n*c.RecordSize()])
		}
		open := func(w io.Writer, s *schema.Schema) (sink.Sink, error) {
			return sinkparquet.New(w, s, sinkparquet.Options{})
		}
		paths = append(paths, filepath.Join(dir, "part-"+string(rune('0'+i))+".parquet"))
		must.Do(t, os.WriteFile(paths[i], part.Write(t, open, part.Schema(), 8), 0o666))
		from += n
	}
	return paths
}

func images(rows int) layouttest.Table {
	return layouttest.Random(rows, source.Column{Name: "image", DType: idx.Uint8, Shape: []int{2, 3}}, source.Column{Name: "label", DType: idx.Uint8})
}

// TestChainOfParts reads files that record their numbers of rows, some of which have none, in
// batches and from rows that begin anywhere, after some rows were read. Files all of whose rows are
// skipped are not opened again.
func TestChainOfParts(t *testing.T) {
	t.Parallel()
	table := images(100)
	for _, parts := range [][]int{{100}, {40, 60}, {0, 40, 0, 0, 35, 25, 0}} {
		paths := writeParquet(t, table, parts...)
		for _, read := range []int{0, 1, 40, 45} {
			for _, skip := range []int{0, 5, 34, 35, 50, 100 - read} {
				if read+skip > 100 {
					continue
				}
				for _, rows := range []int{1, 9, 1000} {
					got := must.Get(openChain(parquet.Open, paths, "dir/train", source.ReadOptions{}))(t)
					if got.Rows() != 100 || len(parts) > 1 && got.Columns()[0].Origin != "train" {
						t.Errorf("found %d rows of %s", got.Rows(), got.Columns()[0].Origin)
					}
					if read > 0 {
						must.Do(t, got.Read(t.Context(), &source.Raw{Cap: read}))
					}
					must.Do(t, source.Skip(got, int64(skip)))
					sourcetest.Expect(t, got, rows, table.Columns, [][]byte{table.Data[0][6*(read+skip):], table.Data[1][read+skip:]})
					must.Do(t, got.Close())
				}
			}
		}
	}
	paths := writeParquet(t, table, 40, 30, 30)
	got := must.Get(openChain(parquet.Open, paths, "train", source.ReadOptions{}))(t)
	must.Do(t, os.Remove(paths[0]))
	must.Do(t, os.Remove(paths[1]))
	must.Do(t, source.Skip(got, 70))
	sourcetest.Expect(t, got, 10, table.Columns, [][]byte{table.Data[0][6*70:], table.Data[1][70:]})
	must.Do(t, got.Close())
}

// TestChainOfEmptyParts has no rows at all, and shapes that only rows would tell.
func TestChainOfEmptyParts(t *testing.T) {
	t.Parallel()
	got := must.Get(openChain(parquet.Open, writeParquet(t, images(0), 0, 0), "train", source.ReadOptions{}))(t)
	sourcetest.Expect(t, got, 10, images(0).Columns, [][]byte{nil, nil})
	const unknown, known = "../parquet/testdata/bad-no-rows.parquet", "../parquet/testdata/pyarrow-list.parquet"
	if _, err := openChain(parquet.Open, []string{unknown, unknown}, "train", source.ReadOptions{}); !errors.Is(err, columnar.ErrNoRows) {
		t.Errorf("found %v, expected %v", err, columnar.ErrNoRows)
	}
	if got, err := openChain(parquet.Open, []string{unknown, known}, "train", source.ReadOptions{}); err != nil || got.Rows() != 150 {
		t.Errorf("found %v, expected the 150 rows of the second file", err)
	}
}

// TestChainOfOtherParts has parts of other columns, and parts that change after they were opened.
func TestChainOfOtherParts(t *testing.T) {
	t.Parallel()
	paths := writeParquet(t, images(100), 50, 50)
	other := writeParquet(t, layouttest.Random(50, source.Column{Name: "image", DType: idx.Uint8, Shape: []int{3, 2}}), 50)
	_, err := openChain(parquet.Open, []string{paths[0], other[0]}, "train", source.ReadOptions{})
	if !errors.Is(err, fault.Malformed) || !strings.Contains(err.Error(), "found 1 column, expected 2 as in "+paths[0]) || !strings.HasPrefix(err.Error(), other[0]) {
		t.Errorf("found %v, expected other columns in %s", err, other[0])
	}
	fewer := writeParquet(t, images(20), 20)
	for _, replacement := range []string{fewer[0], other[0]} {
		got := must.Get(openChain(parquet.Open, paths, "train", source.ReadOptions{}))(t)
		must.Do(t, os.Rename(replacement, paths[1]))
		if _, err := sourcetest.ReadAll(got, 8); !errors.Is(err, fault.Malformed) || !strings.HasPrefix(err.Error(), paths[1]) {
			t.Errorf("found %v, expected that the second file has changed", err)
		}
		must.Do(t, got.Close())
		paths = writeParquet(t, images(100), 50, 50)
	}
}

// TestChainNotes has the notes of all files: here, that streams end without an end mark.
func TestChainNotes(t *testing.T) {
	t.Parallel()
	stream := must.Get(os.ReadFile("../arrow/testdata/list-None-stream.arrow"))(t)
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "a.arrow"), filepath.Join(dir, "b.arrow")}
	for i, cut := range []int{0, 8} {
		must.Do(t, os.WriteFile(paths[i], stream[:len(stream)-cut], 0o666))
	}
	got := must.Get(openChain(arrow.Open, paths, "train", source.ReadOptions{}))(t)
	defer got.Close()
	must.Get(sourcetest.ReadAll(got, 4))(t)
	if notes := source.About(got).Notes; len(notes) != 1 || !strings.HasPrefix(notes[0], paths[1]) || !strings.Contains(notes[0], "without an end mark") {
		t.Errorf("found the notes %q, expected one about the end mark of %s", notes, paths[1])
	}
}
