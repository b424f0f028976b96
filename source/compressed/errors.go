package compressed

import (
	"errors"
	"fmt"
)

// What an [Error] wraps, for errors.Is.
var (
	// ErrCorrupt means a wrong checksum, data that breaks the format's rules, or junk after the last member.
	ErrCorrupt = errors.New("corrupt data")

	// ErrTruncated means that the input ended inside a member.
	ErrTruncated = errors.New("the data ends too early")

	// ErrUnsupported means data that may be good but needs a feature or an amount of memory that is refused here.
	ErrUnsupported = errors.New("not supported")
)

// An Error tells why compressed data could not be decompressed. Failures of the input itself are not Errors.
type Error struct {
	Format Format
	Offset int64 // compressed bytes decoded before the error
	Err    error // wraps ErrCorrupt, ErrTruncated or ErrUnsupported
}

// Error returns a message with format and position.
func (e *Error) Error() string {
	return fmt.Sprintf("%s stream, at compressed byte %d: %v", e.Format, e.Offset, e.Err)
}

// Unwrap returns e.Err.
func (e *Error) Unwrap() error { return e.Err }

// Hint tells what to do about the error.
func (e *Error) Hint() string {
	switch {
	case errors.Is(e.Err, ErrTruncated):
		return "the download is incomplete: fetch it again"
	case errors.Is(e.Err, ErrUnsupported):
		return fmt.Sprintf("decompress it with the %s program first", e.Format)
	}
	return "the file is damaged: fetch it again"
}
