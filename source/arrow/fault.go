package arrow

import (
	"runtime"

	"github.com/idxport/idxport/fault"
)

// In this package, a function that does not return an error reports one by a panic. The exported
// functions and methods call such functions through guarded or caught, which return the error.

// guarded calls f and returns the error that it panics with, with path added.
func guarded(path string, f func()) error { return fault.In(path, caught(f)) }

// caught calls f and returns the error that it panics with.
func caught(f func()) (err error) {
	defer func() {
		p := recover()
		var ok bool
		if err, ok = p.(error); p == nil {
			return
		}
		if _, bug := p.(runtime.Error); bug || !ok {
			err = damaged(unknown, "reading failed: %v", p)
		}
	}()
	f()
	return nil
}

// check panics with err unless it is nil.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// demand panics with an error about a column of the message at offset, unless ok is true.
func demand(ok bool, offset int64, column, message string, values ...any) {
	if !ok {
		panic(damaged(offset, message, values...).InColumn(column))
	}
}

// damaged returns the error for damage in the message at offset.
func damaged(offset int64, message string, values ...any) *fault.Error {
	return fault.New(fault.Malformed, message, values...).At(offset).
		WithHint("the file is damaged, or its writer has a defect: download or write it again")
}

// truncated returns the error for an input that ends at offset.
func truncated(offset int64, message string, values ...any) *fault.Error {
	return fault.New(fault.Truncated, message, values...).At(offset).
		WithHint("the file is incomplete: download or write it again")
}

// unsupported returns the error for input that is valid, but that this package cannot read.
func unsupported(column, hint, message string, values ...any) *fault.Error {
	return fault.New(fault.Unsupported, message, values...).InColumn(column).WithHint("%s", hint)
}
