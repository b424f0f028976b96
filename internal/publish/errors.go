package publish

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
)

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
	cause := bare(err)
	e := fault.New("", "%s: %v", doing, cause).In(path).Because(cause)
	number, _ := errors.AsType[syscall.Errno](cause)
	kind := fault.KindOf(err)
	switch hint := refused[number]; {
	case hint != "":
		e.Kind, e.Hint = fault.Refused, hint
	case errors.Is(err, fs.ErrPermission):
		e.Hint = "check the permissions of " + text.Path(filepath.Dir(path)) + " and of the folders above it"
	case kind == fault.NotFound, kind == fault.Internal:
		e.Kind = fault.IO
	}
	return e
}

// bare returns the error of a system call in the chain of err, without the operation and the path.
func bare(err error) error {
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number
	}
	return err
}
