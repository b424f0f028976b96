// Package pipeline moves a table through a pool of workers into any number of sinks, in one pass.
//
// One goroutine reads batches in row order. Workers decode each batch and call Encode of every
// sink, which returns a step: a function that writes what was encoded. One goroutine per sink, its
// writer, runs these steps in row order. So reading, encoding and writing overlap, and the bytes
// written do not depend on the number of workers.
//
//	         ┌─► work queue ─► worker: decode, encode for sink 1, 2, …
//	reader ──┤                      │ a step per sink
//	   ▲     ├─► order queue 1 ─► writer 1: wait for the step, run it ─► free slots
//	   │     └─► order queue 2 ─► writer 2: the same                  ─► free slots
//	   └─ free slots
//
// A slot holds one batch in flight and the buffers that it reuses. The number of slots is fixed, so
// memory is bounded for any input. Every queue has room for all slots, so no send blocks.
//
// The invariant: a slot belongs to the reader, then to one worker, then to the writers, and is free
// again after its last step. A step runs only if all earlier steps of its sink have succeeded.
package pipeline
