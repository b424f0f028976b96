// Package npy writes one column of a table as a .npy file, the format of numpy.save.
//
// The sink that [New] returns writes format 1.0
// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html):
//
//	93 'N' 'U' 'M' 'P' 'Y'    magic
//	01 00                     version 1.0
//	76 00                     length of the text that follows, little-endian: here 118
//	{'descr': '|u1', 'fortran_order': False, 'shape': (60000, 28, 28), }
//	spaces and a newline
//
// and then the elements in C order, little-endian. The header takes 128 bytes, or a larger multiple
// of 64 if the shape is long, so that the elements are aligned and can be mapped into memory:
// numpy.load(path, mmap_mode="r"). The file is byte for byte that of numpy.save.
//
// Only the header is made here. The sink itself is that of package sink/idx, which writes a header
// and then the elements of a column; as .npy files are little-endian like batches, it writes the
// batch's memory without a copy.
package npy
