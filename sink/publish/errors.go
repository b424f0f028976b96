package publish

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/idxport/idxport/shell"
)

// The kinds of failure that are not a file system's own; test for them with errors.Is.
var (
	// ErrExists: the target exists, Overwrite is off, and the target differs from what the run made (or every target exists).
	ErrExists = errors.New("already exists")
	// ErrLocked: another run is writing the same target.
	ErrLocked = errors.New("is being written by another run")
	// ErrOpen: another program has the target open, and the system, Windows, does not let it be replaced meanwhile.
	ErrOpen = errors.New("is open in another program")
	// ErrRefused: writing to the target would destroy something that is not an earlier output.
	ErrRefused = errors.New("refused")
	// ErrNoParent: the folder that should hold the target does not exist, or is no folder.
	ErrNoParent = errors.New("there is no folder to hold it")
	// ErrName: the file system takes no such name or path. What it says of a name that is too long, or not in UTF-8, is this too.
	ErrName = errors.New("no such name is possible")
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

// Is reports whether target is the kind that an error of the file system amounts to.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrName:
		return errors.Is(e.Err, syscall.ENAMETOOLONG) || errors.Is(e.Err, syscall.EILSEQ)
	case ErrNoParent:
		return errors.Is(e.Err, syscall.ENOTDIR)
	}
	return false
}

// Hint says what the user can do about it; it may be empty.
func (e *Error) Hint() string {
	switch {
	case e.hint != "":
		return e.hint
	case errors.Is(e.Err, ErrOpen):
		return "close it there and try again"
	case errors.Is(e.Err, fs.ErrPermission):
		return "check who may write in " + shell.Path(nearest(filepath.Dir(e.Path)))
	case errors.Is(e.Err, syscall.ENAMETOOLONG):
		for name := range strings.SplitSeq(filepath.ToSlash(e.Path), "/") {
			if len(name) > maxName {
				return fmt.Sprintf("shorten the name of %d bytes to %d, as many as file systems take", len(name), maxName)
			}
		}
		return "shorten the path: names beside the output are up to 48 bytes longer"
	case errors.Is(e.Err, syscall.ENOTDIR):
		return "choose another path: what should be a folder is a file"
	case errors.Is(e.Err, syscall.EILSEQ):
		return "name it in UTF-8"
	}
	return ""
}

// nearest is the folder dir or, if that is not there, the nearest above it that is.
func nearest(dir string) string {
	for _, err := os.Stat(dir); err != nil && filepath.Dir(dir) != dir; _, err = os.Stat(dir) {
		dir = filepath.Dir(dir)
	}
	return dir
}

// Failure is err, which doing something for the output at path ended with, as an *Error; nil if err is nil.
func Failure(path, doing string, err error) error { return failure(path, doing, err) }

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
