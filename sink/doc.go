// Package sink defines the contract between the pipeline and the output formats.
//
// A [Sink] encodes batches on many goroutines at once and appends the results in row order. Each
// format is a package below this one.
//
// To add a format, write a package with a type that implements Sink, and the optional [Sizer],
// [Splitter] and [Noter] where they apply; sink/idx is the smallest example. Test it
// with test/sinktest, which checks this contract, and add it to the table in internal/formats.
//
// The invariant: what a sink writes depends on the rows and its options alone, not on the
// goroutines, the timing or the other sinks.
package sink
