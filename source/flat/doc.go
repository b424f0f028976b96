// Package flat finds tensors in flat tables: CSV, Arrow and Parquet files that have a column for
// each element of a record, with the position of the element as a number in its name.
//
// [Group] takes the names of all columns and returns a [Field] for each column of the resulting
// table:
//
//	label,pixel0,pixel1,…,pixel783    label, and image of 28×28: the square is a guess, see Field
//	label,1x1,1x2,…,28x28             label, and image of 28×28, as the names say
//	label,a0,a1,…,a5,b_1,b_2          label, a of 6 and b of 2
//
// The columns may be in any order, for example sorted as text: the numbers in the names give the
// position of each column in its record. A gap in the numbers is an error, because the missing
// elements are unknown.
//
// The invariant: the columns of a field are in C order, and every name is in exactly one field.
package flat
