// Package flat finds tensors in flat tables: CSV, Arrow and Parquet files that have a column for
// each element of a record, with the position of the element as a number in its name.
//
//	label,pixel0,pixel1,…,pixel783    label, and image of 28×28: the square is a guess, see Field
//	label,1x1,1x2,…,28x28             label, and image of 28×28, as the names say
//	label,a0,a1,…,a5,b_1,b_2          label, a of 6 and b of 2
//
// [Group] makes a [Field] for each column of the table from the names in a file. The invariant: the
// columns of a field are side by side in C order, and every name is in exactly one field.
package flat
