// Package tar writes images as a tar file of WebDataset (https://github.com/webdataset/webdataset):
// adjacent files with equal names up to the first dot, the key, are one sample.
//
//	000000.png     the image of row 0
//	000000.cls     its label, decimal
//	000000.json    its other scalars, if the table has any: {"writer":2154,"digit_index":59}
//	000001.png
//
// [New] returns a [Sink], which implements sink.Sink. The key is the row in the source, even if
// only a range of rows is converted, padded with zeros to the digits of the source's last row, and
// to at least six. Package images chooses the image and label columns and makes the PNG files; a
// table without labels has no .cls files. WebDataset decodes .cls to an integer and .json to a
// dictionary. Floats in .json are formatted by [schema.AppendFloat], infinities as Infinity, which
// Python's json reads. Columns of vectors are errors.
//
// # Bytes
//
// The headers are POSIX ustar: blocks of 512 bytes with the name, mode 0644, the size in octal, a
// checksum, and zero for owner, group and time. Each file is padded with zeros to a whole block,
// and two blocks of zeros end the archive.
//
// The invariant: what is written for a row depends on that row, the schema and the options alone.
// Encode makes the blocks of a batch, the step appends them.
package tar
