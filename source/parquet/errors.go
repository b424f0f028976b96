package parquet

import (
	"errors"
	"io"

	"github.com/idxport/idxport/fault"
)

// Hints about records of different shapes.
const (
	adviceShapes = "all records must have one shape, as in an IDX file"
	adviceLists  = adviceShapes + ": pad or cut the lists"
)

// damaged returns the error for a file that breaks the rules of the format.
func damaged(message string, values ...any) *fault.Error {
	return fault.New(fault.Malformed, message, values...)
}

// unsupported returns the error for a file that may be valid but cannot be read as IDX columns.
func unsupported(column, advice, message string, values ...any) *fault.Error {
	return fault.New(fault.Unsupported, message, values...).InColumn(column).WithHint("%s", advice)
}

// located adds the column, row and offset to err, where they are missing. It returns errors of the
// operating system as they are.
func located(err error, column string, row, offset int64) error {
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != fault.Malformed && e.Kind != fault.Truncated && e.Kind != fault.Unsupported {
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

// A rangeError is about a value that the column's type cannot represent. value is its text, and
// index its index among the values of one read.
type rangeError struct {
	index int
	value string
}

func (m *rangeError) Error() string { return m.value }

// recovered turns a panic into an error, as decoders of other packages may panic on damaged data.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = damaged("the data cannot be decoded: %v", p)
	}
}

// truncated returns a fault.Truncated for an unexpected end of data, and other errors as they are.
func truncated(err error, message string, values ...any) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fault.New(fault.Truncated, message, values...)
	}
	return err
}
