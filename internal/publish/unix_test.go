//go:build unix

package publish

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/test/must"
)

// TestSupported has the errors by which file systems say that they lack a call.
func TestSupported(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]error{unix.EINVAL: errors.ErrUnsupported, unix.ENOLCK: errors.ErrUnsupported,
		unix.ENOSYS: errors.ErrUnsupported, unix.EIO: unix.EIO} {
		if got := supported(err); got != want {
			t.Errorf("%v: found %v, expected %v", err, got, want)
		}
	}
	_, err := Scratch(t.TempDir() + "/missing") // as TMPDIR may be: no input is missing
	if exists := makeEmpty(t.TempDir()); !errors.Is(exists, fs.ErrExist) || fault.KindOf(err) != fault.IO ||
		!strings.Contains(err.Error(), "/missing/.idxport-scratch: ") { // a hint is about the folder of the path
		t.Errorf("found %v and %v, expected that one exists, and fault.IO", exists, err)
	}
}

func TestModesFollowTheUmask(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plant(t, dir, tree{"plain": ""}) // with the mode of any new file
	published(t, dir, usual(dir, "new"))
	want := must.Get(os.Stat(dir + "/plain"))(t)
	for _, name := range []string{"train.parquet", "train/0/00001.png", "train/metadata.csv"} {
		if got, err := os.Stat(filepath.Join(dir, name)); err != nil || got.Mode() != want.Mode() {
			t.Errorf("%s: %v, %v, want %v", name, got.Mode(), err, want.Mode())
		}
	}
}

// TestReplacedModes pins that an output has the permissions of the file or folder that it replaces,
// and its partial never more.
func TestReplacedModes(t *testing.T) {
	t.Parallel()
	over := Options{Overwrite: true}
	for _, c := range []struct {
		name      string
		folder    bool
		old, want fs.FileMode
		o         Options
	}{
		{"a private file", false, 0o600, 0o600, over},
		{"a file that nobody may write", false, 0o444, 0o444, over},
		{"a file with more than the umask leaves", false, 0o666, 0o666, over},
		{"a program", false, 0o750, 0o750, over},
		{"a private folder", true, 0o700, 0o700, over},
		{"a folder with more than the umask leaves", true, 0o777, 0o777, over},
		{"a folder of a group", true, 0o770 | fs.ModeSetgid, 0o770 | fs.ModeSetgid, over},
		{"a folder that nobody may write", true, 0o555, 0o755, over}, // else its owner could not fill it
		{"an empty folder", true, 0o700, 0o700, Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			target := Target{Path: t.TempDir() + "/x", Folder: c.folder, Kind: Parts}
			if c.o.Overwrite {
				published(t, filepath.Dir(target.Path), []outputOf{{Target: target}})
			} else {
				plant(t, target.Path, tree{"./": ""})
			}
			must.Do(t, os.Chmod(target.Path, c.old))
			s := must.Get(Prepare([]Target{target}, c.o))(t)
			defer s.Discard()
			if got, err := os.Stat(s.Partial(0)); err != nil || got.Mode()&^fs.ModeType != c.want {
				t.Errorf("the partial has %v, %v, expected %v", got.Mode(), err, c.want)
			}
			must.Do(t, s.Commit())
			if got, err := os.Stat(target.Path); err != nil || got.Mode()&^fs.ModeType != c.want {
				t.Errorf("found %v, %v, expected %v", got.Mode(), err, c.want)
			}
		})
	}
}

func TestDirectTargets(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]error{"/dev/null": nil, "/dev/full": syscall.ENOSPC} {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if err := commitFile(path, "x", Options{}); !errors.Is(err, want) {
			t.Errorf("%s: found %v, expected %v", path, err, want)
		}
		if info, err := os.Stat(path); err != nil || info.Mode()&fs.ModeCharDevice == 0 {
			t.Errorf("%s is now %v, %v", path, info, err)
		}
	}
}

func TestFIFO(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/fifo"
	if err := unix.Mkfifo(path, 0o666); err != nil {
		t.Skip(err)
	}
	before := must.Get(os.Stat(path))(t)
	read := make(chan string)
	go func() {
		content, _ := os.ReadFile(path) // an error is no "hello"
		read <- string(content)
	}()
	must.Do(t, commitFile(path, "hello", Options{}))
	if got := <-read; got != "hello" || !os.SameFile(before, must.Get(os.Stat(path))(t)) {
		t.Errorf("the reader got %q, or it was replaced", got)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("left %v", entries)
	}
}

// TestDiscardDoesNotWait pins that a FIFO without a reader, which blocks Write for ever, does not
// block Discard, which removes the other output.
func TestDiscardDoesNotWait(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := unix.Mkfifo(dir+"/fifo", 0o666); err != nil {
		t.Skip(err)
	}
	s := must.Get(Prepare([]Target{{Path: dir + "/fifo"}, {Path: dir + "/x.csv"}}, Options{}))(t)
	wrote := make(chan error)
	go func() {
		_, err := s.File(0).Write([]byte("x"))
		wrote <- err
	}()
	select {
	case err := <-wrote:
		t.Fatalf("Write did not block: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	s.Discard()
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left %v", entries)
	}
	reader := must.Get(os.Open(dir + "/fifo"))(t) // lets the Write go
	defer reader.Close()
	if err := <-wrote; !errors.Is(err, fs.ErrClosed) {
		t.Errorf("the stuck Write: %v", err)
	}
}
