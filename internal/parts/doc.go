// Package parts splits a table into many files in one folder. Each is a complete file of its
// format, with a given number of rows.
//
//	part-00000-5a1f….parquet, part-00001-….parquet, …, _SUCCESS  named as by Spark
//	README.md, data/train-00000-of-00002.parquet, …  named as on the Hugging Face Hub
//
// Package publish chooses the names: see [publish.Kind]. A file may end within a batch. Batches
// depend on the schema alone, so the same table and options give the same files.
package parts
