// Package compare is a sink that writes nothing: it compares two tables that are read side by side.
//
// [Pair] makes one table of both, the columns of the first and then their counterparts in the second, so that both are decoded on the workers of a
// pipeline. The [Sink] compares the bytes of each batch there, which is as fast as memory, and looks at values only where bytes differ. The
// differences are added up in the order of the rows: the first one that is told is the first in the table, whatever the workers.
//
// Values are equal if they are the same bits. Where the second table has another type than the first (a wider integer, a double for a float), they
// are equal if they are the same number, rounded to the first table's type; all NaNs are equal then.
package compare
