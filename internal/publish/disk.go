package publish

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
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
	if err != nil {
		return err
	}
	return f.Close()
}
