package main

import (
	"slices"

	"github.com/idxport/idxport/source/csv"
	"github.com/idxport/idxport/source/npy"
	"github.com/idxport/idxport/source/picture"
	"github.com/idxport/idxport/source/png"
)

// A kind is a sentinel, with the exit code of errors that wrap it.
type kind struct {
	err  error
	code int
}

// otherKinds are those of the readers of other formats: what is no table, or a damaged one, is bad data.
func otherKinds() []kind {
	var kinds []kind
	for _, err := range slices.Concat(
		[]error{npy.ErrFormat, npy.ErrDamaged, npy.ErrTruncated, npy.ErrTrailing, npy.ErrUnsupported, npy.ErrValue},
		[]error{csv.ErrFormat, png.ErrFolder, picture.ErrFormat},
	) {
		kinds = append(kinds, kind{err, exitData})
	}
	return kinds
}
