package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"sync/atomic"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/compressed"
	"github.com/idxport/idxport/source/idx"
)

// Stdin is the name that stands for standard input.
const Stdin = "-"

// Options say how an IDX file becomes a column. The zero value reads a whole big-endian file of records of up to 16 MiB.
type Options struct {
	Name          string   // of the column
	Classes       []string // see Column
	MaxRecordSize int64    // bytes; 0: idx.DefaultMaxRecordSize
	LittleEndian  bool     // the payload is little-endian
	Salvage       bool     // take the whole records of a damaged file
	Reshape       []int    // other dimensions over the same data, one may be −1; nil: those of the header
	Files         Files    // where the file is; nil: Local
}

// An IDX is a table of one column: an IDX file, raw or compressed.
type IDX struct {
	path   string // as the user wrote it, for errors
	column Column
	swap   int // size of the elements if their bytes must be swapped, else 0
	reader *idx.Reader
	rows   int64 // −1: unknown
	next   int64 // index of the next row
	last   int64 // rows from here on will not be read
	stream *compressed.Reader
	frames *compressed.SeekReader // instead of stream, of zstd with a seek table; else nil
	table  *compressed.SeekTable  // of frames
	damage *forgiving             // what a salvage forgave, or nil
	file   File                   // to be closed; nil for a reader that the caller owns
	opened fs.FileInfo            // of file, when it was opened

	swapped atomic.Bool // the payload looks little-endian: set while the first batch is decoded
}

// OpenIDX opens the IDX file at path. A plain file's size is compared with its header before anything else is read.
func OpenIDX(path string, o Options) (*IDX, error) {
	f, info, err := OpenFile(o.Files, path, "an IDX file")
	if err != nil {
		return nil, err
	}
	t, err := openFile(f, info, path, o)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	t.file, t.opened = f, info
	return t, nil
}

// openFile reads f, which is at its start, directly if it is plain, else through a decompressor.
func openFile(f File, info fs.FileInfo, path string, o Options) (*IDX, error) {
	if !info.Mode().IsRegular() {
		return NewIDX(f, path, o)
	}
	var prefix [6]byte
	n, err := f.ReadAt(prefix[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	format := compressed.Detect(prefix[:n])
	if format == compressed.Plain {
		return newIDX(f, path, idx.Options{Size: info.Size()}, o)
	}
	if format == compressed.Zstd && !o.Salvage { // a salvage takes what comes before the damage, whatever a table says
		table, err := compressed.FindSeekTable(f, info.Size())
		if err != nil {
			return nil, fault.In(path, err)
		}
		if table != nil {
			return newSeekable(f, path, table, o)
		}
	}
	t, err := NewIDX(f, path, o)
	if err != nil || t.rows >= 0 {
		return t, err
	}
	if err := t.count(path, o); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// NewIDX reads an IDX file from r, raw or compressed; name stands for it in errors ("-" for standard input). The caller closes r, after the table.
func NewIDX(r io.Reader, name string, o Options) (*IDX, error) {
	stream, err := compressed.NewReader(r)
	if err != nil {
		return nil, fault.In(name, err)
	}
	in := io.Reader(stream)
	var damage *forgiving
	if o.Salvage {
		damage = &forgiving{r: stream}
		in = damage
	}
	t, err := newIDX(in, name, idx.Options{}, o)
	if err != nil {
		return nil, errors.Join(err, stream.Close())
	}
	t.stream, t.damage = stream, damage
	return t, nil
}

// newIDX reads the header from r, by inner, which tells what is known about its size, and by o.
func newIDX(r io.Reader, path string, inner idx.Options, o Options) (*IDX, error) {
	inner.MaxRecordSize, inner.LittleEndian, inner.Salvage, inner.Reshape = o.MaxRecordSize, o.LittleEndian, o.Salvage, o.Reshape
	reader, err := idx.NewReader(r, inner)
	if err != nil {
		return nil, fault.In(path, err)
	}
	h := reader.Header()
	t := &IDX{path: path, reader: reader, rows: reader.Records(), last: reader.Records(),
		column: Column{Name: o.Name, DType: h.DType, Shape: h.RecordShape(), Origin: filepath.Base(path), Classes: o.Classes}}
	if !o.LittleEndian {
		t.swap = h.DType.Size()
	}
	return t, nil
}

// count finds the number of rows of a damaged compressed file by reading it once.
func (t *IDX) count(path string, o Options) error {
	again, err := In(o.Files).Open(path)
	if err != nil {
		return err
	}
	defer again.Close() // only read from
	scan, err := NewIDX(again, path, o)
	if err != nil {
		return err
	}
	defer scan.Close() // only read from
	t.rows, err = Count(context.Background(), scan)
	return err
}

// Columns is the one column.
func (t *IDX) Columns() []Column { return []Column{t.column} }

// Rows is the number of records.
func (t *IDX) Rows() int64 { return t.rows }

// Claim is the header as it stands in the file.
func (t *IDX) Claim() idx.Header { return t.reader.Stored() }

// Compression is how the file is compressed, told by its content.
func (t *IDX) Compression() compressed.Format {
	switch {
	case t.frames != nil:
		return compressed.Zstd
	case t.stream != nil:
		return t.stream.Format()
	}
	return compressed.Plain
}

// Damaged reports whether a salvage found that the file is not what its header says. It is complete once the table was read.
func (t *IDX) Damaged() bool {
	return len(t.reader.Notes()) > 0 || t.damage != nil && t.damage.err != nil
}

// Notes tell what a salvage found, and that the bytes of the elements seem to be in the wrong order.
func (t *IDX) Notes() []string {
	var notes []string
	for _, n := range t.reader.Notes() {
		notes = append(notes, fmt.Sprintf("%s: %s", t.path, n))
	}
	if t.damage != nil && t.damage.err != nil {
		notes = append(notes, fmt.Sprintf("%s: read up to the damage: %v", t.path, t.damage.err))
	}
	if t.swapped.Load() {
		notes = append(notes, fmt.Sprintf("%s: the values look as if they were written in little-endian order; if so, read it with --byte-order little", t.path))
	}
	return notes
}

// Read reads the next records as they are in the file.
func (t *IDX) Read(ctx context.Context, b *Raw) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if t.stream != nil {
		t.stream.SetBusy(b.Busy)
	}
	if t.frames != nil {
		t.frames.ReadAhead(t.offset(t.last))
	}
	want := b.Cap
	if t.rows >= 0 {
		want = int(min(int64(want), t.rows-t.next))
	}
	if len(b.Columns) == 0 {
		b.Columns = make([][]byte, 1)
	}
	size := t.column.RecordSize()
	want = max(want, 1) // after the last row too: reading on is how the end is checked, and a salvage notes what it met there
	p := Grow(b.Columns[0], want*size)
	n, err := t.reader.ReadRecords(p, want)
	b.First, b.Rows, b.Columns[0] = t.next, n, p[:n*size]
	t.next += int64(n)
	if err == nil && t.next == t.last && t.frames != nil {
		err = t.frames.Finish()
	}
	if err == io.EOF {
		if changed := t.unchanged(); changed != nil {
			err = changed
		}
	}
	if err != nil && err != io.EOF {
		return fault.In(t.path, err)
	}
	return err
}

// unchanged compares the file's size and time with those it had when it was opened. What was read of a file that somebody wrote to may be of both
// versions.
func (t *IDX) unchanged() error {
	if t.opened == nil || !t.opened.Mode().IsRegular() {
		return nil
	}
	now, err := t.file.Stat()
	if err != nil {
		return err
	}
	if now.Size() != t.opened.Size() || !now.ModTime().Equal(t.opened.ModTime()) {
		return fault.Changed
	}
	return nil
}

// Decode swaps the bytes of the elements in place.
func (t *IDX) Decode(b *Raw) error {
	if t.swap > 1 {
		idx.SwapBytes(b.Columns[0], b.Columns[0], t.swap)
		if b.First == 0 && idx.LooksSwapped(t.column.DType, b.Columns[0]) {
			t.swapped.Store(true)
		}
	}
	return nil
}

// Skip passes over n records: it seeks in a plain file and in one with a seek table.
func (t *IDX) Skip(n int64) error {
	if err := t.reader.Skip(n); err != nil {
		return fault.In(t.path, err)
	}
	t.next += n
	return nil
}

// Close stops decompression and closes the file that OpenIDX opened.
func (t *IDX) Close() error {
	var err error
	if t.stream != nil {
		err = t.stream.Close()
	}
	if t.frames != nil {
		err = t.frames.Close()
	}
	if t.file != nil {
		err = errors.Join(err, t.file.Close())
	}
	return err
}

// A forgiving reader takes damage to compressed data for its end, and remembers it.
type forgiving struct {
	r   io.Reader
	err error
}

func (f *forgiving) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if errors.Is(err, fault.Malformed) || errors.Is(err, fault.Truncated) {
		f.err, err = err, io.EOF
	}
	return n, err
}

// newSeekable reads the header from f, which is at its start and in which table was found. If the
// data has another size than the header asks for, one of the two is damaged: then nothing is passed
// over, so that reading will tell which.
func newSeekable(f File, path string, table *compressed.SeekTable, o Options) (*IDX, error) {
	in := compressed.NewSeekReader(f, table)
	t, err := newIDX(in, path, idx.Options{DeclaredSize: table.Size()}, o)
	if err != nil {
		in.Close() // its error is always nil
		return nil, err
	}
	if t.frames, t.table = in, table; !t.spans() {
		in.ReadAhead(table.Size())
	}
	return t, nil
}

// offset is where the record n begins in the decompressed file.
func (t *IDX) offset(n int64) int64 {
	return t.reader.Stored().Size() + n*int64(t.column.RecordSize())
}

// span is where in the file the bytes first to last−1 of the decompressed file are.
func (t *IDX) span(first, last int64) (from, to int64) {
	if t.frames == nil {
		return first, last
	}
	return t.table.Span(first, last)
}

// Limit tells the file, if it can use that, where the record n would begin, or the frame after the
// one that holds the record before. At the end of the data, that is behind the seek table.
func (t *IDX) Limit(n int64) {
	t.last = n
	end := t.offset(n)
	if _, to := t.span(0, end); t.frames == nil || end < t.table.Size() {
		end = to
	} else {
		end = math.MaxInt64
	}
	if f, ok := t.file.(interface{ Limit(end int64) }); ok && t.stream == nil {
		f.Limit(end)
	}
}

// Span tells which bytes of the file, from from to to−1, hold the rows first to last−1: header and rows of a plain file lie one after another; of zstd with
// a seek table, it is the frames that hold any byte of those rows. ok is false for all other files, and for rows that are not there.
//
// Who opens the table, calls Limit(last) and Skip(first), or takes a Slice, which does both, and reads the rows, reads the file in this way: its Read
// delivers all bytes from from to to−1, in order and, once it has begun at from, without a gap or a jump. The beginning, for the header, was read before
// that, see HeaderEnd; if from lies in it, reading goes on from there. After the last row the rest of its frame was read too, so that its
// checksum is verified. ReadAt is for the beginning and the seek table alone.
func (t *IDX) Span(first, last int64) (from, to int64, ok bool) {
	if first < 0 || first > last || last > t.rows || !t.spans() {
		return 0, 0, false
	}
	from, to = t.span(t.offset(first), t.offset(last))
	return from, to, true
}

// HeaderEnd tells that the header stands in the bytes of the file before to: of a plain file it is all of them, of zstd with a seek table they are whole
// frames, from the first to the one that holds the header's last byte. ok is false for all other files.
//
// Who opens the table and reads a row, passing over any number before it, reads the file in this way: its Read delivers the bytes from 0 to to−1 before all
// others, in order, so that the checksums of those frames are verified before a row of another frame is delivered.
func (t *IDX) HeaderEnd() (to int64, ok bool) {
	if !t.spans() {
		return 0, false
	}
	_, to = t.span(0, t.offset(0))
	return to, true
}

// spans reports whether it is known where in the file the rows are.
func (t *IDX) spans() bool {
	return t.stream == nil && (t.frames == nil || t.table.Size() == t.offset(t.rows))
}
