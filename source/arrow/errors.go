package arrow

import (
	"errors"
	"fmt"
	"strings"
)

// Every error about the data itself is an *Error: errors.Is(err, ErrFormat) is true for it, and for one of the sentinels below. Errors of the
// underlying reader are returned as they are.
var (
	ErrFormat      = errors.New("not a valid table in an Arrow file")
	ErrDamaged     = errors.New("damaged")
	ErrTruncated   = errors.New("truncated")
	ErrUnsupported = errors.New("no table of IDX columns")
	ErrValue       = errors.New("a value does not fit")
)

// unknown stands for a row or an offset that is not known.
const unknown = -1

// An Error says what is wrong with the data and where.
type Error struct {
	Column  string // or empty
	Row     int64  // within the file, or −1
	Offset  int64  // of the message within the file, bytes, or −1
	Message string // found and expected, lower case
	Advice  string // what the user can do, or empty
	Err     error  // one of the sentinels
}

// Error is the message, without the hint.
func (e *Error) Error() string {
	var where []string
	if e.Column != "" {
		where = append(where, "column "+e.Column)
	}
	if e.Row >= 0 {
		where = append(where, fmt.Sprintf("row %d", e.Row))
	}
	if len(where) == 0 && e.Offset >= 0 {
		where = append(where, fmt.Sprintf("at byte %d", e.Offset))
	}
	if len(where) == 0 {
		return e.Message
	}
	return strings.Join(where, ", ") + ": " + e.Message
}

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Err }

// Is reports ErrFormat for every Error.
func (e *Error) Is(target error) bool { return target == ErrFormat }

// Hint is what the user can do, or empty.
func (e *Error) Hint() string { return e.Advice }

const adviceDamaged = "the file is damaged, or its writer is; write it again, or download it again"

// damaged is an error about the message at offset.
func damaged(offset int64, message string, values ...any) *Error {
	return &Error{Row: unknown, Offset: offset, Message: fmt.Sprintf(message, values...), Advice: adviceDamaged, Err: ErrDamaged}
}

// truncated is the error for an input that ends at offset.
func truncated(offset int64, message string, values ...any) *Error {
	e := damaged(offset, message, values...)
	e.Advice, e.Err = "the file is incomplete; write it again, or download it again", ErrTruncated
	return e
}

// unsupported is the error for a column that is no column of an IDX file.
func unsupported(column, advice, message string, values ...any) *Error {
	return &Error{Column: column, Row: unknown, Offset: unknown, Message: fmt.Sprintf(message, values...), Advice: advice, Err: ErrUnsupported}
}

// wrong is an error about the values of a column, in a row of a record batch, or about all of them if row is −1.
func wrong(b *batch, column string, row int64, sentinel error, message string, values ...any) *Error {
	e := &Error{Column: column, Row: unknown, Offset: b.offset, Message: fmt.Sprintf(message, values...), Err: sentinel}
	if row >= 0 {
		e.Row = b.first + row
	}
	if sentinel == ErrDamaged {
		e.Advice = adviceDamaged
	}
	return e
}
