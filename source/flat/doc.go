// Package flat finds the tensors in a flat table: the columns of CSV files, and of Arrow and Parquet files that have a column for each element, whose
// names count the elements of one record.
//
// [Group] takes the names of all columns and returns a [Field] for each column that the table stands for:
//
//	label,pixel0,pixel1,…,pixel783    label, and image of 28×28: the square is a guess, which Guess tells
//	label,1x1,1x2,…,28x28             label, and image of 28×28, which the names tell
//	label,a0,a1,…,a5,b_1,b_2          label, a of 6 and b of 2
//
// The columns may stand in any order, as where a program sorted their names as texts: the numbers
// in the names tell the place of each in its record. What a gap in the numbers stands for nobody
// knows, so it is an error.
//
// The invariant: the columns of a field are in C order, and every name is in exactly one field.
package flat
