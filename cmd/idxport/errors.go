package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/sink"
	packed "github.com/idxport/idxport/sink/compressed"
	"github.com/idxport/idxport/sink/plan"
	"github.com/idxport/idxport/sink/publish"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/compressed"
	"github.com/idxport/idxport/source/dataset"
	"github.com/idxport/idxport/source/idx"
)

// Exit codes, after sysexits.h where it has them. 2 stays free: Go's own for a crash.
const (
	exitOK         = 0
	exitDiffers    = 1
	exitUsage      = 64
	exitData       = 65
	exitNoInput    = 66
	exitInternal   = 70
	exitCannotMake = 73
	exitIO         = 74
	exitLocked     = 75
	exitPermission = 77
	exitSignal     = 128 // plus the signal's number
	exitReaderGone = exitSignal + int(syscall.SIGPIPE)
)

// exitCodes is the one place where kinds of errors become exit codes; the first row that matches counts.
var exitCodes = []kind{
	{errDiffers, exitDiffers},
	{errUsage, exitUsage},
	{sink.ErrUnsupported, exitUsage},
	{sink.ErrRowsUnknown, exitUsage},
	{packed.ErrCodec, exitUsage},
	{source.ErrTransform, exitUsage},
	{source.ErrRange, exitUsage},
	{source.ErrNames, exitUsage},
	{idx.ErrShape, exitUsage},
	{dataset.ErrUsage, exitUsage},
	{dataset.ErrAmbiguous, exitUsage},
	{idx.ErrFormat, exitData},
	{compressed.ErrCorrupt, exitData},
	{compressed.ErrTruncated, exitData},
	{compressed.ErrUnsupported, exitData},
	{source.ErrCounts, exitData},
	{source.ErrLabel, exitData},
	{source.ErrPartition, exitData},
	{sink.ErrValue, exitData},
	{dataset.ErrSwapped, exitData},
	{dataset.ErrClasses, exitData},
	{dataset.ErrNoInput, exitNoInput},
	{publish.ErrExists, exitCannotMake},
	{publish.ErrRefused, exitCannotMake},
	{publish.ErrNoParent, exitCannotMake},
	{publish.ErrName, exitCannotMake},
	{publish.ErrLocked, exitLocked},
	{publish.ErrOpen, exitLocked},
	{publish.ErrIncomplete, exitIO},
	{source.ErrChanged, exitIO},
	{errNoSpace, exitIO},
	{plan.ErrUsage, exitUsage},
	{plan.ErrPlan, exitData},
	{plan.ErrInput, exitData},
	{plan.ErrDiffers, exitCannotMake},
	{plan.ErrIncomplete, exitCannotMake},
	{fs.ErrPermission, exitPermission},
	{syscall.EROFS, exitPermission},
	{fs.ErrNotExist, exitNoInput},
	{syscall.ENOTDIR, exitNoInput},
	{syscall.ELOOP, exitNoInput},
	{syscall.ENAMETOOLONG, exitNoInput},
}

// exitCodesOfKinds are the exit codes by the kinds of errors.
var exitCodesOfKinds = map[fault.Kind]int{
	fault.Differs:     exitDiffers,
	fault.Usage:       exitUsage,
	fault.Malformed:   exitData,
	fault.Truncated:   exitData,
	fault.Unsupported: exitData,
	fault.NotFound:    exitNoInput,
	fault.Internal:    exitInternal,
	fault.Exists:      exitCannotMake,
	fault.Refused:     exitCannotMake,
	fault.Changed:     exitIO,
	fault.IO:          exitIO,
	fault.Locked:      exitLocked,
	fault.Permission:  exitPermission,
	fault.Canceled:    exitSignal + int(syscall.SIGINT),
}

// exitCode maps an error to the code that the program ends with.
func exitCode(err error) int {
	var (
		sig   signalError
		panic *pipeline.PanicError
		path  *fs.PathError
		sys   syscall.Errno
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &sig):
		return exitSignal + int(sig.signal)
	case errors.Is(err, context.Canceled):
		return exitSignal + int(syscall.SIGINT)
	case errors.As(err, &panic):
		return exitInternal
	}
	if errors.As(err, new(*fault.Error)) {
		if kind := fault.KindOf(err); kind != fault.Internal {
			return exitCodesOfKinds[kind]
		}
	}
	output := errors.As(err, new(*publish.Error)) // its folder may be gone, which is no missing input
	for _, row := range exitCodes {
		if errors.Is(err, row.err) && !(output && row.code == exitNoInput) {
			return row.code
		}
	}
	if readerGone(err) {
		return exitReaderGone
	}
	for _, row := range otherKinds() {
		if errors.Is(err, row.err) {
			return row.code
		}
	}
	if output || errors.As(err, &path) || errors.As(err, &sys) || errors.Is(err, io.ErrShortWrite) {
		return exitIO
	}
	return exitInternal
}

// readerGone reports whether err is that of a write to a pipe that nobody reads any more. Windows has three for it, and EPIPE is not among them.
func readerGone(err error) bool {
	gone := []error{syscall.EPIPE}
	if runtime.GOOS == "windows" {
		gone = []error{syscall.Errno(109), syscall.Errno(232), syscall.Errno(233)} // ERROR_BROKEN_PIPE, ERROR_NO_DATA, ERROR_PIPE_NOT_CONNECTED
	}
	return slices.ContainsFunc(gone, func(known error) bool { return errors.Is(err, known) })
}

// recovering is f with a panic turned into an error, so that the exit code and the report are right and outputs are discarded.
func recovering[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &pipeline.PanicError{Value: p, Stack: debug.Stack()}
		}
	}()
	return f()
}

// errUsage is the sentinel for a command line that cannot be carried out.
var errUsage = errors.New("usage")

// errNoSpace is the sentinel for outputs that will not fit.
var errNoSpace = errors.New("not enough space")

// A usageError says what is wrong with the command line.
type usageError struct {
	message string
	advice  string
}

func usagef(format string, args ...any) *usageError {
	return &usageError{message: fmt.Sprintf(format, args...)}
}

// hint adds what the user can do.
func (e *usageError) hint(format string, args ...any) *usageError {
	e.advice = fmt.Sprintf(format, args...)
	return e
}

func (e *usageError) Error() string { return e.message }
func (e *usageError) Unwrap() error { return errUsage }
func (e *usageError) Hint() string  { return e.advice }

// closed reports whether w is standard output, closed when the program began: Go's runtime has opened
// the null device there, for reading too, which a shell's >/dev/null does not. Python's
// subprocess.DEVNULL looks the same, so it is asked only where data would be lost.
func closed(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || runtime.GOOS == "windows" {
		return false
	}
	info, err := f.Stat()
	null, nullErr := os.Stat(os.DevNull)
	if err != nil || nullErr != nil || !os.SameFile(info, null) {
		return false
	}
	_, err = f.Read(make([]byte, 1))
	return err == io.EOF // else it is not open for reading
}

// A closedError is the error for data that would go to a closed standard output.
type closedError struct{}

func (closedError) Error() string { return "it is closed, expected a file or a program" }
func (closedError) Unwrap() error { return syscall.EBADF }
func (closedError) Hint() string {
	return "redirect standard output; to throw the data away, write -o FORMAT=/dev/null"
}

// reported is an error that was shown to the user already.
type reported struct{ code int }

func (e reported) Error() string { return fmt.Sprintf("exit %d", e.code) }

// printError writes the error as the user sees it: one line, and a hint if there is one.
func printError(w io.Writer, err error) {
	fmt.Fprintf(w, "idxport: %s\n", oneLine(err.Error()))
	if h := hintOf(err); h != "" {
		fmt.Fprintf(w, "hint: %s\n", h)
	}
}

// hintOf finds advice in the chain of err, on one line.
func hintOf(err error) string {
	if h := fault.HintOf(err); h != "" {
		return oneLine(h)
	}
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return oneLine(h.Hint())
	}
	return ""
}

// oneLine makes text from file names and file contents safe to show: no line breaks or other control characters, and none of Unicode's marks
// that turn the direction of text, with which a name can look like another (trojansource.codes). What is not UTF-8 is as legible has it.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0:
			return '?'
		case r == 0x2028 || r == 0x2029 || unicode.Is(unicode.Bidi_Control, r):
			return '?'
		}
		return r
	}, legible(s))
}
