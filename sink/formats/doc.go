// Package formats is the table of output formats: their names, their file extensions and their
// sinks.
//
// A format is a row of the table, see [All]. Nothing registers itself, and no other package lists
// formats. To add one, add a row with functions for its sink and its line of Python. The values of
// --to, the help texts and the completion follow from the table; a new field of [Options] needs a
// flag in cmd/idxport. Two tests ask for the rest: test/house for the imports and the size of the
// new package, and the tests of cmd/idxport for the format's name in the README.
package formats
