// Package sinks is the table of output formats: their names, their file extensions and their
// sinks.
//
// A format is a row of the table, see [All]. Nothing registers itself. To add one, add a row with a
// function for its sink; a new field of [Options] needs a flag in cmd/idxport. CONTRIBUTING.md has
// the other steps.
package sinks
