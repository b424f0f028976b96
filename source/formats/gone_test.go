package formats

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/idxport/idxport/source"
)

// TestFilesThatAreGone finds and opens what is not there, or is removed before its turn: the error is that, and not the end of the table.
func TestFilesThatAreGone(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing")
	if _, err := Find(source.Local{}, missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Find: found %v, expected %v", err, fs.ErrNotExist)
	}
	if _, ok, err := As("csv", missing, "", "missing"); !ok || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("As: found %t and %v, expected %v", ok, err, fs.ErrNotExist)
	}
	if _, err := openCSVs([]string{missing, missing}, "missing", source.ReadOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("openCSVs: found %v, expected %v", err, fs.ErrNotExist)
	}
	for _, skip := range []int64{0, 2} {
		dir := writeParts(t, "a,b\n1,2\n", "a,b\n3,4\n5,6\n", "a,b\n7,8\n")
		table := openParts(t, dir)
		if err := os.Remove(filepath.Join(dir, "part-1.csv")); err != nil {
			t.Fatal(err)
		}
		err := source.Skip(table, skip)
		for b := (&source.Raw{Cap: 1}); err == nil; {
			err = table.Read(t.Context(), b)
		}
		if !errors.Is(err, fs.ErrNotExist) || err == io.EOF {
			t.Errorf("from row %d on: found %v, expected %v", skip, err, fs.ErrNotExist)
		}
	}
}
