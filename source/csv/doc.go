// Package csv reads CSV files of numbers as a table: those that sink/csv writes in any of its
// styles, and those that others publish, such as Kaggle's train.csv and pjreddie's mnist_train.csv.
//
// # What is recognised
//
//	compression  by content, as package compressed does
//	before data  empty lines, and comments, which begin with #; the last of them is the header if it
//	             has as many fields as the line after it, as numpy.savetxt writes it
//	separator    as in a first line such as "sep=;", which Excel writes; or the most frequent of
//	             , tab ; | outside quotes in the first line; or spaces between numbers
//	header       a first line with a word; NA, null and ? are words only if no field is a number
//	numbered     0, 1, 2, … or 1, 2, 3, …, which pandas writes for columns without names, are a
//	             header if they do not fit the rows, are in quotes unlike the rows, or follow an
//	             empty field; a row if the rows continue the count; otherwise the user must decide
//	lines        end with LF or CRLF; the last may have no end; empty lines may follow it
//	quotes       as in RFC 4180, also around numbers; spaces around a number and a UTF-8 byte order
//	             mark are ignored
//	tensors      by the names in the header, in any order: see package flat
//	no header    n² numbers are an image; n²+1 are a label and an image; any other number is a
//	             record of one dimension
//	labels       whole numbers are integers, even if written 5.0, as when labels and pixels were in
//	             one array
//	types        from the first megabyte and the last 64 KiB: integers 0…255 are uint8, others
//	             int32; larger ones, and numbers with a point or an exponent, are float64, or
//	             float32 if each is the shortest text of a float32 and some have 8 or 9 digits
//
// [Table.Notes] mentions all of it, and options override it. Every value is checked: if the type of
// its column cannot hold it, the error has the row, the column, the value and the type. Types of
// integers hold the whole numbers of their range, also if they are written 7.0 or 2.5e1. float32
// holds fractions of up to 9 digits, which are enough to distinguish its numbers, and others if
// they are exact. float64 holds all fractions, which it rounds, and integers if they are exact.
//
// A column of text is an error, except one named class beside labels, which is left out. A first
// column without a name, where pandas and R put row numbers, is left out too. Quotes inside an
// unquoted text are an error: they would join rows.
//
// # Memory and speed
//
// Read cuts whole lines; Decode parses them, on many goroutines. The first line may have four bytes
// of text for each byte that a record may have. Once the number of fields is known, a line may have
// 32 bytes for each field plus 1 KiB. This limits the text of a batch.
package csv
