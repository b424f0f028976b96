// Package source reads tables: columns of equal length, from start to end, in bounded batches.
//
// The contract is [Table]. One goroutine reads raw batches in order; many goroutines decode them,
// each its own batch, into little-endian columns as Arrow keeps them in memory. Input is checked
// while it is read: every byte that a header promises must exist, nothing may follow, and columns
// that are read together must have equal lengths.
//
// [OpenIDX] reads an IDX file, compressed or not, as a table of one column. Other functions derive
// tables from tables. For example, [Join] puts columns side by side, [Slice] takes a range of rows,
// [Select] takes chosen rows, [Unstack] makes a column of each element, and [CheckedLabels]
// requires a class name for every label.
//
// The invariant: once Read has filled a batch, the table changes it only in Decode of that batch,
// until it is passed to Read again. So decoding, and the sinks that share the batch, need no lock.
package source
