// Package sinktest tests the contract of package sink; every sink must pass.
//
// [Run] drives sinks over generated tables as package pipeline does, and harder: batches are
// encoded backwards or all at once, steps never run, and buffers are overwritten as soon as the
// contract allows. Each way must give the same bytes as the plainest way, one batch after another
// on one goroutine. So these tests show that an output depends on the table alone; whether it is
// right is for the sink's own tests.
//
//	func TestContract(t *testing.T) {
//		sinktest.RunWriter(t, func(w io.Writer, s *schema.Schema) (sink.Sink, error) {
//			return csv.New(w, s, sink.Options{})
//		}, sinktest.Images(), sinktest.Numbers())
//	}
//
// [RunWriter] also makes every write fail in turn.
//
// Run the tests with -race too, which finds sinks that write to a batch or share state between
// calls of Encode.
package sinktest
