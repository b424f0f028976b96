// Package npy writes one column of a table as a .npy file, the format of numpy.save.
//
// The sink that [New] makes writes format 1.0 (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html):
//
//	93 'N' 'U' 'M' 'P' 'Y'    magic
//	01 00                     version 1.0
//	76 00                     length of the text that follows, little-endian: here 118
//	{'descr': '|u1', 'fortran_order': False, 'shape': (60000, 28, 28), }
//	spaces and a newline
//
// and then the elements in C order, little-endian. The header takes 128 bytes, or another 64 where a shape is long, so that the elements can be
// mapped into memory: numpy.load(path, mmap_mode="r"). The file is byte for byte that of numpy.save.
//
// The header comes first and counts the rows, so that number must be known before the first one; Close checks that it was right.
// Batches hold their elements as the file does: they go to the output without a copy.
package npy
