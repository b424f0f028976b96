// Package sinktest is the contract of package sink as tests that every sink passes.
//
// [Run] drives sinks over generated tables as package pipeline does, and worse: batches encoded backwards, all at once, steps that never run, buffers
// that are overwritten as soon as they may be. Every way must give the bytes that the plainest way gives: one batch after another on one
// goroutine. So what these tests say is that an output depends on the table alone; whether it is right is the business of the sink's own tests.
//
//	func TestContract(t *testing.T) {
//		sinktest.RunWriter(t, func(w io.Writer, s *schema.Schema) (sink.Sink, error) {
//			return csv.New(w, s, csv.Options{})
//		}, sinktest.Images(), sinktest.Numbers())
//	}
//
// [RunWriter] also fails every write in turn.
//
// Run it with -race too: that a sink writes to a batch, or shares state between calls of Encode, shows best there.
package sinktest
