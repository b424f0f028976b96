// Package npy reads .npy files and the arrays of .npz files, as numpy.save and numpy.savez write
// them. Each array is a table of one column; its first dimension is the number of records.
//
// The format, https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html:
//
//	93 'N' 'U' 'M' 'P' 'Y'    magic number
//	01 00                     version 1.0; 2.0 and 3.0 have a length of 4 bytes
//	76 00                     length of the text that follows, little-endian: here 118
//	{'descr': '|u1', 'fortran_order': False, 'shape': (60000, 28, 28), }
//	spaces, a newline, and the elements
//
// Elements of the six types of IDX are read as they are, in either byte order. bool becomes uint8,
// float16 becomes float32, and other integers become int32, or the type that was asked for, if
// every value fits. Other types are refused, and so is Fortran order, in which a record lies
// scattered over the file. A .npz file is a zip archive, whose names are never used as paths.
//
// The invariant: the memory allocated depends on the number of rows that are read at once, and not
// on the sizes and counts that a file gives. Every byte is read and checked up to the end.
package npy
