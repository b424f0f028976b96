// Package sinks is the table of output formats: their names, file extensions and sinks.
//
// A format is a row of the table, see [All]. To add one, add a row with a function for its sink; a
// new field of [sink.Options] needs a flag in cmd/idxport. CONTRIBUTING.md has the other steps.
package sinks
