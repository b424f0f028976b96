// Package summary provides a sink that collects statistics of a table's values for inspect.
//
// The statistics of each batch are computed on a worker and then added in row order, so that the
// mean of floats does not depend on the number of workers.
package summary
