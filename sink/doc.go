// Package sink defines the contract between the pipeline and the output formats.
//
// A [Sink] encodes batches on many goroutines at once and appends the results in row order. Each
// format is a package below this one.
//
// A sink may also be a [Sizer] and a [Splitter], and have a method Notes() []string with notes for
// the user about its output. CONTRIBUTING.md says how to add a format.
//
// The invariant: what a sink writes depends on the rows and its options alone, not on the
// goroutines, the timing or the other sinks.
package sink
