package main

// This file is for the packages whose errors are not those of package fault yet. It goes once they are.

import (
	"errors"
	"slices"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/arrow"
	"github.com/idxport/idxport/source/dataset"
	"github.com/idxport/idxport/source/formats"
	"github.com/idxport/idxport/source/parquet"
)

// A kind is a sentinel, with the exit code of errors that wrap it.
type kind struct {
	err  error
	code int
}

// exitCodeOfSentinel is the exit code of an error that wraps a sentinel, 0 if it wraps none. Whether something is missing comes before what a reader makes of it.
func exitCodeOfSentinel(err error) int {
	for _, row := range sentinelCodes {
		if errors.Is(err, row.err) {
			return row.code
		}
	}
	kind := fault.KindOf(err)
	if kind == fault.NotFound || kind == fault.Permission || readerGone(err) {
		return 0
	}
	for _, row := range otherKinds() {
		if errors.Is(err, row.err) {
			return row.code
		}
	}
	return 0
}

// sentinelCodes are the exit codes of errors that have no kind yet, until their packages use fault too; the first row that matches counts.
var sentinelCodes = []kind{
	{source.ErrTransform, exitUsage},
	{source.ErrRange, exitUsage},
	{source.ErrNames, exitUsage},
	{dataset.ErrUsage, exitUsage},
	{dataset.ErrAmbiguous, exitUsage},
	{source.ErrCounts, exitData},
	{source.ErrLabel, exitData},
	{source.ErrPartition, exitData},
	{dataset.ErrSwapped, exitData},
	{dataset.ErrClasses, exitData},
	{dataset.ErrNoInput, exitNoInput},
	{object.ErrURL, exitUsage},
	{object.ErrBuild, exitUsage},
	{object.ErrHold, exitUsage},
	{object.ErrReceipt, exitData},
	{object.ErrLong, exitData},
	{object.ErrExists, exitCannotMake},
	{object.ErrNoBucket, exitCannotMake},
	{object.ErrTransfer, exitIO},
	{source.ErrChanged, exitIO},
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
