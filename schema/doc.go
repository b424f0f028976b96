// Package schema describes a table as every sink sees it: a [Schema] has its columns, rows and
// metadata, and a [Batch] holds consecutive rows of it in Arrow's memory format.
//
// [Schema.Label] chooses the label column. [Classes] is a column of class names that sinks write
// after the labels, [FolderNames] makes folders of them, [AppendNumber] writes a number as text.
//
// The invariant: the number of rows in a batch depends on the columns alone ([Schema.BatchRows]),
// so the bytes of an output depend neither on the workers and the memory nor on other outputs.
package schema
