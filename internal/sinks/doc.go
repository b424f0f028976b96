// Package sinks is the table of output formats: their names, file extensions and sinks.
//
// A format is a row of the table, see [All]. CONTRIBUTING.md says how to add one.
package sinks
