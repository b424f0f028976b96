package csv

import (
	"errors"
	"fmt"
)

// ErrFormat is the sentinel for a file that is no table of numbers, or has a value that its column cannot hold.
var ErrFormat = errors.New("not a usable CSV table")

// An Error says what is wrong with the text and where.
type Error struct {
	Row     int64  // from 0, the header not counted; −1 if it is not about a row
	Column  string // name of the field, or its place; empty if it is not about one
	Message string // found and expected, lower case
	Advice  string // what the user can do, or empty
	Err     error  // ErrFormat, or idx.ErrShape for a shape that the caller asked for
}

// Error is the message, without the hint.
func (e *Error) Error() string {
	switch {
	case e.Row < 0 && e.Column == "":
		return e.Message
	case e.Row < 0:
		return fmt.Sprintf("column %s: %s", e.Column, e.Message)
	case e.Column == "":
		return fmt.Sprintf("row %d: %s", e.Row, e.Message)
	}
	return fmt.Sprintf("row %d, column %s: %s", e.Row, e.Column, e.Message)
}

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Err }

// Hint is what the user can do, or empty.
func (e *Error) Hint() string { return e.Advice }

// failf is an Error about the whole file.
func failf(advice, format string, args ...any) *Error {
	return &Error{Row: -1, Message: fmt.Sprintf(format, args...), Advice: advice, Err: ErrFormat}
}

// inRow is an Error about a row, and a column unless that is empty.
func inRow(row int64, column, advice, format string, args ...any) *Error {
	return &Error{Row: row, Column: column, Message: fmt.Sprintf(format, args...), Advice: advice, Err: ErrFormat}
}

// shown is text as messages quote it: at most 40 bytes of it.
func shown(text []byte) string {
	if len(text) > 40 {
		return fmt.Sprintf("%q…", text[:40])
	}
	return fmt.Sprintf("%q", text)
}
