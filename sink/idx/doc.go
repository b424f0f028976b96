// Package idx writes one column of a table as an IDX file, the format that package source/idx describes.
//
// A [Sink] is made by [New] and obeys the contract of package sink. It writes a header with the data type and the dimensions of the column, the number
// of rows first, and then the elements in C order, big-endian.
//
// The header comes first and counts the rows, so that number must be known before the first one; Close checks that it was right.
// Elements of one byte go from the batch to the output without a copy.
//
// A file in zstd is in its seekable format: the header is one frame, each batch another, and a table at the end tells where they are, so that
// readers can begin in the middle.
package idx
