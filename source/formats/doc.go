// Package formats is the table of the readers of formats other than IDX. It finds the tables at a
// path and opens them.
//
// The format of a file is detected from its content if that is unmistakable (Parquet, Arrow files,
// .npy), and otherwise from the extension (Arrow streams, CSV, .npz). A .npz file may have several
// splits, see [Table.Arrays]. A folder is, in this order:
//
//	one table     folders partitioned by integers (label=7/part-0.parquet), which become columns, in
//	              the order of their values; parts (part-00000….parquet beside _SUCCESS); or PNG
//	              images, with or without class folders
//	several       shards of the Hub (data/train-00000-of-00002.parquet), files of one format, or
//	tables        folders that are tables, such as train and test of images
//
// A folder is an error if something in it would be silently ignored: images beside tables, one
// table in two formats, missing shards, partitions with other keys or depths than the first. Notes
// mention folders beside the files of tables, missing numbers of parts, and key=value names of
// folders above the path, whose columns are skipped.
//
// Nothing registers itself, and no other package lists the readers.
package formats
