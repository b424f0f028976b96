// Package source reads tables: columns of equal length, side by side, from start to end, in batches of bounded size.
//
// The contract is [Table]. One goroutine reads raw batches in order; many goroutines decode them, each its own, into little-endian columns as
// Arrow keeps them in memory. What is read is checked on the way: every byte a header promises must be there, nothing may follow it, and columns
// that are read together must be of equal length.
//
// [OpenIDX] makes a table of one column out of an IDX file, compressed or not. The other tables are made of tables: [Join] puts
// columns side by side, [Slice] takes a range of rows, [Unstack] makes a column of each element, [ChooseLabel] marks the label, [CheckLabels] demands that every label has a name.
//
// The invariant: a batch that Read has filled is never touched again by the table until it is given back to Read, so decoding, and the sinks
// that share the batch, need no lock.
package source
