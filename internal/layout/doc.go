// Package layout represents columns of IDX data in Arrow and in Parquet, for the sinks that write
// the two.
//
//	IDX            code  Arrow    Parquet
//	unsigned byte  08    uint8    INT32, INT(8,false)
//	signed byte    09    int8     INT32, INT(8,true)
//	short          0B    int16    INT32, INT(16,true)
//	int            0C    int32    INT32
//	float          0D    float32  FLOAT
//	double         0E    float64  DOUBLE
//
// Scalars (columns of single elements) are primitive columns in every layout, except for the labels
// of huggingface. A [Layout] is one way to represent tensors; the function layouts lists them.
// [Represent] turns each column of a schema into one or more output columns. An output [Column]
// contains everything that the two writers need:
//
//	Arrow     a field, and a function that wraps a batch's bytes as array data of the field's type
//	Parquet   the schema elements, depth first, and the leaves: the columns that hold values; both
//	          follow from the field's type
//
// The field's metadata stores the data type (idx.dtype) and the shape (idx.shape) of the IDX
// column.
//
// A [Leaf] describes the pages of a Parquet column: it has the levels of one row and a function
// that returns the values. The levels are the same in every row, because all records of an IDX file
// have one shape and none is missing. A page writer needs to know nothing else, so nested lists,
// structs and optional groups are not special cases.
//
// The invariant: Data and Values return the batch's own memory wherever it already has the right
// form. What they return is valid as long as the batch is.
//
// Where a layout needs another form (bytes after their lengths, PNG files), Data and Values make it
// in every call, from the records alone, so they are safe for concurrent use and give the same
// bytes on every goroutine. Allocates is about the memory that they take. They cannot fail: Check
// is called before, and finds the values that a layout cannot hold.
//
// Layouts of images accept the records that package images accepts: H×W, H×W×C, or C×H×W. A column
// of class names ([schema.Classes]) is text with a dictionary, the same for the whole output, in
// every layout but huggingface, where the names are in the metadata.
//
// # Levels of a list
//
// A list<uint8> in Parquet is three nodes: a required group, a repeated group, and an optional
// element:
//
//	required group image (LIST) { repeated group list { optional int32 element; } }
//
// Every element has a repetition level, 0 where a row starts and 1 inside it, and a definition
// level, 2 where it is present; a row without elements is one entry with both levels 0. Levels are
// written as run-length runs: varint(length·2), then the level in one byte. A row of 784 pixels is
// a run of one 0 and a run of 783 ones,
//
//	02 00  9e 0c 01
//
// and runs of consecutive rows simply follow each other.
//
// The layout "nested" has the three nodes again for each dimension, with optional inner groups. Its
// repetition levels go up to the number of dimensions, its definition levels to twice that; where
// the last dimension is short, repetition levels are bit-packed runs.
package layout
