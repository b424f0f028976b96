// Package idx writes one column of a table as an IDX file, the format that package source/idx
// describes.
//
// [New] returns a [Sink], which implements sink.Sink. It writes a header with the data type and the
// dimensions of the column, the number of rows first, and then the elements in C order, big-endian.
// Elements of one byte go from the batch to the output without a copy.
//
// The header contains the number of rows, so that number must be known before the first row; Close
// checks it.
package idx
