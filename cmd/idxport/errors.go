package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/pipeline"
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

// exitCodes is the one place where errors become exit codes: by their kinds.
var exitCodes = map[fault.Kind]int{
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
	var sig signalError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &sig):
		return exitSignal + int(sig.signal)
	case errors.Is(err, context.Canceled):
		return exitCodes[fault.Canceled]
	}
	for e := range fault.All(err) {
		if e.Kind != 0 {
			return exitCodes[e.Kind]
		}
	}
	if readerGone(err) { // the write of an upload, which is no reason to end in silence, has a kind
		return exitReaderGone
	}
	return exitCodes[fault.KindOf(err)]
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
			err = pipeline.Recovered(p)
		}
	}()
	return f()
}

// usagef is the error for a command line that cannot be carried out.
func usagef(format string, args ...any) *fault.Error {
	return fault.New(fault.Usage, format, args...)
}

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

// closedError is the error for data that would go to a closed standard output.
func closedError() error {
	return fault.New(fault.IO, "it is closed, expected a file or a program").Because(syscall.EBADF).
		WithHint("redirect standard output; to throw the data away, write -o FORMAT=/dev/null")
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
	return oneLine(fault.HintOf(err))
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
