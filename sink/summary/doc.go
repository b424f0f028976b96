// Package summary provides a sink that writes nothing but collects statistics of a table's values
// for `idxport inspect`.
//
// Every batch is summed up on a worker, and the sums are added in row order, so that the mean of
// floats does not depend on the number of workers.
package summary
