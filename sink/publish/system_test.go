//go:build unix

package publish

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/idxport/idxport/fault"
)

// TestDirectTargetsThatFail opens what cannot be written directly, and writes to a socket that somebody listens at.
func TestDirectTargetsThatFail(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "s") // a socket's path has at most 104 bytes
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Skip(err)
	}
	if f, err := (osDisk{}).openDirect(socket); err != nil {
		t.Errorf("a socket: found %v", err)
	} else if err := f.Close(); err != nil {
		t.Error(err)
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{filepath.Join(dir, "missing"): fs.ErrNotExist, dir: syscall.EISDIR, socket: syscall.ECONNREFUSED} {
		if f, err := (osDisk{}).openDirect(path); !errors.Is(err, want) || f != nil {
			t.Errorf("%s: found %v and %v, expected %v", path, f, err, want)
		}
	}
}

// TestFolderOfADevice asks for a folder where a device is.
func TestFolderOfADevice(t *testing.T) {
	t.Parallel()
	if _, err := Prepare([]Target{{Path: os.DevNull, Folder: true}}, Options{Overwrite: true}); !errors.Is(err, fault.Refused) || !strings.Contains(err.Error(), "is a device") {
		t.Errorf("found %v, expected %v", err, fault.Refused)
	}
}

// TestMountPoints knows the root of a file system by its device where the kernel does not tell.
func TestMountPoints(t *testing.T) {
	t.Parallel()
	inside := filepath.Join(t.TempDir(), "inside")
	if err := os.Mkdir(inside, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, asked := range []func(string) (bool, error){isMountPoint, onOtherDevice} {
		if other, err := asked(inside); other || err != nil {
			t.Errorf("a new folder: found %t and %v", other, err)
		}
		if _, err := asked(filepath.Join(inside, "missing")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("found %v, expected %v", err, fs.ErrNotExist)
		}
		if other, err := asked("/proc"); runtime.GOOS == "linux" && (!other || err != nil) {
			t.Errorf("/proc: found %t and %v", other, err)
		}
	}
}

// TestClosedAndMissing asks the system for what is closed or not there: the error is told, not taken for success.
func TestClosedAndMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing")
	if err := (osDisk{}).syncDir(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("syncDir: found %v, expected %v", err, fs.ErrNotExist)
	}
	if h, err := (osDisk{}).openFolder(missing, nil); !errors.Is(err, fs.ErrNotExist) || h != nil {
		t.Errorf("openFolder: found %v and %v, expected %v", h, err, fs.ErrNotExist)
	}
	folder, err := osDisk{}.openFolder(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := folder.makeDir("0"); err != nil {
		t.Fatal(err)
	}
	if err := folder.makeDir("0"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a class that is there: found %v, expected %v", err, fs.ErrExist)
	}
	for want, write := range map[error]string{nil: "file", fs.ErrExist: "0", fs.ErrNotExist: "1/file"} {
		if err := folder.writeFile(write, []byte("x")); !errors.Is(err, want) {
			t.Errorf("%s: found %v, expected %v", write, err, want)
		}
	}
	if err := folder.Close(); err != nil {
		t.Fatal(err)
	}
	if err := folder.sync(); err == nil {
		t.Error("sync after Close: found no error")
	}
	if err := folder.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Close after Close: found %v, expected %v", err, fs.ErrClosed)
	}
}
