package publish

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
)

// tree is what a folder holds: contents by relative path; a folder's path ends with a slash.
type tree map[string]string

func readTree(t *testing.T, dir string) tree {
	t.Helper()
	found := tree{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if entry.IsDir() {
			found[filepath.ToSlash(name)+"/"] = ""
			return nil
		}
		if entry.Type()&fs.ModeSymlink != 0 {
			found[filepath.ToSlash(name)], err = os.Readlink(path)
			return err
		}
		content, err := os.ReadFile(path)
		found[filepath.ToSlash(name)] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// under returns what t holds at name or below it.
func (t tree) under(name string) tree {
	part := tree{}
	for path, content := range t {
		if path == name || strings.HasPrefix(path, name+"/") {
			part[path] = content
		}
	}
	return part
}

// hidden returns the names that start with a dot.
func (t tree) hidden() []string {
	var names []string
	for path := range t {
		if strings.HasPrefix(path, ".") {
			names = append(names, path)
		}
	}
	return names
}

// makeOutputs writes version into a file and a folder below dir and commits them.
func makeOutputs(d disk, dir, version string, o Options) error {
	s, err := prepare(d, []Target{
		{Path: filepath.Join(dir, "train.parquet")},
		{Path: filepath.Join(dir, "train"), Folder: true},
	}, o)
	if err != nil {
		return err
	}
	defer s.Discard()
	if _, err := s.File(0).Write([]byte(version)); err != nil {
		return err
	}
	for _, class := range []string{"0", "1"} {
		c, err := s.Folder(1).Class(class)
		if err != nil {
			return err
		}
		if err := c.WriteFile("00001.png", []byte(version+class)); err != nil {
			return err
		}
	}
	if err := stream(s.Folder(1), "", "metadata.csv", version); err != nil {
		return err
	}
	return s.Commit()
}

// makeMarked writes version into folders of the other marks.
func makeMarked(d disk, dir, version string, o Options) error {
	s, err := prepare(d, []Target{
		{Path: filepath.Join(dir, "parts"), Folder: true, Mark: PartsMark},
		{Path: filepath.Join(dir, "hub"), Folder: true, Mark: CardMark},
	}, o)
	if err != nil {
		return err
	}
	defer s.Discard()
	for i, prefix := range []string{"part", "part", "train"} {
		name := fmt.Sprintf("%s-%05d.parquet", prefix, i%2)
		if err := stream(s.Folder(i/2), []string{"", "data"}[i/2], name, version+name); err != nil {
			return err
		}
	}
	s.Folder(1).SetCard([]byte("# " + version + "\n"))
	return s.Commit()
}

// stream writes content into the file name of a class, in two pieces.
func stream(d *Folder, class, name, content string) error {
	c, err := d.Class(class)
	if err != nil {
		return err
	}
	f, err := c.Create(name)
	if err != nil {
		return err
	}
	for _, piece := range []string{content[:1], content[1:]} {
		if _, err := f.Write([]byte(piece)); err != nil {
			return err
		}
	}
	return f.Close()
}

// mustMake is makeOutputs on a disk without faults.
func mustMake(t *testing.T, dir, version string, o Options) tree {
	t.Helper()
	if err := makeOutputs((&faultyDisk{}).disk(), dir, version, o); err != nil {
		t.Fatal(err)
	}
	return readTree(t, dir)
}

// TestEveryFault fails each operation of a run in turn. Whatever happens, each output is wholly old or wholly new, success is
// reported only if all are new, and the same run without faults then makes all new and sweeps everything hidden.
func TestEveryFault(t *testing.T) {
	t.Parallel()
	noExchange := []string{"exchange", "renameNew", "link"}
	cases := []struct {
		name      string
		old       func(t *testing.T, dir string)
		overwrite bool
		lacks     []string
		marked    bool // the outputs of makeMarked
	}{
		{name: "new", old: nothing},
		{name: "new without rename flags", old: nothing, lacks: []string{"renameNew"}},
		{name: "new without rename flags and links", old: nothing, lacks: noExchange},
		{name: "new over nothing with overwrite", old: nothing, overwrite: true},
		{name: "empty folder", old: emptyFolder},
		{name: "overwrite", old: oldOutputs, overwrite: true},
		{name: "overwrite without exchange", old: oldOutputs, overwrite: true, lacks: noExchange},
		{name: "completing a killed run", old: halfPublished},
		{name: "new parts", old: nothing, marked: true},
		{name: "overwrite parts", old: oldMarked, overwrite: true, marked: true},
		{name: "overwrite parts without exchange", old: oldMarked, overwrite: true, lacks: noExchange, marked: true},
	}
	for _, c := range cases {
		for mode, modeName := range faultModes {
			t.Run(c.name+"/"+modeName, func(t *testing.T) {
				t.Parallel()
				made := outputsOf{makeOutputs, []string{"train.parquet", "train"}}
				if c.marked {
					made = outputsOf{makeMarked, []string{"parts", "hub"}}
				}
				want := made.must(t, t.TempDir(), "new")
				for at := 1; ; at++ {
					dir := t.TempDir()
					c.old(t, dir)
					d := &faultyDisk{at: at, mode: mode, lacks: c.lacks}
					made.withFault(t, d, dir, want, Options{Overwrite: c.overwrite})
					if d.failed == "" {
						if at < 10 {
							t.Fatalf("only %d operations", at)
						}
						return
					}
				}
			})
		}
	}
}

func nothing(*testing.T, string) {}

func emptyFolder(t *testing.T, dir string) {
	if err := os.Mkdir(filepath.Join(dir, "train"), 0o777); err != nil {
		t.Fatal(err)
	}
}

// outputsOf is a run of this test: what makes its outputs, and their names.
type outputsOf struct {
	make  func(d disk, dir, version string, o Options) error
	names []string
}

// must makes the outputs on a disk without faults.
func (made outputsOf) must(t *testing.T, dir, version string) tree {
	t.Helper()
	if err := made.make((&faultyDisk{}).disk(), dir, version, Options{}); err != nil {
		t.Fatal(err)
	}
	return readTree(t, dir)
}

func oldMarked(t *testing.T, dir string) { outputsOf{make: makeMarked}.must(t, dir, "old") }

func oldOutputs(t *testing.T, dir string) { mustMake(t, dir, "old", Options{}) }

func halfPublished(t *testing.T, dir string) {
	mustMake(t, dir, "new", Options{})
	if err := os.RemoveAll(filepath.Join(dir, "train")); err != nil {
		t.Fatal(err)
	}
}

func (made outputsOf) withFault(t *testing.T, d *faultyDisk, dir string, want tree, o Options) {
	t.Helper()
	old := readTree(t, dir)
	err := made.make(d.disk(), dir, "new", o)
	what := fmt.Sprintf("operation %d (%s)", d.at, d.failed)
	got := readTree(t, dir)
	allNew := true
	for _, name := range made.names {
		switch is := got.under(name); {
		case maps.Equal(is, want.under(name)):
		case maps.Equal(is, old.under(name)):
			allNew = false
		case d.mode == faultCrash && len(is) == 0 && len(got.hidden()) > 0 && d.lacks != nil:
			allNew = false // between the two renames; the rerun below must not need this run's partial
		default:
			t.Errorf("%s: %s is neither old nor new: %v", what, name, is)
		}
	}
	if err == nil && !allNew {
		t.Errorf("%s: success, but not all outputs are new: %v", what, got)
	}
	durable := d.failed != "syncDir" && d.mode != faultCrash // published, perhaps not to stay: an error, and rightly
	if err != nil && allNew && durable {
		t.Errorf("%s: all outputs are new, but: %v", what, err)
	}
	if err != nil && !errors.Is(err, errFault) {
		t.Errorf("%s: lost the cause: %v", what, err)
	}
	switch d.failed {
	case "unlink", "removeAll", "remove", "lock", "syncDir": // deleting failed, or must not happen
	default:
		if left := got.hidden(); len(left) > 0 && d.mode != faultCrash {
			t.Errorf("%s: left %v", what, left)
		}
	}
	made.rerun(t, what, dir, want, o)
}

func (made outputsOf) rerun(t *testing.T, what, dir string, want tree, o Options) {
	t.Helper()
	err := made.make((&faultyDisk{}).disk(), dir, "new", o)
	if got := readTree(t, dir); errors.Is(err, fault.Exists) { // complete already; sweeping is left to a run that goes on
		for _, name := range got.hidden() {
			delete(got, name)
			for path := range got.under(strings.TrimSuffix(name, "/")) {
				delete(got, path)
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: rerun says it exists, but it is %v", what, got)
		}
	} else if err != nil || !maps.Equal(got, want) {
		t.Errorf("%s: rerun: %v, %v", what, err, got)
	}
}

// TestKilledBetweenRenames pins that a run without exchange that dies between its two renames loses nothing: the next run, even one
// that fails, moves the old folder back.
func TestKilledBetweenRenames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := mustMake(t, dir, "old", Options{})
	aside := filepath.Join(dir, ".train.idxport-0123456789abcdef.old")
	if err := os.Rename(filepath.Join(dir, "train"), aside); err != nil {
		t.Fatal(err)
	}
	s, err := Prepare([]Target{{Path: filepath.Join(dir, "train"), Folder: true}}, Options{Overwrite: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Discard()
	if got := readTree(t, dir); !maps.Equal(got, old) {
		t.Errorf("got %v, want %v", got, old)
	}
}

// TestLateStranger pins that a file which somebody puts into the old folder after the last look at it, and before it is replaced, is not
// deleted with it.
func TestLateStranger(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"train", "parts", "hub"} {
		for name, lacks := range map[string][]string{"exchange": nil, "two renames": {"exchange"}} {
			t.Run(folder+"/"+name, func(t *testing.T) {
				t.Parallel()
				made := outputsOf{makeMarked, nil}
				if folder == "train" {
					made.make = makeOutputs
				}
				dir := t.TempDir()
				old := made.must(t, dir, "old").under(folder)
				d := &faultyDisk{lacks: lacks}
				d.fails = func(operation, path string) error {
					if (operation == "exchange" || operation == "rename") && path == filepath.Join(dir, folder) {
						d.fails = nil
						return os.WriteFile(filepath.Join(path, "mine.txt"), []byte("mine"), 0o666)
					}
					return nil
				}
				if err := made.make(d.disk(), dir, "new", Options{Overwrite: true}); !errors.Is(err, fault.Refused) {
					t.Errorf("got %v, want a refusal", err)
				}
				old[folder+"/mine.txt"] = "mine"
				got := readTree(t, dir)
				if !maps.Equal(got.under(folder), old) {
					t.Errorf("got %v, want %v", got.under(folder), old)
				}
				if left := got.hidden(); len(left) > 0 {
					t.Errorf("left %v", left)
				}
			})
		}
	}
}
