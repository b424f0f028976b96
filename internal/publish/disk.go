package publish

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
)

// A disk makes the system calls of a Set: it performs an operation by calling effect, which sets
// the results, perhaps before an error. Tests make each call fail. An operation that a file system
// lacks fails with errors.ErrUnsupported.
type disk func(operation, path string, effect func() error) error

// system is the disk without faults of its own.
var system disk = func(_, _ string, effect func() error) error { return effect() }

// on performs an operation on a path.
func (d disk) on(operation string, effect func(path string) error, path string) error {
	return d(operation, path, func() error { return effect(path) })
}

// resultOn is on for an operation with a result.
func resultOn[T any](d disk, operation string, effect func(path string) (T, error), path string) (result T, err error) {
	err = d(operation, path, func() (err error) { result, err = effect(path); return err })
	return result, err
}

// lstat returns nil if nothing exists at path. On Windows, the first call of os.SameFile looks up
// the identity by name: lstat makes that call itself, because the file may be renamed later.
func (d disk) lstat(path string) (fs.FileInfo, error) {
	info, err := resultOn(d, "lstat", os.Lstat, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	os.SameFile(info, info)
	return info, err
}

// move renames a file or folder by one of the functions rename, renameNew, os.Link and exchange. On
// NFS, one that returns an error has still succeeded if the file is at the new path.
func (d disk) move(operation string, effect func(from, to string) error, from, to string) error {
	moved, _ := d.lstat(from)
	err := d(operation, from, func() error { return effect(from, to) })
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		if found, _ := d.lstat(to); os.SameFile(found, moved) {
			return nil
		}
	}
	return err
}

// ignoringEINTR makes a system call, and repeats it while a signal interrupts it.
func ignoringEINTR(call func() error) error {
	err := call()
	for errors.Is(err, syscall.EINTR) {
		err = call()
	}
	return err
}

func makeDir(path string) error { return os.Mkdir(path, 0o777) }

// makeEmpty makes an empty file, which may not exist.
func makeEmpty(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	return cmp.Or(err, f.Close())
}

// refusal returns a fault.Refused with its reason and a hint. The caller adds the path.
func refusal(reason, hint string) error {
	return fault.New(fault.Refused, "refused: %s", reason).WithHint("%s", hint)
}

// The errors of a target that may not be replaced, and of takeLock if another run holds the lock.
var (
	errExists = fault.New(fault.Exists, "already exists").WithHint("--overwrite replaces files, and folders of idxport")
	errLocked = fault.New(fault.Locked, "is being written by another run").WithHint("wait for the other run to end")
)

// incomplete returns the error for a file whose size is not the number of bytes written.
func incomplete(written, size int64) error {
	return fault.New(fault.IO, "incomplete: %d bytes written, %d in the file", written, size)
}

// refused are the errors of package syscall for which a target is refused, with their hints.
var refused = map[syscall.Errno]string{
	syscall.ENAMETOOLONG: "shorten the path or the name, which may have 255 bytes",
	syscall.EILSEQ:       "name it in UTF-8",
	syscall.ENOTDIR:      "choose another path: part of this one is a file, not a folder",
	syscall.ELOOP:        "choose another path: the symbolic links of this one, or of its lock, cannot be followed",
}

// failure returns err as a *fault.Error about the output at path; doing names the operation that
// failed. It returns nil if err is nil, and only adds the path if err is a *fault.Error already. Of
// the errors of package os only the cause is shown, because they quote hidden names. NotFound, as
// it is for missing inputs, and Internal become fault.IO.
func failure(path, doing string, err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok || err == nil {
		return fault.In(path, err)
	}
	number, cause := syscall.Errno(0), err
	if errors.As(err, &number) {
		cause = number
	}
	e := fault.New("", "%s: %v", doing, cause).In(path).Because(cause)
	switch hint := refused[number]; {
	case hint != "":
		e.Kind, e.Hint = fault.Refused, hint
	case errors.Is(err, fs.ErrPermission):
		e.Hint = "check the permissions of " + text.Path(filepath.Dir(path)) + " and of the folders above it"
	case slices.Contains([]fault.Kind{fault.NotFound, fault.Internal}, fault.KindOf(err)):
		e.Kind = fault.IO
	}
	return e
}
