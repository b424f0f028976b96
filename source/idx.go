package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source/idx"
)

// Stdin is the path of standard input.
const Stdin = "-"

// Options say how to read an IDX file. The zero value reads a whole file of records of up to 6 MiB.
type Options struct {
	Name          string   // name of the column
	Classes       []string // see Column
	MaxRecordSize int64    // bytes; 0: idx.DefaultMaxRecordSize
	Salvage       bool     // read the whole records of a damaged file
	Shape         []int    // of a record; nil: that of the header
	Files         Files    // where the file is; nil: Local
}

// An IDX is a table of one column: an IDX file, compressed or not.
type IDX struct {
	path   string // as the user wrote it, for errors
	column Column
	reader *idx.Reader
	rows   int64         // −1: unknown
	next   int64         // index of the next row
	stream *damageReader // decompresses; nil if the file is read without it
	file   File          // closed by Close; nil if the caller owns the reader
}

// OpenIDX opens the IDX file at path. It compares the size of an uncompressed one with the header.
func OpenIDX(path string, o Options) (*IDX, error) {
	return OpenFile(o.Files, path, "an IDX file", func(f File, info fs.FileInfo) (*IDX, error) {
		t, err := openFile(f, info, path, o)
		if err == nil {
			t.file = f
		}
		return t, err
	})
}

// openFile reads f, which is at its start, through a decompressor if it is compressed.
func openFile(f File, info fs.FileInfo, path string, o Options) (*IDX, error) {
	var prefix [6]byte
	n, err := f.ReadAt(prefix[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	} else if compressed.Detect(prefix[:n]) == compressed.Plain {
		return newIDX(f, path, idx.Options{Size: info.Size()}, o)
	}
	t, err := NewIDX(f, path, o)
	if err != nil || t.rows >= 0 {
		return t, err
	}
	rows, err := Count(context.Background(), t) // only reading to the end tells what a salvage finds
	_, seekErr := f.Seek(0, io.SeekStart)
	if err = errors.Join(err, t.Close(), seekErr); err != nil {
		return nil, err
	}
	if t, err = NewIDX(f, path, o); err == nil {
		t.rows = rows
	}
	return t, err
}

// NewIDX reads an IDX file from r, compressed or not. Errors call it name ("-" for standard input).
// The caller closes r after the table.
func NewIDX(r io.Reader, name string, o Options) (*IDX, error) {
	stream := compressed.NewReader(r)
	d := &damageReader{r: stream, ignored: o.Salvage}
	t, err := newIDX(d, name, idx.Options{Checked: stream.Format() != compressed.Plain}, o)
	if err != nil { // perhaps of damage before which nothing was read
		return nil, errors.Join(cmp.Or(fault.In(name, d.err), err), stream.Close())
	}
	t.stream, d.inRecords = d, true
	return t, nil
}

// newIDX reads the header from r. inner has the sizes that are known; newIDX adds the options in o.
func newIDX(r io.Reader, path string, inner idx.Options, o Options) (*IDX, error) {
	inner.MaxRecordSize, inner.Salvage, inner.Shape = o.MaxRecordSize, o.Salvage, o.Shape
	reader, err := idx.NewReader(r, inner)
	if err != nil {
		return nil, fault.In(path, err)
	}
	h := reader.Header()
	column := Column{Name: o.Name, DType: h.DType, Shape: h.RecordShape(), Origin: Base(path), Classes: o.Classes}
	return &IDX{path: path, reader: reader, rows: reader.Records(), column: column}, nil
}

// Columns returns the one column.
func (t *IDX) Columns() []Column { return []Column{t.column} }

// Rows returns the number of records, or −1 if only reading to the end can tell.
func (t *IDX) Rows() int64 { return t.rows }

// Header returns the header of the file.
func (t *IDX) Header() idx.Header { return t.reader.Stored() }

// Info has notes if a salvage found that the file differs from its header.
func (t *IDX) Info() Info {
	info := Info{Notes: slices.Clone(t.reader.Notes())}
	if d := t.stream; d != nil {
		info.Compression = d.r.Format()
		if d.err != nil {
			info.Notes = append(info.Notes, fmt.Sprintf("%s: %v", d.extent(len(info.Notes) == 0), d.err))
		}
	}
	for i, note := range info.Notes {
		info.Notes[i] = fault.New("", "%s", note).In(t.path).Error()
	}
	return info
}

// Read reads the next records, in the byte order of the file.
func (t *IDX) Read(ctx context.Context, b *Raw) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	want := b.Cap
	if t.rows >= 0 {
		want = int(min(int64(want), t.rows-t.next))
	}
	b.Rows = max(want, 1) // after the last row, reading on checks the end and completes the notes of a salvage
	b.Allocate(t.Columns())
	n, err := t.reader.ReadRecords(b.Columns[0], b.Rows)
	b.First, b.Rows, b.Columns[0] = t.next, n, b.Columns[0][:n*t.column.RecordSize()]
	t.next += int64(n)
	if err == io.EOF {
		return err
	}
	return fault.In(t.path, err)
}

// Decode swaps the bytes of the elements in place.
func (t *IDX) Decode(b *Raw) error {
	if size := t.column.DType.Size(); size > 1 {
		idx.SwapBytes(b.Columns[0], b.Columns[0], size)
	}
	return nil
}

// Skip skips n records. It seeks in an uncompressed file.
func (t *IDX) Skip(n int64) error {
	t.next += n
	return fault.In(t.path, t.reader.Skip(n))
}

// Close stops decompression and closes the file if OpenIDX opened it.
func (t *IDX) Close() (err error) {
	if t.stream != nil {
		err = t.stream.r.Close()
	}
	if t.file != nil {
		err = errors.Join(err, t.file.Close())
	}
	return err
}

// A damageReader reads decompressed data and looks for damage. A salvage ends the data at the
// damage, and err keeps it; otherwise the hint for an incomplete file names the flag --salvage.
type damageReader struct {
	r         *compressed.Reader
	ignored   bool
	inRecords bool // the header has been read
	err       error
}

func (d *damageReader) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	var found *fault.Error
	switch {
	case d.ignored && (errors.Is(err, fault.Malformed) || errors.Is(err, fault.Truncated)):
		d.err, err = err, io.EOF
	case d.inRecords && errors.As(err, &found) && found.Kind == fault.Truncated:
		e := *found
		err = e.WithHint("%s", e.Hint+idx.HintSalvage)
	}
	return n, err
}

// extent describes what was read in spite of the damage: all records, or those before it.
func (d *damageReader) extent(all bool) string {
	switch {
	case all && errors.Is(d.err, compressed.ErrExtra):
		return "all records are read, and their checksum is right"
	case all:
		return "all records are read, but any of their values may be wrong"
	case errors.Is(d.err, fault.Truncated):
		return "only the data before the damage is read"
	}
	return "only the data before the damage is read, and any of its values may be wrong"
}

// offset returns the offset of record n in the file, which is not compressed.
func (t *IDX) offset(n int64) int64 { return t.reader.Stored().Size() + n*int64(t.column.RecordSize()) }

// Seekable reports whether rows can be read without those before them: the file is not compressed.
func (t *IDX) Seekable() bool { return t.stream == nil }
