// Package summary is a sink that writes nothing: it gathers what `idxport inspect` tells about the values of a table.
//
// Every batch is summed up on a worker, and the sums are added in the order of the rows, so that the mean of floats does not depend on the
// number of workers.
package summary
