package publish

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/shell"
)

// maxName is how many bytes a name may have that file systems take.
const maxName = 255

// refusal is fault.Refused with its reason and a way out.
func refusal(path, reason, hint string) error {
	return fault.New(fault.Refused, "refused: %s", reason).In(path).WithHint("%s", hint)
}

// noParent is the error for a target whose folder does not exist, or is no folder, with its reason,
// which may be empty.
func noParent(path, reason, hint string) error {
	if reason != "" {
		reason = ": " + reason
	}
	return fault.New(fault.Refused, "there is no folder to hold it%s", reason).In(path).WithHint("%s", hint)
}

// exists is the error for a target that may not be replaced, with its reason, which may be empty.
func exists(path, reason string) error {
	if reason != "" {
		reason = ": " + reason
	}
	return fault.New(fault.Exists, "already exists%s", reason).In(path).WithHint("--overwrite replaces it")
}

// inUse is the error for a target that another program has open, where the system, Windows, does
// not let it be replaced meanwhile.
func inUse() error {
	return fault.New(fault.Locked, "is open in another program").WithHint("close it there and try again")
}

// incomplete is the error of a file that has not the size of what was written.
func incomplete(written, size int64) error {
	return fault.New(fault.IO, "incomplete: %d bytes written, %d in the file", written, size)
}

// Failure is err, which doing something for the output at path ended with, as a fault with what the
// user can do; nil if err is nil, and err itself if it has a path. The hidden names inside os
// errors would mean nothing to the user: only the cause stays. What is missing under an output is
// no missing input, and a name that cannot be is refused.
func Failure(path, doing string, err error) error {
	var known *fault.Error
	if err == nil || errors.As(err, &known) && known.Path != "" {
		return err
	}
	cause := bare(err)
	e := fault.New(0, "%s: %v", doing, cause).In(path).Because(cause)
	kind := fault.KindOf(err)
	switch {
	case errors.Is(err, syscall.ENAMETOOLONG):
		e.Kind, e.Hint = fault.Refused, shorten(path)
	case errors.Is(err, syscall.EILSEQ):
		e.Kind, e.Hint = fault.Refused, "name it in UTF-8"
	case errors.Is(err, syscall.ENOTDIR):
		e.Kind, e.Hint = fault.Refused, "choose another path: what should be a folder is a file"
	case errors.Is(err, fs.ErrPermission):
		e.Hint = "check who may write in " + shell.Path(nearest(filepath.Dir(path)))
	case kind == fault.NotFound, kind == fault.Internal:
		e.Kind = fault.IO
	}
	return e
}

// shorten is the hint for a path that is too long.
func shorten(path string) string {
	for name := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if len(name) > maxName {
			return fmt.Sprintf("shorten the name of %d bytes to %d, as many as file systems take", len(name), maxName)
		}
	}
	return "shorten the path: names beside the output are up to 48 bytes longer"
}

// nearest is the folder dir or, if that is not there, the nearest above it that is.
func nearest(dir string) string {
	for _, err := os.Stat(dir); err != nil && filepath.Dir(dir) != dir; _, err = os.Stat(dir) {
		dir = filepath.Dir(dir)
	}
	return dir
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
