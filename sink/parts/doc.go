// Package parts writes a table into many files of one folder: each a whole file of its format, with so many rows or about so many bytes.
//
//	part-00000-5a1f….parquet, part-00001-….parquet, …, _SUCCESS        as Spark names them
//	README.md, data/train-00000-of-00002.parquet, …                    as Hugging Face's Hub names them
//
// The names are the publisher's: see [publish.Mark]. Rows are cut where the options say, whatever the batches, and sizes between batches, so the
// same table and options give the same files.
package parts
