package publish

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	oneKey   = "0123456789abcdef"
	otherKey = "fedcba9876543210"
)

// commitKeyed publishes a file and a folder under key.
func commitKeyed(t *testing.T, dir, key, content string) {
	t.Helper()
	s, err := Prepare([]Target{{Path: filepath.Join(dir, "x.csv"), Key: key}, {Path: filepath.Join(dir, "x"), Folder: true, Key: key}}, Options{Overwrite: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Discard()
	if _, err := s.File(0).Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	c, err := s.Folder(1).Class("7")
	if err == nil {
		err = c.WriteFile("0.png", []byte(content))
	}
	if err == nil {
		err = s.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestUpToDate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(dir string) error
		want   bool
	}{
		"untouched":         {func(string) error { return nil }, true},
		"other content":     {func(dir string) error { return os.WriteFile(dir+"/x.csv", []byte("bla"), 0o666) }, false},
		"other mark":        {func(dir string) error { return os.Rename(dir+"/"+mark(dir, "x.csv"), dir+"/.x.csv.idxport-a-b.made") }, false},
		"no output":         {func(dir string) error { return os.Remove(dir + "/x.csv") }, false},
		"copied beside one": {func(dir string) error { return os.WriteFile(dir+"/x.csv.bak", []byte("new"), 0o666) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			commitKeyed(t, dir, oneKey, "new")
			if err := test.change(dir); err != nil {
				t.Fatal(err)
			}
			if same, err := UpToDate(dir+"/x.csv", oneKey); same != test.want || err != nil {
				t.Errorf("found %v, %v, expected %v", same, err, test.want)
			}
			if same, err := UpToDate(dir+"/x.csv", otherKey); same || err != nil {
				t.Errorf("another key: found %v, %v", same, err)
			}
		})
	}
}

func TestUpToDateOfFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	commitKeyed(t, dir, oneKey, "new")
	if same, err := UpToDate(dir+"/x", oneKey); !same || err != nil {
		t.Errorf("found %v, %v, expected it to be the same", same, err)
	}
	if err := os.WriteFile(dir+"/x/7/0.png", []byte("bla"), 0o666); err != nil {
		t.Fatal(err)
	}
	if same, err := UpToDate(dir+"/x", oneKey); same || err != nil {
		t.Errorf("found %v, %v, expected a difference", same, err)
	}
}

// mark is the name of the file that tells what the output base was made of.
func mark(dir, base string) string {
	entries, _ := os.ReadDir(dir) // none: the caller fails
	for _, e := range entries {
		if suffix, _ := parseHidden(e.Name(), base); suffix == markerSuffix {
			return e.Name()
		}
	}
	return ""
}

// TestOneMark: of an output there is one mark at most, and it is empty; without a key there is none.
func TestOneMark(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, key := range []string{oneKey, otherKey, ""} {
		commitKeyed(t, dir, key, strings.Repeat("x", i+1))
		found := readTree(t, dir)
		count := 0
		for name, content := range found {
			if strings.HasSuffix(name, markerSuffix) {
				count++
				if content != "" || !strings.Contains(name, key) {
					t.Errorf("found %s with %q", name, content)
				}
			}
		}
		if want := map[bool]int{true: 0, false: 2}[key == ""]; count != want {
			t.Errorf("key %q: found %d marks, expected %d", key, count, want)
		}
	}
}
