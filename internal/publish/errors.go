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

// maxName is the maximum length of a name on file systems, in bytes, or in UTF-16 code units on
// Windows.
const maxName = 255

// refusal returns a fault.Refused with its reason and a hint.
func refusal(path, reason, hint string) error {
	return fault.New(fault.Refused, "refused: %s", reason).In(path).WithHint("%s", hint)
}

// noParent returns the error for a target whose folder does not exist, or is not a folder. The
// reason may be empty.
func noParent(path, reason, hint string) error {
	message := strings.TrimSuffix("its folder does not exist: "+reason, ": ")
	return fault.New(fault.Refused, "%s", message).In(path).WithHint("%s", hint)
}

// exists returns the error for a target that may not be replaced. The reason may be empty.
func exists(path, reason string) error {
	hint := "--overwrite replaces it"
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		hint += " if idxport made it"
	}
	return fault.New(fault.Exists, "%s", strings.TrimSuffix("already exists: "+reason, ": ")).In(path).WithHint("%s", hint)
}

// inUse returns the error for a target that another program has open, which Windows does not
// replace.
func inUse() error {
	return fault.New(fault.Locked, "is open in another program").WithHint("close it there and try again")
}

// incomplete returns the error for a file whose size is not the number of bytes written.
func incomplete(written, size int64) error {
	return fault.New(fault.IO, "incomplete: %d bytes written, %d in the file", written, size)
}

// Failure returns err as a *fault.Error about the output at path, with a hint if possible; doing
// names the operation that failed. It returns nil if err is nil, and err itself if it is a
// *fault.Error with a path. Of the errors of package os only the cause is shown, because they quote
// hidden names. An error for a path that is invalid or too long, or that leads through a file, has
// the kind fault.Refused. fault.NotFound, which is for missing inputs, and fault.Internal become
// fault.IO.
func Failure(path, doing string, err error) error {
	if known, ok := errors.AsType[*fault.Error](err); err == nil || ok && known.Path != "" {
		return err
	}
	cause := bare(err)
	e := fault.New(0, "%s: %v", doing, cause).In(path).Because(cause)
	kind := fault.KindOf(err)
	switch {
	case errors.Is(err, syscall.ENAMETOOLONG):
		e.Kind, e.Hint = fault.Refused, tooLongHint(path)
	case errors.Is(err, syscall.EILSEQ):
		e.Kind, e.Hint = fault.Refused, "name it in UTF-8"
	case errors.Is(err, syscall.ENOTDIR):
		e.Kind, e.Hint = fault.Refused, "choose another path: part of this one is a file, not a folder"
	case errors.Is(err, fs.ErrPermission):
		e.Hint = "check the permissions of " + shell.Path(nearest(filepath.Dir(path)))
	case kind == fault.NotFound, kind == fault.Internal:
		e.Kind = fault.IO
	}
	return e
}

// tooLongHint returns the hint for a path that is too long.
func tooLongHint(path string) string {
	for name := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if len(name) > maxName {
			return fmt.Sprintf("shorten the name of %d bytes to %d, the limit of file systems", len(name), maxName)
		}
	}
	return "shorten the path by 65 bytes or more: idxport makes hidden files with longer names next to the output"
}

// nearest returns the folder dir or, if it does not exist, the nearest existing folder above it.
func nearest(dir string) string {
	for _, err := os.Stat(dir); err != nil && filepath.Dir(dir) != dir; _, err = os.Stat(dir) {
		dir = filepath.Dir(dir)
	}
	return dir
}

// bare returns the cause of an error of package os, without the operation and the path.
func bare(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return bare(e.Err)
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return bare(e.Err)
	}
	if e, ok := errors.AsType[*os.SyscallError](err); ok {
		return e.Err
	}
	return err
}
