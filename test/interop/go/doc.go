// Package interop reads idxport's outputs with the Parquet and Arrow libraries of Go. Its module is
// its own, so that the product need not bring along what they depend on. The corpus is made by
// test/interop/matrix; IDXPORT_CORPUS is its folder, IDXPORT_CELLS that of the records.
package interop
