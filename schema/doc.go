// Package schema describes a table as every sink sees it: a [Schema] has its columns, rows and
// metadata, a [Batch] holds consecutive rows of it, in the form of Arrow's memory.
//
// Which column is the label, [Schema.Label] decides. [Classes] are the names that labels stand for, as
// a column that sinks write beside the table's own, and [FolderNames] are the names of folders for
// them.
//
// The invariant: where batches are cut depends on the columns alone ([Schema.BatchRows]), so that the
// same input and options give the same bytes, whatever the workers, the memory and the other outputs.
package schema
