package sink

import (
	"context"
	"io"

	"github.com/idxport/idxport/schema"
)

// A Sink writes one output of a table.
type Sink interface {
	// Encode renders b and returns the step that appends it to the output. Encode runs on many goroutines at once, for different batches;
	// the steps run one at a time, in the order of the rows. b and everything it points to is only read, as other sinks share its buffers; it is
	// valid until the step has returned, and nothing of it may be kept after that. A step may never run, after an error elsewhere. State that depends
	// on the order of rows (dictionaries, offsets, row groups) lives in steps alone.
	Encode(ctx context.Context, b schema.Batch) (step func() error, err error)
	// Close writes what ends the output. It is called once, only after every step has succeeded; after an error the sink is dropped, and
	// the publisher discards its files. A sink never closes the writer it was given.
	Close() error
}

// A Sizer tells how much memory the pipeline must set aside for what Encode makes. A sink that is no Sizer makes nothing to speak of: its
// steps write the batch's own buffers.
type Sizer interface {
	// BatchSize is about the most bytes that Encode makes of a batch of rows rows and that live until its step has returned.
	BatchSize(rows int) int64
}

// A Splitter can end its output after any step and go on with the rows that follow in another one. Encode knows nothing of it: a batch that was
// encoded before goes into the output that its step meets.
type Splitter interface {
	Sink
	// Next ends the output, as Close does, and begins another in w. It runs between steps, on the goroutine that runs them.
	Next(w io.Writer) error
	// Held is about how many bytes of the output so far are held back in memory.
	Held() int64
}
