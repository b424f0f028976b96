// Package interop reads idxport's outputs with the Parquet and Arrow libraries of Go. It is a
// module of its own, so that their dependencies are not idxport's. The corpus is made by
// test/interop/matrix; IDXPORT_CORPUS is its folder, IDXPORT_CELLS that of the records.
package interop
