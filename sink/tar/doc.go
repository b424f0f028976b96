// Package tar writes a table of images as a tar file in the convention of WebDataset (https://github.com/webdataset/webdataset): files that lie side by
// side and share a key, which is what their names have before the first dot, are one sample.
//
//	000000.png     the image of row 0
//	000000.cls     its label, decimal
//	000000.json    its other scalars, if the table has any: {"writer":2154,"digit_index":59}
//	000001.png
//
// A [Sink] is made by [New] and obeys the contract of package sink. The key is the row in the source, also if only a range of rows is converted, padded
// with zeros to the digits of the source's last row, and to at least six. Package images says which columns are the images and the labels, and what
// makes a PNG file; a table without labels has no .cls. WebDataset decodes .cls to an integer and .json to a dictionary. Floats in .json are the
// shortest that read back, with a point or an exponent; what is not finite is NaN, Infinity and -Infinity, as Python's json has it. Columns of vectors
// are left out, and [Sink.Notes] says so.
//
// # Bytes
//
// The headers are POSIX ustar: blocks of 512 bytes with the name, mode 0644, the size in octal, a checksum, and zero for owner, group and time. Each
// file is padded with zeros to a whole block, and two blocks of zeros end the archive.
//
// The invariant: what is written for a row depends on that row, the schema and the options alone. Encode makes the blocks of a batch, the step
// appends them.
package tar
