// Package columnar finds out which columns of IDX a file of Arrow or Parquet holds. Both formats
// describe their columns as a [Field] each and give what the first row tells, a [Sample]; [Resolve]
// makes a [Column] of each that can be one:
//
//	a number, a truth value             a scalar
//	a number in a dictionary            a scalar
//	text in a dictionary                a label with class names, if the file has no other column of scalar integers
//	lists, or lists in lists, of these  a tensor, whose shape the metadata or the first row tells
//	bytes, fixed-size or not            a tensor, whose type and shape the metadata or the options tell; refused if neither does
//	bytes that are PNG files            an image
//	struct{bytes, path}                 an image, as Hugging Face's datasets store it
//	struct{height, …, data}             an image, as Spark ML stores it
//	columns pixel0, pixel1, …           a tensor: see package flat
//
// Other text is refused, but for the names of classes beside their labels, which are passed over, as the
// index of a pandas frame is.
//
// How values are read is the format's own matter: a Column says what they are, and [Column.Image]
// and [Column.SparkImage] make the records of images.
package columnar
