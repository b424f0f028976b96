package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
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
	fault.PipeClosed:  exitReaderGone,
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
	return exitCodes[fault.KindOf(err)]
}

// usagef is the error for a command line that cannot be carried out.
func usagef(format string, args ...any) *fault.Error {
	return fault.New(fault.Usage, format, args...)
}

// reported is an error that was shown to the user already.
type reported struct{ code int }

func (e reported) Error() string { return fmt.Sprintf("exit %d", e.code) }

// printError writes the error as the user sees it: one line, and a hint if there is one.
func printError(w io.Writer, err error) {
	fmt.Fprintf(w, "idxport: %s\n", display.Printable(err.Error()))
	if h := fault.HintOf(err); h != "" {
		fmt.Fprintf(w, "hint: %s\n", display.Printable(h))
	}
}
