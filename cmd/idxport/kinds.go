package main

// This file is for the packages whose errors are not those of package fault yet. It goes once they are.

import (
	"errors"

	"github.com/idxport/idxport/object"
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
	return 0
}

// sentinelCodes are the exit codes of errors that have no kind yet, until their packages use fault too; the first row that matches counts.
var sentinelCodes = []kind{
	{object.ErrURL, exitUsage},
	{object.ErrBuild, exitUsage},
	{object.ErrHold, exitUsage},
	{object.ErrReceipt, exitData},
	{object.ErrLong, exitData},
	{object.ErrExists, exitCannotMake},
	{object.ErrNoBucket, exitCannotMake},
	{object.ErrTransfer, exitIO},
}
