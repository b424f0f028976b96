package publish

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/test/must"
)

const (
	oneKey   = "0123456789abcdef"
	otherKey = "fedcba9876543210"
)

// TestUpToDate changes outputs after they were published. An output has at most one record; a file
// without a key has none.
func TestUpToDate(t *testing.T) {
	t.Parallel()
	keyed := func(dir, key, content string) error {
		return run(quick(), Options{Overwrite: true},
			outputOf{Target{Path: filepath.Join(dir, "x.csv"), Key: key}, tree{"": content}},
			outputOf{Target{Path: filepath.Join(dir, "x"), Folder: true, Key: key}, tree{"7/0.png": content}})
	}
	write := func(path, content string) func(string) error {
		return func(dir string) error { return os.WriteFile(dir+path, []byte(content), 0o666) }
	}
	old := write("/.x"+hiddenInfix+oneKey+"-"+oneKey+"-"+oneKey+recordSuffix, "")
	for name, c := range map[string]struct {
		change       func(dir string) error
		file, folder bool
		records      int
	}{
		"untouched":         {func(string) error { return nil }, true, true, 2},
		"other content":     {write("/x.csv", "bla"), false, true, 2},
		"other image":       {write("/x/7/0.png", "bla"), true, false, 2},
		"another file":      {write("/x/7/1.png", ""), true, false, 2},
		"no output":         {func(dir string) error { return os.Remove(dir + "/x.csv") }, false, true, 2},
		"copied beside one": {write("/x.csv.bak", "new"), true, true, 2},
		"made again":        {func(dir string) error { return keyed(dir, oneKey, "newer") }, true, true, 2},
		"another key":       {func(dir string) error { return keyed(dir, otherKey, "new") }, false, false, 2},
		"no key":            {func(dir string) error { return keyed(dir, "", "new") }, false, false, 1},
		"a lock is left":    {write("/.x.csv"+lockSuffix, ""), true, true, 2},
		"a partial is left": {write("/.x"+hiddenInfix+"0123456789abcdef"+partialSuffix, ""), true, true, 2},
		"a record is left":  {old, true, true, 2},
		"left, another key": {func(d string) error { return cmp.Or(keyed(d, otherKey, "b"), old(d)) }, false, false, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must.Do(t, errors.Join(keyed(dir, oneKey, "new"), c.change(dir)))
			for path, want := range map[string]bool{"x.csv": c.file, "x": c.folder} {
				if same, err := UpToDate(filepath.Join(dir, path), oneKey); same != want || err != nil {
					t.Errorf("%s: found %v, %v, expected %v", path, same, err, want)
				}
			}
			if hidden := must.Get(filepath.Glob(dir + "/.*"))(t); len(hidden) != c.records {
				t.Errorf("found %v, expected %d records", hidden, c.records)
			}
		})
	}
}

// TestFingerprintsDiffer divides the same bytes differently between names and contents.
func TestFingerprintsDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for i, has := range []tree{{"a": "bc"}, {"ab": "c"}, {"a": "b", "c": ""}, {"a": "", "bc": ""}, {"a/b": "c"}, {}} {
		dir := filepath.Join(t.TempDir(), fmt.Sprint(i))
		plant(t, dir, tree{"./": ""})
		plant(t, dir, has)
		print, err := Fingerprint(dir)
		if err != nil || seen[print] != "" {
			t.Errorf("%v: found %s and %v, as %s has", has, print, err, seen[print])
		}
		seen[print] = fmt.Sprint(has)
	}
}

// TestLongNames makes outputs with the longest names that a file system takes.
func TestLongNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxName)
	err := commitFile(filepath.Join(t.TempDir(), long+"x"), "new", Options{})
	want, names := "shorten the path or the name, which may have 255 bytes", []string{
		long[:207], long[:208], long[:221], long[:222], long, "x" + strings.Repeat("ü", 127)}
	switch runtime.GOOS {
	case "linux":
		names = append(names, strings.Repeat("\xff", maxName)) // others have only names in Unicode
	case "windows":
		want = `leave out <>:"|?*, dots and spaces at its end, devices, and more than 255 characters`
	}
	if fault.HintOf(err) != want {
		t.Errorf("found %v with the hint %q, expected %q", err, fault.HintOf(err), want)
	}
	for _, name := range names {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		hidden := func(name string) string {
			return filepath.Base((&output{real: filepath.Join(dir, name)}).beside(hiddenInfix + oneKey + partialSuffix))
		}
		plant(t, dir, tree{hidden(name): "", hidden(long[:maxName-1]): ""})
		s, err := Prepare([]Target{{Path: path, Key: oneKey}}, Options{})
		if err != nil {
			t.Errorf("%d bytes: %v", len(name), err)
			continue
		}
		_, err = Prepare([]Target{{Path: path}}, Options{})
		refuses(t, err, fault.Locked, "another run")
		if err := s.Commit(); err != nil {
			t.Errorf("%d bytes: %v", len(name), err)
		}
		for key, want := range map[string]bool{oneKey: true, otherKey: false} {
			if same, err := UpToDate(path, key); same != want || err != nil {
				t.Errorf("%d bytes: found %v, %v, expected %v", len(name), same, err, want)
			}
		}
		if found := readTree(t, dir); len(found) != 3 { // the output, its record, and the partial of the other target
			t.Errorf("%d bytes: found %v", len(name), found)
		}
	}
}
