package main

import (
	"slices"

	"github.com/idxport/idxport/source/arrow"
	"github.com/idxport/idxport/source/formats"
	"github.com/idxport/idxport/source/parquet"
)

// A kind is a sentinel, with the exit code of errors that wrap it.
type kind struct {
	err  error
	code int
}

// otherKinds are those of the readers of other formats: what is no table, or a damaged one, is bad data.
func otherKinds() []kind {
	kinds := []kind{{parquet.ErrSplits, exitUsage}, {formats.ErrUnknown, exitUsage}}
	for _, err := range slices.Concat(
		[]error{parquet.ErrFormat, parquet.ErrDamaged, parquet.ErrUnsupported, parquet.ErrValue, parquet.ErrNoRows, parquet.ErrSchemas},
		[]error{arrow.ErrFormat, arrow.ErrDamaged, arrow.ErrTruncated, arrow.ErrUnsupported, arrow.ErrValue},
	) {
		kinds = append(kinds, kind{err, exitData})
	}
	return kinds
}
