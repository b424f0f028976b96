// Package parquet writes tables as Parquet files, at the speed of memory where nothing is compressed.
//
// Library writers take a value at a time and store a list of uint8 as one INT32 a pixel. Here pages are put together from the batch's own
// bytes. [New] makes a [Sink] for a schema; Encode makes and compresses the pages of a batch on any goroutine, its step appends them.
// Everything that depends on the order of rows (offsets, row groups, dictionaries of scalar columns) is the steps' alone, so the same
// input and options give the same bytes.
//
// # The file
//
//	"PAR1"
//	row group …      one chunk per leaf, in the schema's order: dictionary page, data pages
//	column indexes   minimum and maximum of each page, for scalar columns
//	offset indexes   position and first row of each page, for all columns
//	footer           schema, chunks, key-value metadata; its length; "PAR1"
//
// A data page (version 1) is a Thrift header with the CRC-32 of what follows, then, compressed as one piece: repetition levels and
// definition levels, each after its length in 4 bytes, where the leaf has any, and the values.
//
// # The identity dictionary
//
// Elements of 8 and 16 bits are INT32 values in Parquet. Each chunk of them starts with a dictionary of all the values there are,
// dictionary[i] being the element whose bits are i. Indices into it have 8 or 16 bits, and a bit-packed run of that width is the elements
// themselves, untouched: the byte 8 or 16, varint(groups·2 + 1) with groups of 8 values, the elements, zeros to fill the last group. A
// dictionary takes 1 KiB or 256 KiB; where PLAIN pages are smaller, a row group has those. Elements of 32 and 64 bits are PLAIN, which is the
// batch's memory as it is.
//
// # Scalar columns
//
// Scalars are gathered until their row group ends, and become pages of 20,000 rows with a dictionary of the values that occur, in the order
// of the rows; PLAIN if there are more than 65,536, or if that is smaller. They have statistics and a column index. All of
// that is done by the step that ends the row group: to number the values of batches in Encode was no faster for images with labels.
//
// Class names (text) are gathered as indices. Each chunk has the dictionary of all names in the order of their labels, so that codes of readers which keep
// dictionaries are the same in every row group; the bounds are those of the names that occur, in the order of their bytes.
//
// An optional scalar (a label of the layout huggingface, a size in spark-image) is never null: its pages have definition levels of one run.
//
// # Row groups
//
// A row group is whole batches: as many as reach 122,880 rows, or 128 MiB, or a quarter of the table (20,000 rows at least), whichever
// comes first. Chunks follow one another in the file, so only the pages of the first leaf can be written as they come. The pages of
// the others are held in memory until the row group ends, which it also does when 32 MiB are held. If the first column is a scalar, all
// tensors are held: their row groups are about 32 MiB, compressed. Chunks in another order than the schema's would avoid that, but readers
// that split files between tasks take the first column's offset for the row group's, and could pass over rows. Put tensors first.
package parquet
