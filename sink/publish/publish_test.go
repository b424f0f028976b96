package publish

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/idxport/idxport/fault"
)

// write makes the file path, and the folders above it.
func write(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func symlink(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Skip(err) // Windows without the privilege
	}
}

// commitFile publishes one file.
func commitFile(path, content string, o Options) error {
	s, err := Prepare([]Target{{Path: path}}, o)
	if err != nil {
		return err
	}
	defer s.Discard()
	if _, err := s.File(0).Write([]byte(content)); err != nil {
		return err
	}
	return s.Commit()
}

func TestPrepareRefuses(t *testing.T) {
	t.Parallel()
	work, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name    string
		targets []Target // below the test's folder unless absolute
		o       Options
		setUp   func(t *testing.T, dir string)
		want    error
		says    string
	}{
		{"a file that is a folder", []Target{{Path: "d"}}, Options{Overwrite: true}, func(t *testing.T, dir string) { write(t, dir+"/d/f", "") }, fault.Refused, "is a folder"},
		{"a file named as a folder", []Target{{Path: "x.csv/"}}, Options{}, nil, fault.Refused, "not a file"},
		{"a folder that is a file", []Target{{Path: "f", Folder: true}}, Options{Overwrite: true}, func(t *testing.T, dir string) { write(t, dir+"/f", "") }, fault.Refused, "is a file"},
		{"the root", []Target{{Path: "/", Folder: true}}, Options{Overwrite: true}, nil, fault.Refused, "root"},
		{"the working folder", []Target{{Path: ".", Folder: true}}, Options{Overwrite: true}, nil, fault.Refused, "working folder"},
		{"above the working folder", []Target{{Path: filepath.Dir(filepath.Dir(work)), Folder: true}}, Options{}, nil, fault.Refused, "working folder"},
		{"a missing parent", []Target{{Path: "no/such/x.csv"}}, Options{}, nil, fault.Refused, "no folder to hold it"},
		{"a parent that is a file", []Target{{Path: "f/x.csv"}}, Options{}, func(t *testing.T, dir string) { write(t, dir+"/f", "") }, fault.Refused, "is a file"},
		{"below a link to itself", []Target{{Path: "d/x.csv", MakeParents: true}}, Options{}, func(t *testing.T, dir string) { symlink(t, "d", dir+"/d") }, fault.Refused, "in a circle"},
		{"an input", []Target{{Path: "in"}}, Options{Overwrite: true, Inputs: []string{"in"}}, func(t *testing.T, dir string) { write(t, dir+"/in", "") }, fault.Refused, "is an input"},
		{"an input through a link", []Target{{Path: "in"}}, Options{Overwrite: true, Inputs: []string{"link"}},
			func(t *testing.T, dir string) { write(t, dir+"/in", ""); symlink(t, "in", dir+"/link") }, fault.Refused, "is an input"},
		{"a folder that holds an input", []Target{{Path: "d", Folder: true}}, Options{Overwrite: true, Inputs: []string{"d/a/in"}},
			func(t *testing.T, dir string) { write(t, dir+"/d/a/in", "") }, fault.Refused, "holds the input"},
		{"a folder of somebody else", []Target{{Path: "d", Folder: true}}, Options{Overwrite: true}, func(t *testing.T, dir string) { write(t, dir+"/d/f", "") }, fault.Refused, "no _manifest.json"},
		{"one name twice", []Target{{Path: "x.csv"}, {Path: "x.csv"}}, Options{}, nil, fault.Refused, "same output"},
		{"two spellings", []Target{{Path: "x.csv"}, {Path: "d/../x.csv"}}, Options{}, func(t *testing.T, dir string) { write(t, dir+"/d/f", "") }, fault.Refused, "same output"},
		{"two names of one file", []Target{{Path: "x.csv"}, {Path: "link.csv"}}, Options{}, func(t *testing.T, dir string) { symlink(t, "x.csv", dir+"/link.csv") }, fault.Refused, "same output"},
		{"a file in a folder", []Target{{Path: "d", Folder: true}, {Path: "d/x.csv", MakeParents: true}}, Options{}, nil, fault.Refused, "lies inside"},
		{"all exist", []Target{{Path: "x.csv"}, {Path: "y.csv"}}, Options{}, func(t *testing.T, dir string) { write(t, dir+"/x.csv", ""); write(t, dir+"/y.csv", "") }, fault.Exists, "already exists"},
		{"no name", []Target{{Path: ""}}, Options{}, nil, fs.ErrNotExist, ""},
		{"links in a circle", []Target{{Path: "a"}}, Options{}, func(t *testing.T, dir string) { symlink(t, "b", dir+"/a"); symlink(t, "a", dir+"/b") }, fault.Refused, "in a circle"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if c.setUp != nil {
				c.setUp(t, dir)
			}
			before := readTree(t, dir)
			targets := append([]Target(nil), c.targets...)
			for i := range targets {
				if p := targets[i].Path; p != "" && p != "." && !filepath.IsAbs(p) {
					targets[i].Path = dir + "/" + p
				}
			}
			o := c.o
			o.Inputs = nil
			for _, input := range c.o.Inputs {
				o.Inputs = append(o.Inputs, filepath.Join(dir, input))
			}
			_, err := Prepare(targets, o)
			if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %v that says %q", err, c.want, c.says)
			}
			if after := readTree(t, dir); !maps.Equal(before, after) {
				t.Errorf("left %v, there was %v", after, before)
			}
		})
	}
}

func TestExistingOutputs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "x.csv")
	if err := commitFile(path, "one", Options{}); err != nil {
		t.Fatal(err)
	}
	if err := commitFile(path, "two", Options{}); !errors.Is(err, fault.Exists) {
		t.Errorf("got %v, want fault.Exists", err)
	}
	if err := commitFile(path, "two", Options{Overwrite: true}); err != nil {
		t.Errorf("overwriting: %v", err)
	}
	if got, want := readTree(t, dir), (tree{"x.csv": "two"}); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestSomeExist: one of two outputs exists. It is accepted if it is equal, and otherwise nothing is published.
func TestSomeExist(t *testing.T) {
	t.Parallel()
	for _, existing := range []string{"new", "old", "newer"} {
		t.Run(existing, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir+"/train.parquet", existing)
			err := makeOutputs((&faultyDisk{}).disk(), dir, "new", Options{})
			_, statErr := os.Stat(dir + "/train/0/00001.png")
			if equal := existing == "new"; equal != (err == nil) || equal != (statErr == nil) || !equal && !errors.Is(err, fault.Exists) {
				t.Errorf("Commit: %v, the other output: %v", err, statErr)
			}
		})
	}
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		mustMake(t, dir, "old", Options{})
		if err := os.Remove(dir + "/train.parquet"); err != nil {
			t.Fatal(err)
		}
		want := readTree(t, dir)
		if err := makeOutputs((&faultyDisk{}).disk(), dir, "new", Options{}); !errors.Is(err, fault.Exists) {
			t.Errorf("got %v, want fault.Exists", err)
		}
		if got := readTree(t, dir); !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestDiscardLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Prepare([]Target{
		{Path: dir + "/a/b/x.csv", MakeParents: true},
		{Path: dir + "/a/png", Folder: true, MakeParents: true},
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Folder(1).Class("7")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.WriteFile("1.png", []byte("x")); err != nil {
		t.Fatal(err)
	}
	for name := range readTree(t, dir+"/a") {
		if base := filepath.Base(name); name != "b/" && !strings.Contains(name, ".partial/") && !strings.HasPrefix(base, ".") {
			t.Errorf("%s is visible before Commit", name)
		}
	}
	s.Discard()
	s.Discard()
	if got := readTree(t, dir); len(got) > 0 {
		t.Errorf("left %v", got)
	}
	if _, err := s.File(0).Write([]byte("x")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Write after Discard: %v", err)
	}
	if err := c.WriteFile("2.png", nil); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("WriteFile after Discard: %v", err)
	}
	if err := s.Commit(); err == nil {
		t.Error("Commit after Discard succeeded")
	}
}

func TestSymlinksAreResolved(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, link, to string }{
		{"to a file", "link.csv", "real/x.csv"},
		{"to a file not yet made", "link.csv", "real/new.csv"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir+"/real/x.csv", "old")
			symlink(t, c.to, dir+"/"+c.link)
			if err := commitFile(dir+"/"+c.link, "new", Options{Overwrite: true}); err != nil {
				t.Fatal(err)
			}
			if info, err := os.Lstat(dir + "/" + c.link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
				t.Errorf("the link was replaced: %v, %v", info, err)
			}
			if got, _ := os.ReadFile(dir + "/" + c.to); string(got) != "new" {
				t.Errorf("%s holds %q", c.to, got)
			}
		})
	}
}

func TestSweepTakesOnlyItsOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir+"/.x.csv.idxport-0123456789abcdef.partial", "")
	write(t, dir+"/.x.csv.idxport-fedcba9876543210.partial/1/1.png", "")
	kept := []string{
		".y.csv.idxport-0123456789abcdef.partial", // another target's
		".x.csv.idxport-0123456789abcde.partial",  // a digit short
		".x.csv.idxport-0123456789abcdeg.partial",
		".x.csv.idxport-0123456789ABCDEF.partial",
		"x.csv.idxport-0123456789abcdef.partial",
	}
	want := tree{"x.csv": "new"}
	for _, name := range kept {
		write(t, dir+"/"+name, "")
		want[name] = ""
	}
	if err := commitFile(dir+"/x.csv", "new", Options{}); err != nil {
		t.Fatal(err)
	}
	if got := readTree(t, dir); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestErrorKeepsTheCause(t *testing.T) {
	t.Parallel()
	inner := &fs.PathError{Op: "write", Path: "/tmp/.x.csv.idxport-0.partial", Err: syscall.ENOSPC}
	err := Failure("x.csv", "writing", inner)
	if !errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "partial") || !strings.HasPrefix(err.Error(), "x.csv: writing: ") {
		t.Errorf("got %v", err)
	}
	if err := refusal("d", "is a mount point", "name a folder in it"); fault.HintOf(err) == "" {
		t.Errorf("%v has no hint", err)
	}
}

// TestShortFile pins that a file which does not hold what was written is not published.
func TestShortFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Prepare([]Target{{Path: dir + "/x.csv"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Discard()
	if _, err := s.File(0).Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(s.outputs[0].partial, 3); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(); !errors.Is(err, fault.IO) {
		t.Errorf("got %v, want fault.IO", err)
	}
	if _, err := os.Stat(dir + "/x.csv"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was published: %v", err)
	}
}

func TestFreeSpace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	here, err := FreeSpace(dir)
	if err != nil || here == 0 {
		t.Fatalf("got %d, %v", here, err)
	}
	if _, err := FreeSpace(filepath.Join(dir, "not", "yet")); err != nil {
		t.Errorf("below a folder that exists: %v", err)
	}
}
