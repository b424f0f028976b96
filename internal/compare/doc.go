// Package compare provides a sink that compares two tables, which are read side by side.
//
// A [Pair] is one table that has the columns of the first table and then their counterparts in the
// second, so that the workers of a pipeline decode both. The [Sink] compares the bytes of each
// batch, at the speed of memory, and decodes values only where bytes differ. It adds up differences
// in row order, so it lists the first ones in the table, for any number of workers.
//
// Values are equal if they have the same bits. If a column has another type in the second table
// than in the first, such as a wider integer, values are equal if they are the same number, or if
// both are NaN. A double is first rounded to a float if that is the type in the first table.
package compare
