// Package arrow reads Arrow IPC files and streams as tables: those that package sink/arrow writes, in every layout, and those of other programs.
//
// [Open] tells a file from a stream by its content, [OpenFiles] reads files of the same columns one after another, [New] reads from a pipe. The format is
// described in package sink/arrow. Columns become records so:
//
//	int8 … float64                             scalars
//	dictionaries of numbers                    scalars of the type of the values
//	the only dictionary of text                labels of uint8 or int32 with class names, where no other column is scalar integers
//	bool, float16, other integers              scalars of uint8, float32, and int32 if every value fits
//	fixed_size_list, list, large_list, views   tensors of one dimension for each list in a list, whose lengths are those of the first row
//	  … of the type fixed_shape_tensor         tensors of the shape that it tells
//	fixed_size_binary, binary, views           tensors of the type and shape of idx.dtype and idx.shape, or of the options
//	  … that begin as PNG files do             pictures
//	struct of bytes and path                   pictures, as Hugging Face's datasets have them
//	struct of height, width, …, data           images, as Spark has them
//	pixel0, pixel1, …                          the elements of one tensor: see package source/flat
//
// Nothing is believed: metadata is read by code that checks every offset, buffers are compared with the file before memory is taken for them, and every list
// is measured. The rows of uncompressed record batches in a plain file are read straight from where they are, however large the batch is. Other batches are
// read into memory as a whole, up to 256 MiB, and decompressed by Decode, to up to 1 GiB.
//
// The invariant: what is in a batch of the table when Read returns does not change when the next is read, so that Decode may run beside Read.
package arrow
