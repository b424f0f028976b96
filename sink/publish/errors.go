package publish

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// The kinds of failure that are not a file system's own; test for them with errors.Is.
var (
	// ErrExists: the target exists, Overwrite is off, and the target differs from what the run made (or every target exists).
	ErrExists = errors.New("already exists")
	// ErrLocked: another run is writing the same target.
	ErrLocked = errors.New("is being written by another run")
	// ErrRefused: writing to the target would destroy something that is not an earlier output.
	ErrRefused = errors.New("refused")
	// ErrNoParent: the folder that should hold the target does not exist, or is no folder.
	ErrNoParent = errors.New("there is no folder to hold it")
	// ErrIncomplete: what the file system holds is not what was written.
	ErrIncomplete = errors.New("incomplete")
)

// An Error says which output failed, and why. It wraps one of the sentinels above or the file system's error, whose identity
// (ENOSPC, fs.ErrPermission and so on) is kept.
type Error struct {
	Path   string // as the caller spelled it
	Reason string // what was found; may be empty
	Err    error
	hint   string
}

// Error is the message, without the hint.
func (e *Error) Error() string {
	if e.Reason == "" {
		return e.Path + ": " + e.Err.Error()
	}
	return e.Path + ": " + e.Err.Error() + ": " + e.Reason
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Hint says what the user can do about it; it may be empty.
func (e *Error) Hint() string {
	if e.hint == "" && errors.Is(e.Err, fs.ErrPermission) {
		return "check who may write in " + filepath.Dir(e.Path)
	}
	if e.hint == "" && errors.Is(e.Err, syscall.ENAMETOOLONG) {
		return "shorten the name: hidden names beside it are 34 bytes longer while it is written"
	}
	return e.hint
}

// refusal is an ErrRefused with its reason and a way out.
func refusal(path, reason, hint string) error {
	return &Error{Path: path, Reason: reason, Err: ErrRefused, hint: hint}
}

func existsError(path, reason string) error {
	return &Error{Path: path, Reason: reason, Err: ErrExists, hint: "--overwrite replaces it"}
}

// failure wraps an error of a file system. The hidden names inside os errors would mean nothing to the user: only the cause stays.
func failure(path, doing string, err error) error {
	if err == nil {
		return nil
	}
	if known := (*Error)(nil); errors.As(err, &known) {
		return err
	}
	return &Error{Path: path, Err: fmt.Errorf("%s: %w", doing, bare(err))}
}

// bare strips the operation and the path that os puts around an error.
func bare(err error) error {
	var inPath *fs.PathError
	var inLink *os.LinkError
	var inCall *os.SyscallError
	switch {
	case errors.As(err, &inPath):
		return bare(inPath.Err)
	case errors.As(err, &inLink):
		return bare(inLink.Err)
	case errors.As(err, &inCall):
		return bare(inCall.Err)
	}
	return err
}
