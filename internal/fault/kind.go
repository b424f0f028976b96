package fault

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"runtime"
	"syscall"
)

// A Kind classifies an error. It is an error itself so that errors.Is(err, fault.Truncated) works.
type Kind uint8

// The kinds. An Error with the zero Kind has the kind of its Err.
const (
	_           Kind = iota
	Usage            // the request itself cannot be carried out
	Malformed        // the input breaks the rules of its format, or its parts do not fit each other
	Truncated        // the input ends too early
	Unsupported      // the input is valid, but is no table of IDX columns or needs a missing feature
	NotFound         // there is no such input
	Exists           // the output exists and may not be replaced
	Refused          // the output cannot be made at this place, or would destroy something else
	Changed          // an input changed while it was read
	IO               // reading or writing failed
	Locked           // another process is writing the output
	Permission       // the user may not do this
	Internal         // a defect of idxport
	Canceled         // the caller ended the work
	PipeClosed       // the reader of a pipe has closed it
	Differs          // two things that should be equal are not
)

var kindNames = [...]string{
	Usage:       "wrong usage",
	Malformed:   "malformed input",
	Truncated:   "truncated input",
	Unsupported: "unsupported input",
	NotFound:    "not found",
	Exists:      "already exists",
	Refused:     "refused",
	Changed:     "changed while it was read",
	IO:          "input or output failed",
	Locked:      "locked",
	Permission:  "permission denied",
	Internal:    "internal error",
	Canceled:    "canceled",
	PipeClosed:  "the pipe is closed",
	Differs:     "differs",
}

// Error returns the name of the kind.
func (k Kind) Error() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return "unknown kind of error"
}

// KindOf returns the kind of the outermost [Error] in the chain of err that has one, or else the
// kind of the operating system's error in the chain. It returns [Internal] for any other error, and
// 0 for nil.
func KindOf(err error) Kind {
	if err == nil {
		return 0
	}
	for e := range All(err) {
		if e.Kind != 0 {
			return e.Kind
		}
	}
	var kind Kind
	var call syscall.Errno
	var path *fs.PathError
	switch {
	case errors.As(err, &kind):
		return kind
	case errors.Is(err, context.Canceled):
		return Canceled
	case isPipeClosed(err):
		return PipeClosed
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return Permission
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR),
		errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENAMETOOLONG):
		return NotFound
	case errors.As(err, &call), errors.As(err, &path), errors.Is(err, io.ErrShortWrite):
		return IO
	}
	return Internal
}

// isPipeClosed reports whether err comes from a write to a pipe whose reader has closed it. Windows
// has three error codes for this, and EPIPE is not among them.
func isPipeClosed(err error) bool {
	if runtime.GOOS == "windows" { // ERROR_BROKEN_PIPE, ERROR_NO_DATA, ERROR_PIPE_NOT_CONNECTED
		return errors.Is(err, syscall.Errno(109)) || errors.Is(err, syscall.Errno(232)) || errors.Is(err, syscall.Errno(233))
	}
	return errors.Is(err, syscall.EPIPE)
}
