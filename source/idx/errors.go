package idx

import (
	"errors"
	"fmt"
)

// Every error about the data itself is an *Error: errors.Is(err, ErrFormat) is true for it, and for one of the sentinels below.
// Errors of the underlying reader are returned as they are.
var (
	ErrFormat    = errors.New("not a valid IDX file")
	ErrMagic     = errors.New("not an IDX file")
	ErrDType     = errors.New("unknown data type")
	ErrRank      = errors.New("no dimensions")
	ErrTooLarge  = errors.New("too large")
	ErrTruncated = errors.New("truncated")
	ErrTrailing  = errors.New("trailing bytes")
)

// ErrShape is the sentinel for dimensions that the caller asked for and that do not fit the data.
var ErrShape = errors.New("the shape does not fit")

// An Error says what is wrong with the data and where.
type Error struct {
	Offset  int64  // in the decompressed data, bytes
	Message string // found and expected, lower case
	Advice  string // what the user can do, or empty
	Err     error  // one of the sentinels
}

// Error is the message, without the hint.
func (e *Error) Error() string {
	return fmt.Sprintf("at byte %d: %s", e.Offset, e.Message)
}

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Err }

// Is reports ErrFormat for every Error.
func (e *Error) Is(target error) bool { return target == ErrFormat }

// Hint is what the user can do, or empty.
func (e *Error) Hint() string { return e.Advice }
