package parts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/publish"
)

// MaxParts is the most files of one table: their numbers have five digits.
const MaxParts = 100_000

// Options say how a table is cut and what its files are called.
type Options struct {
	Stem      string // what names begin with: "part"
	Extension string // what they end with: ".parquet"
	Rows      int64  // of a file; 0: no limit
	Size      int64  // bytes from which on a file takes no further batch; 0: no limit
	First     int64  // index of the table's first row
	Checksum  bool   // tell the SHA-256 of every file
}

// A Part is one file that was written.
type Part struct {
	Name   string // as published, once the folder is
	Rows   int64
	Bytes  int64
	SHA256 string // hexadecimal, if it was asked for

	file *publish.Stream
	hash hash.Hash
}

// A Sink writes a table into many files. It is a sink.Sink and a sink.Sizer.
type Sink struct {
	folder  *publish.Class
	inner   sink.Splitter
	options Options
	parts   []*Part // the last is being written
}

// New returns a sink that writes files into folder, for tables of the schema s. open makes the sink of the first file, which then goes on in the
// others. New fails with fault.Usage if that cannot be split, or if there would be more than MaxParts files.
func New(folder *publish.Class, s *schema.Schema, o Options, open func(w io.Writer) (sink.Sink, error)) (*Sink, error) {
	if o.Rows > 0 && s.Rows > 0 && (s.Rows-1)/o.Rows >= MaxParts {
		return nil, fault.New(fault.Usage, "parts: %d rows in files of %d are %d files, expected at most %d", s.Rows, o.Rows, (s.Rows-1)/o.Rows+1, MaxParts).
			WithHint("take at least %d rows for a file", (s.Rows-1)/MaxParts+1)
	}
	made := &Sink{folder: folder, options: o}
	w, err := made.begin()
	if err != nil {
		return nil, err
	}
	inner, err := open(w)
	if err != nil {
		return nil, err
	}
	splitter, ok := inner.(sink.Splitter)
	if !ok {
		return nil, fault.New(fault.Usage, "parts: the format cannot be split over files")
	}
	made.inner = splitter
	return made, nil
}

// Encode encodes the rows of b, those of each file by themselves: see sink.Sink.
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

// cut cuts b where files end by their number of rows.
func (s *Sink) cut(b schema.Batch) []schema.Batch {
	var pieces []schema.Batch
	for s.options.Rows > 0 {
		left := s.options.Rows - (b.First-s.options.First)%s.options.Rows // of the file that the first row belongs to
		if left >= int64(b.Rows) {
			break
		}
		head, tail := split(b, int(left))
		pieces, b = append(pieces, head), tail
	}
	return append(pieces, b)
}

// split cuts b before row n of it.
func split(b schema.Batch, n int) (head, tail schema.Batch) {
	head, tail = schema.Batch{First: b.First, Rows: n}, schema.Batch{First: b.First + int64(n), Rows: b.Rows - n}
	for _, data := range b.Columns {
		at := len(data) / b.Rows * n
		head.Columns, tail.Columns = append(head.Columns, data[:at]), append(tail.Columns, data[at:])
	}
	return head, tail
}

// append runs the step of rows rows, in the next file if the last one is full.
func (s *Sink) append(step func() error, rows int64) error {
	last := s.parts[len(s.parts)-1]
	full := s.options.Rows > 0 && last.Rows+rows > s.options.Rows || s.options.Size > 0 && last.file.Count()+s.inner.Held() >= s.options.Size
	if full && last.Rows > 0 {
		if len(s.parts) == MaxParts {
			return fault.New(fault.Usage, "parts: found rows for more than %d files", MaxParts).WithHint("take more rows or bytes for a file")
		}
		w, err := s.begin()
		if err != nil {
			return err
		}
		if err := s.inner.Next(w); err != nil {
			return err
		}
		if err := s.end(last); err != nil {
			return err
		}
		last = s.parts[len(s.parts)-1]
	}
	last.Rows += rows
	return step()
}

// begin begins another file.
func (s *Sink) begin() (io.Writer, error) {
	file, err := s.folder.Create(fmt.Sprintf("%s-%05d%s", s.options.Stem, len(s.parts), s.options.Extension))
	if err != nil {
		return nil, err
	}
	part := &Part{file: file}
	s.parts = append(s.parts, part)
	if !s.options.Checksum {
		return file, nil
	}
	part.hash = sha256.New()
	return io.MultiWriter(file, part.hash), nil
}

// end completes a file, to which everything is written.
func (s *Sink) end(p *Part) error {
	p.Bytes = p.file.Count()
	if p.hash != nil {
		p.SHA256 = hex.EncodeToString(p.hash.Sum(nil))
		p.hash = nil // there may be many files
	}
	return p.file.Close()
}

// BatchSize is that of the format's own sink.
func (s *Sink) BatchSize(rows int) int64 {
	if sizer, ok := s.inner.(sink.Sizer); ok {
		return sizer.BatchSize(rows)
	}
	return 0
}

// Notes are those of the format's own sink.
func (s *Sink) Notes() []string {
	if n, ok := s.inner.(sink.Noter); ok {
		return n.Notes()
	}
	return nil
}

// Close ends the last file.
func (s *Sink) Close() error {
	if err := s.inner.Close(); err != nil {
		return err
	}
	return s.end(s.parts[len(s.parts)-1])
}

// Parts tells of the files, once the sink is closed.
func (s *Sink) Parts() []Part {
	var all []Part
	for _, p := range s.parts {
		told := *p
		told.Name = p.file.Name()
		all = append(all, told)
	}
	return all
}
