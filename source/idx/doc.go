// Package idx reads and writes IDX files, the format that MNIST made popular.
//
// An IDX file consists of a header and one array of numbers. There is no padding, no column name
// and no checksum. All numbers are big-endian.
//
//	offset  bytes  meaning
//	0       2      zero
//	2       1      data type of the elements: a DType
//	3       1      rank n, the number of dimensions: 1 to 255
//	4       4·n    the dimensions, unsigned, slowest first
//	4+4·n   …      the elements in C order: the last index changes fastest
//
// The data types are:
//
//	08  unsigned byte    0B  short, 16 bits     0D  float, IEEE 754 binary32
//	09  signed byte      0C  int, 32 bits       0E  double, IEEE 754 binary64
//
// The first dimension is the number of records; the other dimensions are the shape of one record.
// Three images of 2×2 unsigned bytes take 28 bytes:
//
//	00000000  00 00 08 03 00 00 00 03  00 00 00 02 00 00 00 02  |................|
//	00000010  00 ff ff 00 10 20 30 40  01 02 03 04              |..... 0@....|
//
//	00 00        always zero
//	08           unsigned byte
//	03           rank 3
//	00 00 00 03  three records
//	00 00 00 02  of two rows
//	00 00 00 02  and two columns each
//	00 ff ff 00  the first image, row by row: black, white / white, black
//	10 20 30 40  the second image
//	01 02 03 04  the third image
//
// The labels of these images are a file of rank 1: 00 00 08 01, 00 00 00 03, and three bytes. Files
// are often compressed with gzip, and their names give the rank and the data type:
// train-images-idx3-ubyte.gz has rank 3 and unsigned bytes.
//
// A dimension may be 0. The format does not mention trailing bytes, rank 0 or arrays of unknown
// length. This package refuses all three, as the data can only be checked against the header.
// Sources: "The IDX file format" on Y. LeCun's page https://yann.lecun.com/exdb/mnist/, and the
// source code of Lush, where the format comes from (lush.sourceforge.net).
//
// [ReadHeader] reads a header. A [Reader] reads records. Before it allocates anything, it checks
// the header against limits and, if the size of the input is known, against that size. It returns
// whole records only, and it requires the data to end where the header says, except with
// [Options.Salvage]. Errors about the input are of the type [fault.Error], with a kind such as
// [fault.Truncated], the offset in bytes, what was found, and what was expected.
//
// A file is what [Header.AppendBinary] makes, and the records. Elements are in the byte order of
// the file, which [encoding/binary] converts; compression is for packages such as [compress/gzip].
//
// The invariant: without Salvage, after [io.EOF], every byte that the header promised has been
// read, or skipped by a seek in an input of known size, and no byte followed.
package idx
