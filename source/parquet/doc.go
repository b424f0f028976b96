// Package parquet reads Parquet files as tables of IDX columns: those that this program writes, in
// all layouts, and those of other programs.
//
// [Open] reads a file, [OpenFiles] several files of the same columns, one after another. Which
// columns a file holds, package columnar finds out. A value that is missing, a list that is longer
// or shorter than the first, a number that does not fit its type: each is a [fault.Error] with its
// column and row.
//
// # Pages
//
// The format's pieces are told in sink/parquet, and how the levels of lists come about in
// sink/layout. All rows of a column have the same levels, or the file is no table of IDX columns:
// so levels are not turned into offsets, but compared with those of one row (pattern), a run at a
// time. Values are decoded straight into the column. The indices of an identity dictionary, and
// PLAIN values, are the column's bytes, and are copied.
//
// A page is read when its rows are asked for. One that lies within the batch as a whole, as those
// that this program writes do, is kept as it is and decompressed by Decode, on any goroutine; others
// are decompressed by Read, and give their rows to several batches. Encoded runs are never expanded
// beyond the batch: a page of a few bytes may stand for billions of values. So memory is a page for
// each Parquet column, as it is before decoding, and the batch.
//
// Checksums of pages are compared where they are present. All codecs are read but LZO; Brotli not by
// lean builds.
package parquet
