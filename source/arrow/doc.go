// Package arrow reads Arrow IPC files and streams as tables: those of package sink/arrow, in every
// layout, and those of other programs.
//
// [Open] detects from the content whether it has a file or a stream, [OpenFiles] reads files with
// the same columns one after another, and [New] reads from a pipe. Package sink/arrow describes the
// format. Columns become records as follows:
//
//	int8 … float64               scalars
//	dictionary of numbers        scalars of the type of the values
//	the only dictionary of text  labels of uint8 or int32 with class names, if there is no other
//	                             column of scalar integers
//	bool, float16                scalars of uint8 and float32
//	other integers               scalars of int32, if every value fits
//	lists, fixed-size or not     tensors with a dimension for every level, as in the first row
//	  … fixed_shape_tensor       tensors of the shape in the metadata
//	bytes, fixed-size or not     tensors of the type and shape in idx.dtype and idx.shape, or in
//	                             the options
//	  … that begin as PNG files  images
//	struct of bytes and path     images, as Hugging Face's datasets store them
//	struct of height, …, data    images, as Spark stores them
//	pixel0, pixel1, …            the elements of one tensor: see package source/flat
//
// Nothing in a file is trusted: every offset in the metadata is checked, sizes are compared with
// the file before memory is allocated for them, and the length of every list is checked. An
// uncompressed record batch of a regular file may have any size, as its rows are read straight from
// the file. Other record batches are read into memory, up to 256 MiB, and decompressed, up to 1
// GiB.
//
// A feed finds the record batches, [Table.Read] gathers rows of their arrays in memory, and
// [Table.Decode] converts what was gathered to records.
//
// The invariant: a batch that Read has returned does not change when the next one is read, so that
// Decode may run at the same time as Read.
package arrow
