//go:build unix

package publish

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/idxport/idxport/fault"
)

func TestModesFollowTheUmask(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain, err := os.OpenFile(dir+"/plain", os.O_CREATE|os.O_WRONLY, 0o666) // what any other program would make
	if err != nil {
		t.Fatal(err)
	}
	plain.Close()
	mustMake(t, dir, "new", Options{})
	want, err := os.Stat(dir + "/plain")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"train.parquet", "train/0/00001.png", "train/_manifest.json"} {
		if got, err := os.Stat(filepath.Join(dir, name)); err != nil || got.Mode() != want.Mode() {
			t.Errorf("%s: %v, %v, want %v", name, got.Mode(), err, want.Mode())
		}
	}
}

// TestReplacedModes: an output has the permissions of what it replaces, and its partial never more than these.
func TestReplacedModes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		folder    bool
		old, want fs.FileMode
		o         Options
	}{
		{"a private file", false, 0o600, 0o600, Options{Overwrite: true}},
		{"a file that nobody may write", false, 0o444, 0o444, Options{Overwrite: true}},
		{"a file with more than the umask leaves", false, 0o666, 0o666, Options{Overwrite: true}},
		{"a program", false, 0o750, 0o750, Options{Overwrite: true}},
		{"a private folder", true, 0o700, 0o700, Options{Overwrite: true}},
		{"a folder with more than the umask leaves", true, 0o777, 0o777, Options{Overwrite: true}},
		{"a folder of a group", true, 0o770 | fs.ModeSetgid, 0o770 | fs.ModeSetgid, Options{Overwrite: true}},
		{"a folder that nobody may write", true, 0o555, 0o755, Options{Overwrite: true}}, // else its owner could not fill it
		{"an empty folder", true, 0o700, 0o700, Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			target := Target{Path: t.TempDir() + "/x", Folder: c.folder, Mark: PartsMark}
			run := func(o Options) fs.FileMode {
				s, err := Prepare([]Target{target}, o)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Discard()
				partial, err := os.Stat(s.Partial(0))
				if err != nil {
					t.Fatal(err)
				}
				if !c.folder {
					_, err = s.File(0).Write([]byte("x"))
				}
				if err = errors.Join(err, s.Commit()); err != nil {
					t.Fatal(err)
				}
				return partial.Mode() &^ fs.ModeType
			}
			if c.o.Overwrite {
				run(Options{})
			} else if err := os.Mkdir(target.Path, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(target.Path, c.old); err != nil {
				t.Fatal(err)
			}
			if got := run(c.o); got != c.want {
				t.Errorf("the partial has %v, expected %v", got, c.want)
			}
			if got, err := os.Stat(target.Path); err != nil || got.Mode()&^fs.ModeType != c.want {
				t.Errorf("found %v, %v, expected %v", got.Mode(), err, c.want)
			}
		})
	}
}

func TestDirectTargets(t *testing.T) {
	t.Parallel()
	t.Run("fifo", func(t *testing.T) {
		t.Parallel()
		path := t.TempDir() + "/fifo"
		if err := unix.Mkfifo(path, 0o666); err != nil {
			t.Skip(err)
		}
		read := make(chan string)
		go func() {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Error(err)
			}
			read <- string(content)
		}()
		checkDirect(t, path, read)
	})
	t.Run("socket", func(t *testing.T) {
		t.Parallel()
		dir, err := os.MkdirTemp("", "s") // a socket's name is at most 104 bytes
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		listener, err := net.Listen("unix", dir+"/socket")
		if err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { listener.Close() })
		if err := commitFile(dir+"/socket", "x", Options{Overwrite: true}); !errors.Is(err, fault.Refused) || !strings.Contains(err.Error(), "is a socket") {
			t.Errorf("found %v, expected a refusal", err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Errorf("found %v, %v, expected the socket alone", left, err)
		}
	})
	t.Run("device", func(t *testing.T) {
		t.Parallel()
		if err := commitFile("/dev/null", "gone", Options{}); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat("/dev/null"); err != nil || info.Mode()&fs.ModeCharDevice == 0 {
			t.Errorf("/dev/null is now %v, %v", info, err)
		}
	})
	t.Run("full device", func(t *testing.T) {
		t.Parallel()
		if _, err := os.Stat("/dev/full"); err != nil {
			t.Skip(err)
		}
		if err := commitFile("/dev/full", "x", Options{}); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("got %v, want ENOSPC", err)
		}
	})
}

// checkDirect writes to path and looks that the reader got it, that path is what it was and nothing lies beside it.
func checkDirect(t *testing.T, path string, read <-chan string) {
	t.Helper()
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := commitFile(path, "hello", Options{}); err != nil {
		t.Error(err)
	}
	if got := <-read; got != "hello" {
		t.Errorf("the reader got %q", got)
	}
	after, err := os.Stat(path)
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("it was replaced: %v", err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("left %v", entries)
	}
}

// TestDiscardDoesNotWait: a FIFO without a reader blocks Write for ever, but not Discard, which removes the other output.
func TestDiscardDoesNotWait(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := unix.Mkfifo(dir+"/fifo", 0o666); err != nil {
		t.Skip(err)
	}
	s, err := Prepare([]Target{{Path: dir + "/fifo"}, {Path: dir + "/x.csv"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
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
	reader, err := os.Open(dir + "/fifo") // lets the Write go
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := <-wrote; !errors.Is(err, fs.ErrClosed) {
		t.Errorf("the stuck Write: %v", err)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may write anywhere")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o777) })
	if err := commitFile(dir+"/x.csv", "x", Options{}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v, want a lack of permission", err)
	}
}
