package fault

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"runtime"
	"syscall"
)

// A Kind classifies an error. It is an error itself so that errors.Is(err, fault.Truncated) works;
// its text is the message of an [Error] that has no other.
type Kind string

// The kinds. An Error with the Kind "" has the kind of its Err.
const (
	Usage       Kind = "wrong usage"               // the request itself cannot be carried out
	Malformed   Kind = "malformed input"           // the input breaks the rules of its format, or its parts do not fit
	Truncated   Kind = "truncated input"           // the input ends too early
	Unsupported Kind = "unsupported input"         // valid, but no table of IDX columns, or needs a missing feature
	NotFound    Kind = "not found"                 // there is no such input
	Exists      Kind = "already exists"            // the output exists and may not be replaced
	Refused     Kind = "refused"                   // the output cannot be made here, or would destroy something else
	Changed     Kind = "changed while it was read" // an input changed
	IO          Kind = "input or output failed"    // reading or writing failed
	Locked      Kind = "locked"                    // another process is writing the output
	Permission  Kind = "permission denied"         // the user may not do this
	Internal    Kind = "internal error"            // a defect of idxport
	Canceled    Kind = "canceled"                  // the caller ended the work
	PipeClosed  Kind = "the pipe is closed"        // by its reader
	Differs     Kind = "differs"                   // two things that should be equal are not
)

// Error returns the text of the kind.
func (k Kind) Error() string { return string(k) }

// KindOf returns the kind of the outermost [Error] in the chain of err that has one, or else the
// kind of the operating system's error in the chain, [Internal] for any other, and "" for nil.
func KindOf(err error) (kind Kind) {
	for _, e := range All(err) {
		kind = cmp.Or(kind, e.Kind)
	}
	bare, _ := errors.AsType[Kind](err)
	code, isCall := errors.AsType[syscall.Errno](err)
	_, isPath := errors.AsType[*fs.PathError](err)
	switch kind = cmp.Or(kind, bare); {
	case kind != "", err == nil:
		return kind
	case errors.Is(err, context.Canceled):
		return Canceled
	case errors.Is(err, syscall.EPIPE),
		// The codes of Windows: ERROR_BROKEN_PIPE, ERROR_NO_DATA, ERROR_PIPE_NOT_CONNECTED.
		runtime.GOOS == "windows" && (code == 109 || code == 232 || code == 233):
		return PipeClosed
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return Permission
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ELOOP),
		errors.Is(err, syscall.ENAMETOOLONG), runtime.GOOS == "windows" && code == 123: // ERROR_INVALID_NAME
		return NotFound
	case isCall, isPath, errors.Is(err, io.ErrShortWrite):
		return IO
	}
	return Internal
}
