package arrow

import (
	"github.com/idxport/idxport/fault"
)

// unknown stands for a row or an offset that is not known.
const unknown = -1

// damaged is an error about the message at offset.
func damaged(offset int64, message string, values ...any) *fault.Error {
	return fault.New(fault.Malformed, message, values...).At(offset).
		WithHint("the file is damaged, or its writer is; write it again, or download it again")
}

// truncated is the error for an input that ends at offset.
func truncated(offset int64, message string, values ...any) *fault.Error {
	return fault.New(fault.Truncated, message, values...).At(offset).
		WithHint("the file is incomplete; write it again, or download it again")
}

// unsupported is the error for a column that is no column of an IDX file.
func unsupported(column, advice, message string, values ...any) *fault.Error {
	return fault.New(fault.Unsupported, message, values...).InColumn(column).WithHint("%s", advice)
}

// wrong is the error for a value of a column, in a row of a record batch, or in one of its rows if row is −1.
func wrong(b *batch, column string, row int64, message string, values ...any) *fault.Error {
	e := fault.New(fault.Malformed, message, values...).InColumn(column)
	if row >= 0 {
		e.Row = b.first + row
	}
	return e
}
