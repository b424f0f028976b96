package npy

import (
	"errors"
	"fmt"
)

// Every error about the data itself is an *Error: errors.Is(err, ErrFormat) is true for it, and for one of the sentinels below. Errors of the
// underlying reader are returned as they are.
var (
	ErrFormat      = errors.New("not a valid .npy file")
	ErrDamaged     = errors.New("damaged")
	ErrTruncated   = errors.New("truncated")
	ErrTrailing    = errors.New("trailing bytes")
	ErrUnsupported = errors.New("no column of an IDX file")
	ErrValue       = errors.New("a value does not fit")
)

// An Error says what is wrong with the data and where.
type Error struct {
	Offset  int64  // bytes
	Row     int64  // of the value that does not fit, else −1
	Message string // found and expected, lower case
	Advice  string // what the user can do, or empty
	Err     error  // one of the sentinels
}

// Error is the message, without the hint.
func (e *Error) Error() string {
	if e.Row >= 0 {
		return fmt.Sprintf("row %d, at byte %d: %s", e.Row, e.Offset, e.Message)
	}
	return fmt.Sprintf("at byte %d: %s", e.Offset, e.Message)
}

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Err }

// Is reports ErrFormat for every Error.
func (e *Error) Is(target error) bool { return target == ErrFormat }

// Hint is what the user can do, or empty.
func (e *Error) Hint() string { return e.Advice }

const adviceDamaged = "the file is damaged or incomplete; write it again, or download it again"

func fail(offset int64, sentinel error, advice, message string, values ...any) *Error {
	return &Error{Offset: offset, Row: -1, Message: fmt.Sprintf(message, values...), Advice: advice, Err: sentinel}
}
