package sink

import (
	"context"
	"io"

	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/schema"
)

// A Sink writes one output of a table.
type Sink interface {
	// Encode encodes b and returns the step that appends it to the output. Many goroutines call it
	// at once, for different batches; steps run one at a time, in row order. A sink must not write
	// to b, whose buffers other sinks share, nor use it after the step has returned. After an error
	// elsewhere, a step might not be run. State that depends on the order of rows (dictionaries,
	// offsets, row groups) belongs in steps. A sink that supports class names writes a column of
	// them after the label if the schema has Classes, and calls Classes.Check in Encode.
	Encode(ctx context.Context, b schema.Batch) (step func() error, err error)
	// Close writes the end of the output. It is called once for each output, after every step has
	// succeeded; after an error it is not called, and the publisher discards the files. A sink
	// never closes the writer it was given.
	Close() error
}

// A Sizer reports how much memory the pipeline must set aside for the results of Encode. A sink
// that is not a Sizer allocates next to nothing: its steps write the batch's own buffers.
type Sizer interface {
	// BatchSize returns the approximate maximum number of bytes that Encode allocates for a batch
	// of the given number of rows and keeps until the step has returned.
	BatchSize(rows int) int64
}

// Options are the options of all formats; each format uses those that it knows.
type Options struct {
	Compression compressed.Codec // an empty Name is the format's default
	Layout      string           // one of those of the format; empty for its default
	Stream      bool             // Arrow: a stream, which has no footer and is readable from a pipe
	Comma       byte             // separator of fields in CSV: a tab, or 0 for a comma
	Column      int              // index of the column, for formats of one column
	MaxLabel    int64            // the largest label of the source; 0 or less if unknown
	Version     string           // of the program, for Parquet's created_by
}

// A Layout is one of the ways in which a format can hold a table.
type Layout struct {
	Name  string // as in Options.Layout
	Title string // what it is, in a line
}

// Names returns the names of layouts.
func Names(layouts []Layout) (names []string) {
	for _, l := range layouts {
		names = append(names, l.Name)
	}
	return names
}

// An Appender writes to an output and counts the bytes.
type Appender struct {
	Writer io.Writer
	Offset int64 // bytes written so far
}

// Write writes p.
func (a *Appender) Write(p []byte) (int, error) {
	n, err := a.Writer.Write(p)
	a.Offset += int64(n)
	return n, err
}

// Append writes the parts one after another.
func (a *Appender) Append(parts ...[]byte) error {
	for _, part := range parts {
		if len(part) == 0 {
			continue
		}
		if _, err := a.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// A Splitter can end its output after any step and continue with the following rows in another one:
// Close and then Next are called between steps, from the goroutine that runs them. Encode does not
// depend on it: a batch goes to the output that is current when its step runs. The sinks of
// splittable formats (see internal/sinks) must be Splitters.
type Splitter interface {
	Sink
	Sizer
	// Next begins another output in w after Close.
	Next(w io.Writer) error
}
