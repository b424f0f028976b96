// Package compare provides a sink that writes nothing but compares two tables, which are read side
// by side.
//
// [Pair] returns one table of both, with the columns of the first and then their counterparts in
// the second, so that the workers of a pipeline decode both. The [Sink] compares the bytes of each
// batch, at the speed of memory, and decodes values only where bytes differ. It adds up the
// differences in row order, so the difference that it reports first is the first in the table,
// whatever the workers.
//
// Values are equal if they have the same bits. If the second table has another type than the first
// (a wider integer, a double for a float), values are equal if they are the same number, rounded to
// the first table's type; all NaNs are equal then.
package compare
