// Package sink is the contract between the pipeline and the output formats.
//
// A [Sink] renders batches on many goroutines at once and appends what it rendered in the order of the rows. Each format is a package below
// this one; package formats is the table of them, and test/sinktest holds the contract as tests that every sink passes.
//
// The invariant: what a sink writes depends on the rows and its options alone, not on which goroutine rendered what, when, or beside which
// other sinks.
package sink
