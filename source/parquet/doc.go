// Package parquet reads Parquet files as tables of IDX columns: files of idxport in all layouts,
// and files of other programs.
//
// [Open] reads a file, [OpenFiles] several files with the same columns, one after another. Package
// columnar decides which columns a file has. A missing value, a list whose length differs from the
// first, or a number that does not fit its type is a [fault.Error] with its column and row.
//
// # Pages
//
// Package sink/parquet describes the parts of the format, and sink/layout the levels of lists. In a
// table of IDX columns all rows of a column have the same levels. So levels are not turned into
// offsets but compared with those of the first row (the pattern), a run at a time. Values are
// decoded directly into the column. PLAIN values, and indices into an identity dictionary, are the
// bytes of the column, and are copied.
//
// A page is read when its rows are needed. If all its rows are in the batch, as with the pages that
// idxport writes, Read stores its body, and Decode decompresses it on any goroutine. Other pages
// are decompressed by Read, and their rows go to several batches. Encoded runs are never expanded
// beyond the batch: a page of a few bytes may encode billions of values. So memory is limited to
// one batch and, for each Parquet column, one page.
//
// Page checksums are verified if present. All codecs are supported except LZO, and except Brotli in
// lean builds.
package parquet
