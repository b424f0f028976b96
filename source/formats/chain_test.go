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

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/csv"
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
	t.Parallel()
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
		"another name":    {"class,pixel0\n1,2\n", "found the columns"},
		"another width":   {"label,pixel0,pixel1,pixel2\n1,2,3,4\n", "found the columns"},
		"another type":    {"label,pixel0,pixel1\n1,256,3\n", "image int32 2"},
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
