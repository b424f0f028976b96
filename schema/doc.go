// Package schema describes a table as every sink sees it: a [Schema] has its columns, rows and
// metadata, and a [Batch] holds consecutive rows of it in Arrow's memory format.
//
// [Schema.Label] chooses the label column. [Classes] is a column of class names that sinks write
// after the labels, and [FolderNames] makes folder names of them. [AppendNumber] writes an element
// as text.
//
// The invariant: the number of rows in a batch depends on the columns alone ([Schema.BatchRows]),
// so the same input and options give the same bytes, whatever the workers, the memory and the other
// outputs.
package schema
