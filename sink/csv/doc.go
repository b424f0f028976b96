// Package csv writes a table as CSV: one line per row, one number per element.
//
// [New] returns a [Sink], which implements sink.Sink. The layout, one of [Layouts], sets the form
// of the lines; the published CSV editions of MNIST differ only in their headers.
//
// # The format
//
// Lines end with LF. Scalar columns come first, then tensors, both in the order of the table; the
// elements of a tensor are in C order. Records without elements are an error. With one tensor, the
// header names its elements pixel0, pixel1, …; with several, the names begin with the column's:
//
//	layout    one tensor column, image 28×28        columns a and b of 2×2
//	kaggle    label,pixel0,pixel1,…,pixel783        label,a0,a1,a2,a3,b0,…
//	kaggle1   label,pixel1,pixel2,…,pixel784        label,a1,a2,a3,a4,b1,…
//	rowxcol   label,1x1,1x2,…,28x28                 label,a_1x1,a_1x2,a_2x1,a_2x2,b_1x1,…
//	pjreddie  no header                             no header
//	matrix    no header, no label                   an error: one column only
//
// In rowxcol, records of one dimension are rows: 1x1,1x2,….
//
// Class names of the schema are a field "class" after the label, or an error without a header.
//
// Header names and class names are quoted where RFC 4180 requires it, and if they are empty or
// begin with a space. Otherwise they are unchanged, even where a spreadsheet would take them for a
// formula (=, +, -, @). Numbers never need quotes.
//
// Integers are decimal. Floats are formatted by [schema.AppendFloat], so that readers that guess
// types (pandas, DuckDB, polars) see doubles: 1.0, 1e+20, -0.0. Floats that are not finite are NaN,
// inf and -inf, because those readers take Go's own +Inf for text. DuckDB guesses dates if the
// first value of a column is an infinity, however it is spelled; its user must then give the types.
//
// Text is rendered in pieces of fixed size. Where they end depends on the data alone, so compressed
// output does not depend on the number of workers.
package csv
