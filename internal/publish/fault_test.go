package publish

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/idxport/idxport/fault"
)

// TestEveryFault fails each operation of a run in turn. Whatever happens, each output is wholly old
// or wholly new, success is reported only if all are new, and then the same run without faults
// makes all new and sweeps everything hidden.
func TestEveryFault(t *testing.T) {
	t.Parallel()
	modes := map[faultMode]string{faultBefore: "before", faultAfter: "after", faultCrash: "crash"}
	noExchange := []string{"exchange", "renameNew", "link"}
	nothing := func(*testing.T, string) {}
	oldUsual := func(t *testing.T, dir string) { must(t, dir, usual(dir, "old")) }
	oldMarked := func(t *testing.T, dir string) { must(t, dir, marked(dir, "old")) }
	for _, c := range []struct {
		name      string
		made      func(dir, version string) []outputOf
		old       func(t *testing.T, dir string)
		overwrite bool
		lacks     []string
	}{
		{name: "new", made: usual, old: nothing},
		{name: "new without rename flags", made: usual, old: nothing, lacks: []string{"renameNew"}},
		{name: "new without rename flags and links", made: usual, old: nothing, lacks: noExchange},
		{name: "new over nothing with overwrite", made: usual, old: nothing, overwrite: true},
		{name: "empty folder", made: usual, old: func(t *testing.T, dir string) { plant(t, dir, tree{"train/": ""}) }},
		{name: "overwrite", made: usual, old: oldUsual, overwrite: true},
		{name: "overwrite without exchange", made: usual, old: oldUsual, overwrite: true, lacks: noExchange},
		{name: "completing a killed run", made: usual, old: func(t *testing.T, dir string) {
			must(t, dir, usual(dir, "new"))
			if err := os.RemoveAll(filepath.Join(dir, "train")); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "completing a killed run, a folder", made: usual, old: func(t *testing.T, dir string) {
			must(t, dir, usual(dir, "new"))
			if err := os.Remove(filepath.Join(dir, "train.parquet")); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "new parts", made: marked, old: nothing},
		{name: "overwrite parts", made: marked, old: oldMarked, overwrite: true},
		{name: "overwrite parts without exchange", made: marked, old: oldMarked, overwrite: true, lacks: noExchange},
	} {
		for mode, modeName := range modes {
			t.Run(c.name+"/"+modeName, func(t *testing.T) {
				t.Parallel()
				clean := t.TempDir()
				want := must(t, clean, c.made(clean, "new"))
				for at := 1; ; at++ {
					dir := t.TempDir()
					c.old(t, dir)
					d := &faultyDisk{failAt: at, mode: mode, lacks: c.lacks}
					withFault(t, d, dir, c.made(dir, "new"), want, Options{Overwrite: c.overwrite})
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

func withFault(t *testing.T, d *faultyDisk, dir string, made []outputOf, want tree, o Options) {
	t.Helper()
	old := readTree(t, dir)
	err := run(d.disk(), o, made...)
	operation := fmt.Sprintf("operation %d (%s)", d.failAt, d.failed)
	got := readTree(t, dir)
	allNew := true
	for _, out := range made {
		name := filepath.Base(out.Path)
		switch is := got.under(name); {
		case maps.Equal(is, want.under(name)):
		case maps.Equal(is, old.under(name)):
			allNew = false
		case d.mode == faultCrash && len(is) == 0 && len(got.hidden()) > 0 && d.lacks != nil:
			allNew = false // between the two renames; the run below must not need the partial of this one
		default:
			t.Errorf("%s: %s is neither old nor new: %v", operation, name, is)
		}
	}
	if err == nil && !allNew {
		t.Errorf("%s: success, but not all outputs are new: %v", operation, got)
	}
	durable := d.failed != "syncDir" && d.mode != faultCrash // otherwise published, but perhaps lost by a power failure
	if err != nil && allNew && durable {
		t.Errorf("%s: all outputs are new, but: %v", operation, err)
	}
	if err != nil && !errors.Is(err, errFault) {
		t.Errorf("%s: lost the cause: %v", operation, err)
	}
	switch d.failed {
	case "unlink", "removeAll", "remove", "lock", "syncDir": // deleting failed, or must not happen
	default:
		if left := got.hidden(); len(left) > 0 && d.mode != faultCrash {
			t.Errorf("%s: left %v", operation, left)
		}
	}
	err = run(quick(), o, made...)
	got = readTree(t, dir)
	if errors.Is(err, fault.Exists) { // all targets are complete, so this run ended before its sweep
		err = nil
		for _, name := range got.hidden() {
			delete(got, name)
		}
	}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%s: rerun: %v, %v", operation, err, got)
	}
}

// TestKilledBetweenRenames pins that a run without exchange that dies between its two renames loses
// nothing: the next run, even one that fails, moves the old folder back.
func TestKilledBetweenRenames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := must(t, dir, usual(dir, "old"))
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
		t.Errorf("found %v, expected %v", got, old)
	}
}

// TestLateForeignFile pins that a file which is put into the old folder after the last check, and
// before the folder is replaced, is not deleted with it.
func TestLateForeignFile(t *testing.T) {
	t.Parallel()
	type maker func(dir, version string) []outputOf
	for folder, made := range map[string]maker{"train": usual, "parts": marked, "hub": marked} {
		for name, lacks := range map[string][]string{"exchange": nil, "two renames": {"exchange"}} {
			t.Run(folder+"/"+name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				old := must(t, dir, made(dir, "old")).under(folder)
				d := &faultyDisk{lacks: lacks}
				d.fails = func(operation, path string) error {
					if target := filepath.Join(dir, folder); operation == "exchange" || operation == "rename" && path == target {
						d.fails = nil
						return os.WriteFile(filepath.Join(target, "mine.txt"), []byte("mine"), 0o666)
					}
					return nil
				}
				refuses(t, run(d.disk(), Options{Overwrite: true}, made(dir, "new")...), fault.Refused, "")
				old[folder+"/mine.txt"] = "mine"
				if got := readTree(t, dir); !maps.Equal(got.under(folder), old) || len(got.hidden()) > 0 {
					t.Errorf("found %v, expected %v", got, old)
				}
			})
		}
	}
}

// TestNotMovedBack pins that an old folder with a foreign file is kept, whole, if it cannot be
// moved back: the error says where it is.
func TestNotMovedBack(t *testing.T) {
	t.Parallel()
	for name, lacks := range map[string][]string{"exchange": nil, "two renames": {"exchange"}} {
		if runtime.GOOS == "windows" {
			lacks = []string{"exchange"}
		}
		dir := t.TempDir()
		old := must(t, dir, usual(dir, "old")).under("train")
		d := &faultyDisk{lacks: lacks}
		moves := 0
		d.fails = func(operation, path string) error {
			target := filepath.Join(dir, "train")
			if operation != "exchange" && (operation != "rename" || moves == 0 && path != target) {
				return nil
			}
			if moves++; moves > 1 {
				return errFault
			}
			return os.WriteFile(filepath.Join(target, "mine.txt"), []byte("mine"), 0o666)
		}
		err := run(d.disk(), Options{Overwrite: true}, usual(dir, "new")[1])
		refuses(t, err, fault.Refused, "could not be put back: it is now ")
		found := readTree(t, dir)
		_, place, _ := strings.Cut(err.Error(), "it is now ")
		kept := tree{}
		for path, content := range found.under(filepath.Base(strings.Fields(place)[0])) {
			_, rest, _ := strings.Cut(path, "/")
			kept["train/"+rest] = content
		}
		old["train/mine.txt"] = "mine"
		if !maps.Equal(kept, old) {
			t.Errorf("%s: found %v in %v, expected %v", name, kept, found, old)
		}
	}
}

// TestListedWhileReplaced pins that a folder which another run is replacing does not count as
// missing: listing a folder that was deleted after it had been opened fails with ENOENT.
func TestListedWhileReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, dir, usual(dir, "old"))
	for _, times := range []int{1, 1000} {
		d := &faultyDisk{fails: func(operation, path string) error {
			if operation != "readDir" || path != filepath.Join(dir, "train") || times == 0 {
				return nil
			}
			times--
			return &os.PathError{Op: "readdirent", Path: path, Err: syscall.ENOENT}
		}}
		refuses(t, run(d.disk(), Options{}, usual(dir, "new")[1]), fault.Exists, "already exists")
	}
}

// TestUnreadableFolderIsKept overwrites a folder with a subfolder that cannot be listed: nothing
// changes.
func TestUnreadableFolderIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	before := must(t, dir, usual(dir, "old"))
	d := &faultyDisk{fails: func(operation, path string) error {
		if operation == "list" && path == filepath.Join(dir, "train") {
			return errFault
		}
		return nil
	}}
	refuses(t, run(d.disk(), Options{Overwrite: true}, usual(dir, "new")[1]), errFault, "train")
	if after := readTree(t, dir); !maps.Equal(after, before) {
		t.Errorf("found %v, expected %v", after, before)
	}
}

// TestFailingDisks has disks that fail in special ways: the targets do not change, and the error
// says what failed.
func TestFailingDisks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		has  tree
		disk disk
		want error
		says string
		hint string
	}{
		"a run that cannot take its lock does not begin": {
			tree{}, failing(errFault, "lock"), errFault, "train: cannot be locked: ", ""},
		"an empty folder that must be moved first, as on Windows, is put back": {
			tree{"train/": ""}, (&faultyDisk{lacks: []string{"exchange"}, fails: func(operation, path string) error {
				if operation == "rename" && strings.HasSuffix(path, partialSuffix) {
					return errFault
				}
				return nil
			}}).disk(), errFault, "train: publishing it", ""},
		"a target that is open in another program, on Windows": {
			nil, failing(inUse(), "rename", "exchange"), fault.Locked, "open in another program",
			"close it there and try again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			plant(t, dir, c.has)
			if c.has == nil {
				must(t, dir, usual(dir, "old"))
			}
			before := readTree(t, dir)
			err := run(c.disk, Options{Overwrite: c.has == nil}, usual(dir, "new")[1])
			refuses(t, err, c.want, c.says)
			if after := readTree(t, dir); !maps.Equal(before, after) || c.hint != "" && fault.HintOf(err) != c.hint {
				t.Errorf("found %v and the hint %q, expected %v and %q", after, fault.HintOf(err), before, c.hint)
			}
		})
	}
}

// TestWithoutLocks makes outputs on a file system without locks: partials of other runs are kept.
func TestWithoutLocks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	foreign := (&output{real: filepath.Join(dir, "train.parquet")}).newHidden(partialSuffix)
	plant(t, dir, tree{filepath.Base(foreign): "half"})
	d := &faultyDisk{lacks: []string{"lock"}}
	if err := run(d.disk(), Options{}, usual(dir, "new")...); err != nil {
		t.Fatal(err)
	}
	if found := readTree(t, dir); found["train.parquet"] != "new" || found[filepath.Base(foreign)] != "half" {
		t.Errorf("found %v, expected the new file and the other run's", found)
	}
}

// TestFirstErrorIsRepeated writes to a file after an error: Commit repeats the first one, without
// the hidden name in the error of package os.
func TestFirstErrorIsRepeated(t *testing.T) {
	t.Parallel()
	for name, cause := range map[string]error{
		"path":        &os.PathError{Op: "write", Path: "/hidden", Err: syscall.ENOSPC},
		"link":        &os.LinkError{Op: "rename", Old: "/hidden", New: "/hidden", Err: syscall.ENOSPC},
		"system call": &os.PathError{Op: "write", Path: "/hidden", Err: os.NewSyscallError("write", syscall.ENOSPC)},
	} {
		path := filepath.Join(t.TempDir(), "out.csv")
		d := &faultyDisk{}
		s, err := prepare(d.disk(), []Target{{Path: path}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Discard()
		for _, c := range []error{cause, syscall.EIO} {
			d.fails = func(string, string) error { return c }
			_, err := s.File(0).Write([]byte("x"))
			hides := !strings.Contains(err.Error(), "hidden") && strings.HasPrefix(err.Error(), path+": writing: ")
			if !errors.Is(err, bare(c)) || !hides {
				t.Errorf("%s: found %v", name, err)
			}
		}
		d.fails = nil
		if err := s.Commit(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: found %v, expected the first error", name, err)
		}
	}
}

// TestSyncOfDevices ignores that a device has no fsync, and fails if a file has none.
func TestSyncOfDevices(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "x.csv")
	for _, c := range []struct {
		path      string
		err, want error
	}{
		{os.DevNull, syscall.EINVAL, nil}, {os.DevNull, syscall.EIO, syscall.EIO}, {file, syscall.EINVAL, syscall.EINVAL},
	} {
		err := run(failing(c.err, "sync"), Options{}, outputOf{Target{Path: c.path}, tree{"": "x"}})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: found %v, expected %v", c.path, err, c.want)
		}
	}
}
