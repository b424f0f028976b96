// Package formats is the table of the readers of other formats than IDX: it finds the tables of a path and opens them.
//
// A file is told by its content where that is unmistakable (Parquet, Arrow files, NumPy), else by the ending of its name (Arrow streams, CSV). A folder is,
// in this order,
//
//	one table     folders partitioned by columns of integers (label=7/part-0.parquet), which become columns, in the order of their values; parts
//	              (part-00000….parquet beside _SUCCESS); or PNG images, with or without class folders
//	a table each  shards of the Hub (data/train-00000-of-00002.parquet), files of one format, folders that are tables themselves, as train and test
//	              of images
//
// A folder in which something would be passed over in silence is an error: images beside tables, one table in two formats, shards of which some are missing,
// partitions of other keys or depths than the first. Folders beside the files of tables, parts of which numbers are missing, and columns that only the names
// of folders above tell, are said in notes.
//
// Nothing registers itself, and nothing outside this package lists readers.
package formats
