package parquet

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Every error about the contents of a file is an *Error: errors.Is(err, ErrFormat) is true for it, and for one of the other sentinels.
var (
	ErrFormat      = errors.New("not a usable table in a Parquet file")
	ErrDamaged     = errors.New("damaged Parquet file")
	ErrUnsupported = errors.New("not a table of IDX columns")
	ErrValue       = errors.New("a value does not fit")
	ErrSplits      = errors.New("several splits")
	ErrNoRows      = errors.New("no rows that tell a shape")
	ErrSchemas     = errors.New("files of different columns")
)

// An Error says what is wrong with a file and where.
type Error struct {
	Column  string // the path of the Parquet column, or empty
	Row     int64  // the row, from 0; −1 if unknown
	Offset  int64  // the byte in the file where the page or the part begins that the error is about; −1 if unknown
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
	if e.Offset >= 0 {
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

// damaged is the error for a file that breaks the format's rules; the caller may add where.
func damaged(message string, values ...any) *Error {
	return &Error{Row: -1, Offset: -1, Message: fmt.Sprintf(message, values...), Err: ErrDamaged}
}

// unsupported is the error for a column that is legal, and no column of IDX.
func unsupported(column, advice, message string, values ...any) *Error {
	return &Error{Column: column, Row: -1, Offset: -1, Message: fmt.Sprintf(message, values...), Advice: advice, Err: ErrUnsupported}
}

// untold is the error for a column of a file without rows, whose shape only a row could tell.
func untold(column, what string) *Error {
	return &Error{Column: column, Row: -1, Offset: -1, Message: "found " + what + " and no rows, expected one at least to tell the shape", Err: ErrNoRows}
}

// located fills in where err is about, as far as it does not say so itself.
func located(err error, column string, row, offset int64) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Column == "" {
		e.Column = column
	}
	if e.Row < 0 {
		e.Row = row
	}
	if e.Offset < 0 {
		e.Offset = offset
	}
	return e
}

// A misfit is a value that cannot be what the column holds. It says which of those that were asked for it is.
type misfit struct {
	at      int
	message string
}

func (m *misfit) Error() string { return m.message }

// recovered turns a panic into an error: decoders of other packages may panic on damaged data.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = damaged("the data cannot be decoded: %v", p)
	}
}

// truncated is damage for the end of data where more is expected, and err for anything else.
func truncated(err error, message string, values ...any) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return damaged(message, values...)
	}
	return err
}
