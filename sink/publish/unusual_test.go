package publish

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/shell"
)

// TestLongNames makes outputs with the longest names that a file system takes, and one that is a byte longer.
func TestLongNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxName+1)
	err := commitFile(filepath.Join(t.TempDir(), long), "new", Options{})
	if !errors.Is(err, fault.Refused) || !errors.Is(err, syscall.ENAMETOOLONG) || !strings.Contains(fault.HintOf(err), "256 bytes to 255") {
		t.Errorf("256 bytes: found %v, expected %v with a hint", err, fault.Refused)
	}
	for _, name := range []string{long[:207], long[:208], long[:221], long[:222], long[:maxName], "x" + strings.Repeat("ü", 127), strings.Repeat("\xff", maxName)} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		left := filepath.Join(dir, Hidden(name, hiddenInfix+"0123456789abcdef"+partialSuffix))
		other := filepath.Join(dir, Hidden(long[:maxName-1], hiddenInfix+"0123456789abcdef"+partialSuffix))
		write(t, left, "")
		write(t, other, "")
		s, err := Prepare([]Target{{Path: path, Key: oneKey}}, Options{})
		if err != nil {
			t.Errorf("%d bytes: %v", len(name), err)
			continue
		}
		if _, err := Prepare([]Target{{Path: path}}, Options{}); !errors.Is(err, fault.Locked) {
			t.Errorf("%d bytes: found %v, expected %v", len(name), err, fault.Locked)
		}
		if err := s.Commit(); err != nil {
			t.Errorf("%d bytes: %v", len(name), err)
		}
		for key, want := range map[string]bool{oneKey: true, otherKey: false} {
			if same, err := UpToDate(path, key); same != want || err != nil {
				t.Errorf("%d bytes: found %v, %v, expected %v", len(name), same, err, want)
			}
		}
		if found := readTree(t, dir); len(found) != 3 { // the output, its marker, and what the run with another name left
			t.Errorf("%d bytes: found %v", len(name), found)
		}
	}
}

// TestHidden: what is short has the names that it always had, and what is long is told apart.
func TestHidden(t *testing.T) {
	t.Parallel()
	const tail = ".idxport-0123456789abcdef-0123456789abcdef.made"
	short := strings.Repeat("x", maxName-1-len(tail))
	if found := Hidden(short, tail); found != "."+short+tail {
		t.Errorf("found %q", found)
	}
	seen := map[string]bool{}
	for _, base := range []string{short + "a", short + "b", short + "ü", strings.Repeat("x", 63) + strings.Repeat("ü", 96), strings.Repeat("\x80", maxName)} {
		name := Hidden(base, tail)
		if seen[name] || len(name) > maxName || utf8.ValidString(base) && !utf8.ValidString(name) || !strings.HasSuffix(name, tail) {
			t.Errorf("%q: found %q, of %d bytes", base, name, len(name))
		}
		seen[name] = true
	}
}

// TestHintNamesAFolder: the nearest one that is there, as a word of a shell.
func TestHintNamesAFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a b")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"x.csv", "none/x.csv", "none/nor/this/x.csv"} {
		e := Failure(filepath.Join(dir, path), "writing", fs.ErrPermission)
		if want := "check who may write in " + shell.Path(dir); fault.HintOf(e) != want {
			t.Errorf("%s: found the hint %q, expected %q", path, fault.HintOf(e), want)
		}
	}
	if e := Failure("none/nor/this/x.csv", "writing", fs.ErrPermission); fault.HintOf(e) != "check who may write in ." {
		t.Errorf("found the hint %q, expected the working folder", fault.HintOf(e))
	}
}

// TestMissingInputs makes an output while an input is not there: it is no reason to refuse one.
func TestMissingInputs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "out"), "old")
	if err := commitFile(path, "new", Options{Overwrite: true, Inputs: []string{filepath.Join(dir, "gone", "in"), "-"}}); err != nil {
		t.Fatal(err)
	}
	if found := readTree(t, dir); found["out"] != "new" {
		t.Errorf("found %v, expected the new file", found)
	}
}

// TestManyLinks follows 45 links, more than Linux does, to a name that is free.
func TestManyLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 45 {
		symlink(t, fmt.Sprint(i), filepath.Join(dir, fmt.Sprint(i+1)))
	}
	before := readTree(t, dir)
	if err := commitFile(filepath.Join(dir, "45"), "new", Options{}); !errors.Is(err, fault.Refused) || !strings.Contains(err.Error(), "links") {
		t.Errorf("found %v, expected %v for the links", err, fault.Refused)
	}
	if after := readTree(t, dir); len(after) != len(before) {
		t.Errorf("found %v, expected the links alone", after)
	}
	if err := commitFile(filepath.Join(dir, "20"), "new", Options{}); err != nil {
		t.Errorf("20 links: found %v", err)
	}
	if found := readTree(t, dir); found["0"] != "new" {
		t.Errorf("20 links: found %v, expected the file at their end", found)
	}
}

// TestOneLockForTwo has two targets whose lock files are one, as names are that differ in case alone where case is ignored.
func TestOneLockForTwo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := place{path: filepath.Join(dir, "a")}.beside(lockSuffix)
	write(t, first, "")
	if err := os.Link(first, place{path: filepath.Join(dir, "b")}.beside(lockSuffix)); err != nil {
		t.Skip(err)
	}
	_, err := Prepare([]Target{{Path: filepath.Join(dir, "a")}, {Path: filepath.Join(dir, "b")}}, Options{})
	if !errors.Is(err, fault.Refused) || !strings.Contains(err.Error(), "is the same output as "+filepath.Join(dir, "a")) {
		t.Errorf("found %v, expected that they are the same output", err)
	}
}

// TestWithoutLocks makes outputs where the file system has no locks: what another run may be writing is left alone.
func TestWithoutLocks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	theirs := place{path: filepath.Join(dir, "train.parquet")}.hidden(partialSuffix)
	write(t, theirs, "half")
	if err := makeOutputs((&faultyDisk{lacks: []string{"lock"}}).disk(), dir, "new", Options{}); err != nil {
		t.Fatal(err)
	}
	found := readTree(t, dir)
	if found["train.parquet"] != "new" || found[filepath.Base(theirs)] != "half" {
		t.Errorf("found %v, expected the new file and the other run's", found)
	}
}

// TestLockThatFails: a run that cannot know whether it is alone does not begin.
func TestLockThatFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "train.parquet")
	_, err := prepare(failing(errFault, "lock"), []Target{{Path: path}}, Options{})
	if !errors.Is(err, errFault) || !strings.HasPrefix(err.Error(), path+": locking it") {
		t.Errorf("found the error %v, expected that locking failed", err)
	}
	if left := readTree(t, dir); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// TestEmptyFolderIsPutBack has an empty folder in the output's place that must be removed first, as on Windows, and then a move that fails.
func TestEmptyFolderIsPutBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	emptyFolder(t, dir)
	s, err := prepare(failing(errFault, "rename", "renameNew"), []Target{{Path: filepath.Join(dir, "train"), Folder: true}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Discard()
	if err := stream(s.Folder(0), "", "metadata.csv", "new"); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(); !errors.Is(err, errFault) {
		t.Errorf("found the error %v, expected that of the move", err)
	}
	s.Discard()
	if left := readTree(t, dir); !maps.Equal(left, tree{"train/": ""}) {
		t.Errorf("left %v, expected the empty folder", left)
	}
}

// TestEndedFolder asks a folder for more after Discard.
func TestEndedFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Prepare([]Target{{Path: filepath.Join(dir, "train"), Folder: true}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	open, err := s.Folder(0).Class("0")
	if err != nil {
		t.Fatal(err)
	}
	s.Discard()
	if _, err := s.Folder(0).Class("1"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a new class: found %v, expected %v", err, fs.ErrClosed)
	}
	if err := open.WriteFile("00001.png", nil); err == nil {
		t.Error("a file was written")
	}
	if _, err := open.Create("00001.csv"); err == nil {
		t.Error("a file was made")
	}
	if err := s.Complete(); !errors.Is(err, errEnded) {
		t.Errorf("Complete: found %v, expected %v", err, errEnded)
	}
	if left := readTree(t, dir); len(left) > 0 {
		t.Errorf("found %v, expected nothing", left)
	}
}

// TestFirstErrorStays writes to a file after it has failed: Commit repeats the first error, without the hidden name that os puts around it.
func TestFirstErrorStays(t *testing.T) {
	t.Parallel()
	for name, cause := range map[string]error{
		"path":        &fs.PathError{Op: "write", Path: "/hidden", Err: syscall.ENOSPC},
		"link":        &os.LinkError{Op: "rename", Old: "/hidden", New: "/hidden", Err: syscall.ENOSPC},
		"system call": &fs.PathError{Op: "write", Path: "/hidden", Err: os.NewSyscallError("write", syscall.ENOSPC)},
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
			if !errors.Is(err, bare(c)) || strings.Contains(err.Error(), "hidden") || !strings.HasPrefix(err.Error(), path+": writing: ") {
				t.Errorf("%s: found %v", name, err)
			}
		}
		d.fails = nil
		if err := s.Commit(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: found %v, expected the first error", name, err)
		}
	}
}

// TestSyncOfDevices: a device has no fsync, a file that fails to is lost.
func TestSyncOfDevices(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "x.csv")
	for _, c := range []struct {
		path      string
		err, want error
	}{
		{os.DevNull, syscall.EINVAL, nil}, {os.DevNull, syscall.EIO, syscall.EIO}, {file, syscall.EINVAL, syscall.EINVAL},
	} {
		s, err := prepare(failing(c.err, "sync"), []Target{{Path: c.path}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Discard()
		if err := s.Commit(); !errors.Is(err, c.want) {
			t.Errorf("%s: found %v, expected %v", c.path, err, c.want)
		}
	}
}

// TestDamagedManifests refuses manifests that were not written by idxport, or are damaged: a folder is replaced only on the word of a whole one.
func TestDamagedManifests(t *testing.T) {
	t.Parallel()
	sum := strings.Repeat("0", 64)
	manifest := func(version int, content string) string {
		return fmt.Sprintf(`{"format":"idxport-folder","version":%d,"files":0,"bytes":0,"content":%q,"classes":{}}`, version, content)
	}
	if _, err := ManifestMark.manifestIn([]byte(manifest(2, sum))); err != nil {
		t.Errorf("found %v, expected a manifest", err)
	}
	for name, text := range map[string]string{
		"hash of 31 bytes": manifest(2, sum[2:]), "no hexadecimal hash": manifest(2, sum[1:]+"x"), "version 0": manifest(0, sum), "version 3": manifest(3, sum),
		"other format": strings.Replace(manifest(2, sum), "idxport", "other", 1), "cut": manifest(2, sum)[:60], "empty": "",
	} {
		if _, err := ManifestMark.manifestIn([]byte(text)); err == nil {
			t.Errorf("%s: it was taken", name)
		}
		if _, err := CardMark.manifestIn([]byte("# x\n" + cardBegin + text + cardEnd)); err == nil {
			t.Errorf("%s: it was taken of a card", name)
		}
	}
}

// TestFingerprintFails takes the fingerprint of what is not there, and of a folder with a link to nothing.
func TestFingerprintFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := Fingerprint(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("found %v, expected %v", err, fs.ErrNotExist)
	}
	symlink(t, "nothing", filepath.Join(dir, "link"))
	if _, err := Fingerprint(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a link to nothing: found %v, expected %v", err, fs.ErrNotExist)
	}
}

// TestOpenElsewhere replaces what another program has open, as Windows' rename says: the old output stays, and the error says what to do.
func TestOpenElsewhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := mustMake(t, dir, "old", Options{})
	d := &faultyDisk{lacks: []string{"exchange"}, fails: func(operation, path string) error {
		if operation == "rename" {
			return inUse()
		}
		return nil
	}}
	err := makeOutputs(d.disk(), dir, "new", Options{Overwrite: true})
	if !errors.Is(err, fault.Locked) || fault.HintOf(err) != "close it there and try again" {
		t.Errorf("found %v, expected fault.Locked with a hint", err)
	}
	if got := readTree(t, dir); !maps.Equal(got, old) {
		t.Errorf("found %v, expected %v", got, old)
	}
}
