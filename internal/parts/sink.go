package parts

import (
	"context"
	"fmt"
	"io"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/publish"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
)

// MaxParts is the maximum number of files of a table, as their numbers have five digits.
const MaxParts = 100_000

// Options says how to split a table and how to name its files.
type Options struct {
	Stem      string // the beginning of paths in the folder, such as "part" or "data/train"
	Extension string // the end of paths, such as ".parquet"
	Rows      int64  // rows of every file but the last; 0 for one file
	First     int64  // index of the table's first row
}

// A Part is one file.
type Part struct {
	File *publish.Stream // its name is final once the folder is published
	Rows int64
}

// A Sink writes a table to many files. It implements sink.Sizer.
type Sink struct {
	Parts   []Part // the last one is being written, until Close
	folder  *publish.Folder
	inner   sink.Splitter
	options Options
}

// New returns a sink that writes files to folder, for tables of the schema s. open returns the
// format's sink for the first file, which must be a sink.Splitter: its method Next begins each
// other file. New fails with fault.Usage if there would be more than MaxParts files.
func New(folder *publish.Folder, s *schema.Schema, o Options, open func(io.Writer) (sink.Sink, error)) (*Sink, error) {
	if o.Rows > 0 && (s.Rows-1)/o.Rows >= MaxParts {
		return nil, fault.New(fault.Usage, "parts: %d rows with %d in each file make %d files, expected at most %d",
			s.Rows, o.Rows, (s.Rows-1)/o.Rows+1, MaxParts).
			WithHint("use --rows-per-file %d or more", (s.Rows-1)/MaxParts+1)
	}
	made := &Sink{folder: folder, options: o}
	w, err := made.beginFile()
	if err != nil {
		return nil, err
	}
	inner, err := open(w)
	if err != nil {
		return nil, err
	}
	made.inner = inner.(sink.Splitter)
	return made, nil
}

// Encode implements sink.Sink. It encodes the rows of b for each file separately.
func (s *Sink) Encode(ctx context.Context, b schema.Batch) (func() error, error) {
	var steps []func() error
	for _, piece := range s.cut(b) {
		step, err := s.inner.Encode(ctx, piece)
		if err != nil {
			return nil, err
		}
		steps = append(steps, func() error { return s.append(step, int64(piece.Rows)) })
	}
	return func() error {
		for _, step := range steps {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// cut splits b at the rows where files end.
func (s *Sink) cut(b schema.Batch) []schema.Batch {
	var pieces []schema.Batch
	for s.options.Rows > 0 {
		left := s.options.Rows - (b.First-s.options.First)%s.options.Rows // rows to the end of the file
		if left >= int64(b.Rows) {
			break
		}
		head, tail := schema.Batch{First: b.First, Rows: int(left)}, schema.Batch{First: b.First + left}
		tail.Rows = b.Rows - head.Rows
		for _, data := range b.Columns {
			at := len(data) / b.Rows * head.Rows
			head.Columns, tail.Columns = append(head.Columns, data[:at]), append(tail.Columns, data[at:])
		}
		pieces, b = append(pieces, head), tail
	}
	return append(pieces, b)
}

// append runs a step that appends so many rows, in a new file if the current one is full.
func (s *Sink) append(step func() error, rows int64) error {
	if last := s.Parts[len(s.Parts)-1]; last.Rows > 0 && last.Rows == s.options.Rows {
		if len(s.Parts) == MaxParts {
			return fault.New(fault.Usage, "parts: found rows for more than %d files", MaxParts).
				WithHint("allow more rows in each file with --rows-per-file")
		}
		if err := s.Close(); err != nil {
			return err
		}
		w, err := s.beginFile()
		if err != nil {
			return err
		}
		if err := s.inner.Next(w); err != nil {
			return err
		}
	}
	s.Parts[len(s.Parts)-1].Rows += rows
	return step()
}

func (s *Sink) beginFile() (io.Writer, error) {
	file, err := s.folder.Create(fmt.Sprintf("%s-%05d%s", s.options.Stem, len(s.Parts), s.options.Extension))
	if err != nil {
		return nil, err
	}
	s.Parts = append(s.Parts, Part{File: file})
	return file, nil
}

// BatchSize returns the BatchSize of the format's sink.
func (s *Sink) BatchSize(rows int) int64 { return s.inner.BatchSize(rows) }

// Close completes the current file.
func (s *Sink) Close() error {
	if err := s.inner.Close(); err != nil {
		return err
	}
	return s.Parts[len(s.Parts)-1].File.Close()
}
