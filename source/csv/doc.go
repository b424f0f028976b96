// Package csv reads CSV files of numbers as a table: those that sink/csv writes in any of its styles, and those that others publish, as Kaggle's
// train.csv and pjreddie's mnist_train.csv.
//
// # What is recognised
//
//	compression  by content, as package compressed does
//	separator    of , tab ; | the one that the first line has most of, outside of quotes; spaces where there is none of them
//	header       the first line, unless all its fields are numbers, or say that one is missing (NA, null, ?); with numpy's "# " before it
//	counted      0, 1, 2, … or 1, 2, 3, …, which pandas writes for columns without names, are a
//	             header if they do not fit the rows, stand in quotes as these do not, or behind an
//	             empty field; a row if the rows go on counting; else it must be said which
//	lines        end with LF or CRLF; the last may have no end; empty lines may follow it
//	quotes       as RFC 4180 has them, also around numbers; spaces around a number are ignored; a byte order mark (UTF-8) too
//	tensors      by the names in the header, in any order: see package flat
//	no header    n² numbers are an image; one more, and it is a label in front of it; any other number is a record of one dimension
//	labels       whole numbers are integers there also with a point, 5.0, as in one array with the pixels
//	types        by the first megabyte: integers 0…255 are uint8, others int32; what has a point or an exponent is float64, or float32
//	             where all are the shortest texts of such numbers, some of them of 8 or 9 digits
//
// All of it is told by [Table.Notes], and options say otherwise. Every value is checked: one that its column's type cannot hold is an error with the
// row, the column, and both. A type holds a value if nothing is lost: uint8 holds 7.0 and 2.5e1; float32 holds fractions of up to 9 digits, which is
// what it needs to be told apart, and others if they are exact; float64 holds all fractions, and integers that are exact.
//
// A column of text is an error, but for one called class, which stands beside labels and is passed over, as is a first column without a name, where
// pandas and R put row numbers. Quotes inside of a text without quotes around it are an error: they would join rows.
//
// # Memory and speed
//
// Read cuts whole lines, Decode parses them, on many goroutines. A line may have four bytes of text for each byte that a record may have, and, once the
// number of fields is known, 32 bytes for each field, and 1 KiB more. So a batch holds no more text than that.
package csv
