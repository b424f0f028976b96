// Package pipeline moves a table through a pool of workers into any number of sinks, in one pass.
//
// One goroutine reads batches in the order of the rows. Workers decode each batch and let every sink encode it. For each sink one
// goroutine runs the steps that the sink returned, in the order of the rows. So reading, the work, and writing overlap, and the bytes written do not
// depend on the number of workers.
//
//	         ┌─► work queue ─► worker: decode, encode for sink 1, 2, …
//	reader ──┤                      │ a step per sink
//	   ▲     ├─► order queue 1 ─► writer 1: wait for the step, run it ──┐
//	   │     └─► order queue 2 ─► writer 2                            ──┤
//	   └───────────────── free slots ◄──────────────────────────────────┘
//
// A slot is one batch on its way, with the buffers that it reuses. There are a fixed number of them, so memory is bounded whatever the size
// of the input; all queues are as long as there are slots, so that no send blocks.
//
// The invariant: a slot is in the hands of the reader, then of one worker, then of the writers, and free again when the last step has returned. A step
// that the sink returned runs only if all steps of earlier rows have succeeded.
package pipeline
