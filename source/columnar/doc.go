// Package columnar resolves the columns of Arrow and Parquet files to columns of IDX. The reader of
// a format describes every column of a file as a [Field], and the first row as a [Sample].
// [Resolve] returns a [Column] for each that IDX can have:
//
//	number, truth value          scalar
//	number in a dictionary       scalar
//	text in a dictionary         label with class names, if it is the only such column and the file
//	                             has no scalar integers
//	lists of numbers, nested     tensor, whose shape is in the metadata or is that of the first row
//	  or not
//	bytes, fixed-size or not     tensor, whose type and shape are in the metadata or in the options;
//	                             refused if they are in neither
//	bytes that are PNG files     image
//	struct{bytes, path}          image, as Hugging Face's datasets store it
//	struct{height, …, data}      image, as Spark ML stores it
//	columns pixel0, pixel1, …    tensor: see package flat
//
// Other text is refused, except for class names beside their labels. Class names and the index of a
// pandas frame are left out of the table.
//
// The reader of the format reads the values and makes the records: a Column says how, and
// [Column.Image] and [Column.SparkImage] make the records of images.
package columnar
