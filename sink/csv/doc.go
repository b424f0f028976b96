// Package csv writes a table as CSV: one line per row, one number per element.
//
// A [Sink] is made by [New] and obeys the contract of package sink. What the lines look like is a [Style], a row of the table that [Styles]
// returns; the published CSV editions of MNIST differ in nothing but their header.
//
// # The format
//
// Lines end with LF. Scalar columns come first, then tensor columns, both in the order of the table; the elements of a tensor follow each other in
// C order. Records of no elements have no fields. With one tensor column, the header calls its elements pixel0, pixel1, …; with several, each
// carries the name of its column:
//
//	style     one tensor column, image 28×28        columns a and b of 2×2
//	kaggle    label,pixel0,pixel1,…,pixel783        label,a0,a1,a2,a3,b0,…
//	kaggle1   label,pixel1,pixel2,…,pixel784        label,a1,a2,a3,a4,b1,…
//	rowxcol   label,1x1,1x2,…,28x28                 label,a_1x1,a_1x2,a_2x1,a_2x2,b_1x1,…
//	pjreddie  no header                             no header
//	matrix    no header, no label                   refused: one column only
//
// In rowxcol, records of one dimension are rows: 1x1,1x2,….
//
// The names of the classes, if they were asked for, are a field "class" behind the label; styles without a header refuse them.
//
// Header names and class names are quoted as RFC 4180 says, where they need it. They are written as they are otherwise, also where a spreadsheet would take
// them for a formula (=, +, -, @). Numbers never need quotes.
//
// Integers are decimal. Floats are the shortest text that gives the same number back in their own precision, always with a point or an exponent, so
// that readers which guess types (pandas, DuckDB, polars) see doubles: 1.0, 1e+20, -0.0. The others are NaN, inf and -inf; Go's own
// +Inf is text to those readers. DuckDB alone takes a column whose first value is an infinity for dates, however it is spelt: tell it the types there.
//
// # Memory
//
// Text is made in pieces of fixed size. Encode makes a whole batch of the usual 1 MiB, but no more than [Sink.BatchSize] says of a batch that is one
// huge record: the rest is made, piece by piece, when the step writes it. Where pieces end depends on the data alone, so compressed
// output does not depend on the number of workers.
package csv
