// Package parquet writes tables as Parquet files, at the speed of memory if nothing is compressed.
//
// Library writers take a value at a time and store a list of uint8 as one INT32 per pixel. Here
// pages are assembled from the batch's own bytes. [New] returns a [Sink] for a schema; Encode makes
// and compresses the pages of a batch on any goroutine; the step that it returns appends them.
// Everything that depends on the order of rows (offsets, row groups, dictionaries of scalar
// columns) happens in steps, so the same input and options give the same bytes.
//
// # The file
//
//	"PAR1"
//	row group …      one chunk per leaf, in the schema's order: dictionary page, data pages
//	column indexes   minimum and maximum of each page, for scalar columns
//	offset indexes   position and first row of each page, for all columns
//	footer           schema, chunks, key-value metadata; its length; "PAR1"
//
// A data page (version 1) is a Thrift header with the CRC-32 of the rest, and then, compressed as
// one piece: any repetition and definition levels, after their lengths in 4 bytes, and the values.
//
// # The identity dictionary
//
// Elements of tensors of 8 and 16 bits are INT32 values in Parquet. Their chunks start with a
// dictionary of all possible values, where dictionary[i] is the element with the bits i. Indices
// into it have 8 or 16 bits, and a bit-packed run of that width is the elements themselves,
// unchanged: the byte 8 or 16, varint(groups·2 + 1) with groups of 8 values, the elements, zeros to
// fill the last group. A dictionary takes 1 or 256 KiB; if PLAIN pages of a row group are smaller,
// the file has those. Elements of 32 and 64 bits are PLAIN, which is the batch's memory unchanged.
//
// # Scalar columns
//
// Scalars are collected until their row group ends. They become pages of 20,000 rows with a
// dictionary of the values that occur, in row order; or PLAIN pages, if more than 65,536 values are
// distinct or PLAIN is smaller. They have statistics and a column index. This happens in the step
// that ends the row group: numbering values in Encode was no faster for images with labels.
//
// Class names (text) are collected as indices. Each chunk has the dictionary of all names in the
// order of their labels, so that readers which keep dictionaries get the same codes from every row
// group. The bounds are those of the names that occur, in byte order.
//
// An optional scalar (a label of the layout huggingface) is never null: its levels are one run.
//
// # Row groups
//
// A row group is whole batches: it ends with the batch that reaches 122,880 rows, 128 MiB, or a
// quarter of the table (at least 20,000 rows), whichever comes first. Chunks follow one another in
// the file, so only the pages of the first leaf can be written immediately. The pages of the others
// wait in memory until the row group ends, which it also does when 32 MiB are waiting. If the first
// column is a scalar, all tensors wait: their row groups are about 32 MiB, compressed. Writing the
// chunks in another order than the schema's would avoid that, but readers that split files between
// tasks take the first column's offset for the row group's, and could skip rows. Put tensors first.
package parquet
