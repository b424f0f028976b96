package main

import (
	"errors"
	"syscall"

	"github.com/idxport/idxport/internal/fault"
)

// Exit codes, from sysexits.h where it has them. 2 is left out: Go exits with it after a panic.
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

// exitCodes maps kinds of errors to exit codes. There is no other such map.
var exitCodes = map[fault.Kind]int{
	"":                exitOK, // of no error
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

// exitCode returns the code with which the program exits after err.
func exitCode(err error) int {
	if sig, ok := errors.AsType[signalError](err); ok {
		return exitSignal + int(sig.signal)
	}
	return exitCodes[fault.KindOf(err)]
}

// usagef returns the error for a command line that cannot be carried out.
func usagef(format string, args ...any) *fault.Error { return fault.New(fault.Usage, format, args...) }

// A signalError is the cause of a context that was canceled by a signal.
type signalError struct{ signal syscall.Signal }

func (e signalError) Error() string { return "interrupted by " + signalNames[e.signal] }

// signalNames are the names of the signals that interrupt a run.
var signalNames = map[syscall.Signal]string{syscall.SIGHUP: "SIGHUP",
	syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM"}

// codeNames are the names of exit codes in the JSON report.
var codeNames = map[int]string{
	exitDiffers: "differs", exitUsage: "usage", exitData: "bad_data", exitNoInput: "no_input", exitInternal: "internal",
	exitCannotMake: "cannot_create", exitIO: "io", exitLocked: "locked", exitPermission: "permission",
}
