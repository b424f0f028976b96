package publish

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/test/must"
)

// TestEveryFault fails each operation of a run in turn. Whatever happens, each output is wholly old
// or wholly new, success is reported only if all are new, and then the same run without faults
// makes all new and sweeps everything hidden.
func TestEveryFault(t *testing.T) {
	t.Parallel()
	modes := map[faultMode]string{faultBefore: "before", faultAfter: "after", faultCrash: "crash"}
	noExchange := []string{"exchange", "renameNew", "link"}
	nothing := func(*testing.T, string) {}
	oldUsual := func(t *testing.T, dir string) { published(t, dir, usual(dir, "old")) }
	oldMarked := func(t *testing.T, dir string) { published(t, dir, marked(dir, "old")) }
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
			published(t, dir, usual(dir, "new"))
			must.Do(t, os.RemoveAll(filepath.Join(dir, "train")))
		}},
		{name: "completing a killed run, a folder", made: usual, old: func(t *testing.T, dir string) {
			published(t, dir, usual(dir, "new"))
			must.Do(t, os.Remove(filepath.Join(dir, "train.parquet")))
		}},
		{name: "new parts", made: marked, old: nothing},
		{name: "overwrite parts", made: marked, old: oldMarked, overwrite: true},
		{name: "overwrite parts without exchange", made: marked, old: oldMarked, overwrite: true, lacks: noExchange},
	} {
		if runtime.GOOS == "windows" && c.lacks == nil { // it has neither
			c.lacks = noExchange[:2]
		}
		for mode, modeName := range modes {
			t.Run(c.name+"/"+modeName, func(t *testing.T) {
				t.Parallel()
				clean := t.TempDir()
				want := published(t, clean, c.made(clean, "new"))
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
	err := run(d.do, o, made...)
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
	case "unlink", "removeAll", "remove", "lock": // deleting failed
	case "syncDir": // after a power failure what was replaced may be the target again
		if left := got.hidden(); len(left) == 0 && len(old) > 0 && o.Overwrite {
			t.Errorf("%s: the old folder is gone", operation)
		}
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
	old := published(t, dir, usual(dir, "old"))
	aside := filepath.Join(dir, ".train.idxport-0123456789abcdef.old")
	must.Do(t, os.Rename(filepath.Join(dir, "train"), aside))
	s := must.Get(Prepare([]Target{{Path: filepath.Join(dir, "train"), Folder: true}}, Options{Overwrite: true}))(t)
	s.Discard()
	holds(t, dir, old)
}

// TestLateForeignFile pins that a file which is put into the old folder after the last check, and
// before the folder is replaced, is not deleted with it. If the folder cannot be moved back, it is
// kept, whole, where the error says.
func TestLateForeignFile(t *testing.T) {
	t.Parallel()
	for _, made := range slices.Concat(usual("", "")[1:], marked("", "")) {
		for name, lacks := range map[string][]string{"exchange": nil, "two renames": {"exchange"}} {
			for _, stuck := range []bool{false, true} {
				t.Run(fmt.Sprint(made.Path, "/", name, "/", stuck), func(t *testing.T) {
					t.Parallel()
					if runtime.GOOS == "windows" {
						lacks = []string{"exchange"}
					}
					made := made
					made.Path = filepath.Join(must.Get(filepath.EvalSymlinks(t.TempDir()))(t), made.Path)
					must.Do(t, run(quick(), Options{}, made))
					old, moves := readTree(t, made.Path), 0
					old["mine.txt"] = "mine"
					d := &faultyDisk{lacks: lacks}
					d.fails = func(operation, path string) error {
						switch {
						case operation != "exchange" && (operation != "rename" || moves == 0 && path != made.Path):
						case moves == 0:
							moves++
							return os.WriteFile(filepath.Join(made.Path, "mine.txt"), []byte("mine"), 0o666)
						case stuck:
							return errFault
						}
						return nil
					}
					err := run(d.do, Options{Overwrite: true}, made)
					place, says := made.Path, ""
					if stuck {
						says = "could not be put back and is now "
						_, place, _ = strings.Cut(fmt.Sprint(err), says)
						place, _, _ = strings.Cut(place, ": ")
					}
					refuses(t, err, fault.Refused, says)
					holds(t, place, old)
					if left := readTree(t, filepath.Dir(made.Path)).hidden(); !stuck && len(left) > 0 {
						t.Errorf("found %v, expected no hidden files", left)
					}
				})
			}
		}
	}
}

// TestNothingChanges has disks that fail while folders and the file beside them are to be replaced.
func TestNothingChanges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		operation string
		err, want error
		says      string
	}{
		"the lock cannot be taken":     {"lock", errFault, errFault, "cannot be created: "},
		"the folder cannot be listed":  {"list", errFault, errFault, "train: "},
		"the file is not durable":      {"sync", syscall.EIO, syscall.EIO, "completing it: "},
		"a lower layer of overlayfs":   {"exchange", syscall.EXDEV, fault.Refused, "cannot be renamed"}, // before files
		"the folder is a mount point":  {"exchange", syscall.EBUSY, fault.Refused, "cannot be renamed"},
		"a file comes after Prepare":   {"sync", nil, fault.Refused, "files in it were added"},
		"no permission for the folder": {"create", syscall.EACCES, fs.ErrPermission, "permission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			before := published(t, dir, append(usual(dir, "old"), marked(dir, "old")...))
			d := &faultyDisk{fails: func(operation, _ string) error {
				if operation != c.operation {
					return nil
				} else if c.err == nil {
					before["train/mine"] = ""
					plant(t, dir, tree{"train/mine": ""}) // in the last folder
				}
				return c.err
			}}
			made := append(usual(dir, "newer"), marked(dir, "newer")...)
			refuses(t, run(d.do, Options{Overwrite: true}, made...), c.want, c.says)
			holds(t, dir, before)
		})
	}
}

// TestWithoutLocks makes outputs on a file system without locks: partials of other runs are kept.
// The names of new folders are durable.
func TestWithoutLocks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	foreign := (&output{real: filepath.Join(dir, "train.parquet")}).newHidden(partialSuffix)
	plant(t, dir, tree{filepath.Base(foreign): "half"})
	d, synced := &faultyDisk{lacks: []string{"lock"}}, ""
	d.fails = func(operation, path string) error {
		if operation == "syncDir" {
			synced += filepath.Base(path) + " "
		}
		return nil
	}
	must.Do(t, run(d.do, Options{}, append(usual(dir, "new"), usual(dir+"/a/b", "new")...)...))
	if found := readTree(t, dir); found["train.parquet"] != "new" || found[filepath.Base(foreign)] != "half" {
		t.Errorf("found %v, expected the new file and the other run's", found)
	}
	if want := filepath.Base(dir) + " a b "; synced != want {
		t.Errorf("found the names in the folders %s durable, expected %s", synced, want)
	}
}

// TestMadeMeanwhile has another program make the target, and its folder, just before the run does.
func TestMadeMeanwhile(t *testing.T) {
	t.Parallel()
	for _, lacks := range []string{"", "renameNew", "renameNew link"} {
		dir, d := t.TempDir(), &faultyDisk{}
		d.fails = func(operation, _ string) error {
			plant(t, dir, map[string]tree{"makeDir": {"d/": ""}, "renameNew": {"d/x": "mine"}}[operation])
			if slices.Contains(strings.Fields(lacks), operation) {
				return errors.ErrUnsupported
			}
			return nil
		}
		made := outputOf{Target{Path: filepath.Join(dir, "d/x")}, tree{"": "new"}}
		refuses(t, run(d.do, Options{}, made), fault.Exists, "already exists")
		holds(t, dir, tree{"d/": "", "d/x": "mine"})
	}
}

// TestFirstErrorIsRepeated writes to a file after an error: Commit repeats the first one, without
// the hidden name in the error of package os.
func TestFirstErrorIsRepeated(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out.csv")
	d := &faultyDisk{}
	s := must.Get(prepare(d.do, []Target{{Path: path}}, Options{}))(t)
	defer s.Discard()
	for _, cause := range []error{syscall.ENOSPC, syscall.EIO} {
		d.fails = func(string, string) error { return &os.PathError{Op: "write", Path: "/hidden", Err: cause} }
		_, err := s.File(0).Write([]byte("x"))
		if want := path + ": writing: " + cause.Error(); err == nil || err.Error() != want || !errors.Is(err, cause) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
	d.fails = nil
	if err := s.Commit(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("found %v, expected the first error", err)
	}
}
