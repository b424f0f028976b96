// Package idx reads IDX files, the format that MNIST made known, and writes their headers.
//
// An IDX file is a header and one array of numbers, without padding, names or checksum. All numbers are big-endian.
//
//	offset  bytes  meaning
//	0       2      zero
//	2       1      data type of the elements: a DType
//	3       1      rank n, the number of dimensions: 1 to 255
//	4       4·n    the dimensions, unsigned, slowest first
//	4+4·n   …      the elements in C order: the last index changes fastest
//
// The data types are
//
//	08  unsigned byte    0B  short, 16 bits     0D  float, IEEE 754 binary32
//	09  signed byte      0C  int, 32 bits       0E  double, IEEE 754 binary64
//
// The first dimension counts the records; the others are the shape of one record. Three 2×2 images of unsigned bytes are 28 bytes:
//
//	00000000  00 00 08 03 00 00 00 03  00 00 00 02 00 00 00 02  |................|
//	00000010  00 ff ff 00 10 20 30 40  01 02 03 04              |..... 0@....|
//
//	00 00        always
//	08           unsigned byte
//	03           rank 3
//	00 00 00 03  three records
//	00 00 00 02  of two rows
//	00 00 00 02  of two columns
//	00 ff ff 00  the first image, row by row: black white / white black
//	10 20 30 40  the second
//	01 02 03 04  the third
//
// Their labels are a file of rank 1: 00 00 08 01, 00 00 00 03, and three bytes. Files are often compressed with gzip, and called
// after what they hold: train-images-idx3-ubyte.gz has rank 3 and unsigned bytes.
//
// A dimension may be 0. The format says nothing of trailing bytes, of rank 0 and of arrays without end: this package refuses them all, as what
// the header promises is the only check there is. Sources: Y. LeCun's page "The MNIST database", section "the IDX file format",
// https://yann.lecun.com/exdb/mnist/, and the sources of Lush, where the format comes from (lush.sourceforge.net).
//
// [ReadHeader] reads a header. A [Reader] reads records: it checks the header against limits and, where it is known, against the size of
// the input, before anything is allocated; it hands out whole records only; and it demands that the data ends where the header says.
//
// The invariant: after [io.EOF] every byte the header promised was read, and there was none more.
package idx
