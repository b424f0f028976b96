// Package images turns records into PNG files, for the sinks and layouts that hold images:
// [NewTable] chooses the image and label columns of a table, [New] determines which pixels a record
// of a column has, and [Image.Append] makes the file of each record.
//
//	uint8  H×W, H×W×1     gray, 8 bits
//	int16  H×W, H×W×1     gray, 16 bits; negative values are errors
//	uint8  H×W×3, H×W×4   RGB, RGBA
//	uint8  3×H×W, 4×H×W   RGB, RGBA, if the last dimension is none of 1, 3, 4; 1×H×W is gray
//
// The image column is the only column whose records have two dimensions or more.
// [schema.Schema.Label] chooses the label column, if there is one.
//
// Records that PNG cannot hold are errors with a hint: fault.Usage for a column and
// fault.Unsupported for a value. The invariant: the file of a row depends only on that row and
// the column.
package images
