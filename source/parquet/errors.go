package parquet

import (
	"errors"
	"io"

	"github.com/idxport/idxport/fault"
)

// What the user can do about records of different shapes.
const (
	adviceShapes = "IDX files hold records of one shape"
	adviceLists  = adviceShapes + ": pad or cut the lists"
)

// adviceLarge is what the user can do about a record that is larger than the limit.
const adviceLarge = "raise --max-record-bytes"

// damaged is the error for a file that breaks the format's rules; the caller may add where.
func damaged(message string, values ...any) *fault.Error {
	return fault.New(fault.Malformed, message, values...)
}

// unsupported is the error for a column that is legal, and no column of IDX.
func unsupported(column, advice, message string, values ...any) *fault.Error {
	return fault.New(fault.Unsupported, message, values...).InColumn(column).WithHint("%s", advice)
}

// located fills in where err is about, as far as it does not say so itself. Errors of reading are returned as they are.
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

// truncated is the error for the end of data where more is expected, and err for anything else.
func truncated(err error, message string, values ...any) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fault.New(fault.Truncated, message, values...)
	}
	return err
}
