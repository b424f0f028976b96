//go:build unix

package publish

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
)

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
	if err := syncDir(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("syncDir: found %v, expected %v", err, fs.ErrNotExist)
	}
	if f, err := openFolder(disk{}, Target{}, missing, nil); !errors.Is(err, fs.ErrNotExist) || f.close() != nil {
		t.Errorf("openFolder: found %v, expected %v", err, fs.ErrNotExist)
	}
	folder, err := openFolder(disk{}, Target{}, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "0"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Class("0"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a class that is there: found %v, expected %v", err, fs.ErrExist)
	}
	for want, write := range map[error]string{nil: "file", fs.ErrExist: "0", fs.ErrNotExist: "1/file"} {
		if err := folder.writeFile(write, []byte("x")); !errors.Is(err, want) {
			t.Errorf("%s: found %v, expected %v", write, err, want)
		}
	}
	if err := folder.close(); err != nil {
		t.Fatal(err)
	}
	if err := folder.finish(); err == nil {
		t.Error("finish after close: found no error")
	}
}
