// Package schema says how IDX data looks as Arrow data: which type stands for which, and how a batch that was read becomes arrays
// without a copy.
//
//	IDX            code  Arrow
//	unsigned byte  08    uint8
//	signed byte    09    int8
//	short          0B    int16
//	int            0C    int32
//	float          0D    float32
//	double         0E    float64
//
// A column of rank 1 is primitive. A column of higher rank is a list of fixed size over the whole record, in C order; its shape is kept in the
// field's metadata (idx.shape), with the data type (idx.dtype). A [Schema] describes a table, a [Batch] holds consecutive rows of it.
//
// Which column is the label, [Schema.Label] tells. [Classes] are the names that labels stand for, as a column that sinks write beside the table's own,
// and [FolderNames] are what folders are called after them.
//
// The invariant: where batches are cut depends on the columns alone ([Schema.BatchRows]), so that the same input and options give the same
// bytes, whatever the workers, the memory and the other outputs.
package schema
