// Package npy reads a .npy file, what numpy.save writes, as a table of one column: its first dimension counts the records.
//
// The format (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html) is a magic number, the version, the length of a text, the text, and the
// elements:
//
//	93 'N' 'U' 'M' 'P' 'Y'    magic
//	01 00                     version 1.0; 2.0 and 3.0 have a length of 4 bytes
//	76 00                     length of the text that follows, little-endian: here 118
//	{'descr': '|u1', 'fortran_order': False, 'shape': (60000, 28, 28), }
//	spaces and a newline
//
// The text is a dictionary as Python spells it. Elements of the six types of IDX are read as they are, of either byte order. bool becomes uint8, float16
// becomes float32, and other integers become int32, or the type that was asked for, if every value fits. Fortran order, text, records of fields,
// complex numbers and pickled objects are refused.
//
// [Open] compares the file's size with the header before it reads on; behind the elements the file must end.
//
// The invariant: memory is taken for the rows that are asked for, never for those that the header counts.
package npy
