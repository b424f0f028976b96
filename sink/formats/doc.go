// Package formats is the table of output formats: their names, their file extensions and their
// sinks.
//
// A format is a row of the table, see [All]. Nothing registers itself, and no other package lists
// formats. To add one, add a row, a function that opens its sink, and its options to [Options].
package formats
