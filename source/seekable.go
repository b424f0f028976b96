package source

import (
	"math"

	"github.com/idxport/idxport/source/compressed"
	"github.com/idxport/idxport/source/idx"
)

// frames is what reads a zstd file that has a seek table.
type frames struct {
	*compressed.SeekReader
	table *compressed.SeekTable
}

// newSeekable reads the header from f, which is at its start and in which table was found. If the data has another size than the header asks for, one
// of the two is damaged: then nothing is passed over, so that reading will tell which.
func newSeekable(f File, path string, table *compressed.SeekTable, o Options) (*IDX, error) {
	in := &frames{compressed.NewSeekReader(f, table), table}
	t, err := newIDX(in, path, idx.Options{ClaimedSize: table.Size()}, o)
	if err != nil {
		in.Close() // its error is always nil
		return nil, err
	}
	if t.frames = in; !t.spans() {
		in.ReadAhead(table.Size())
	}
	return t, nil
}

// limit is where in the file the frames end that hold the data before end. At the end of the data, it is behind the seek table.
func (f *frames) limit(end int64) int64 {
	if end >= f.table.Size() {
		return math.MaxInt64
	}
	_, to := f.table.Span(0, end)
	return to
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
	from, to = t.offset(first), t.offset(last)
	if t.frames != nil {
		from, to = t.frames.table.Span(from, to)
	}
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
	to = t.offset(0)
	if t.frames != nil {
		_, to = t.frames.table.Span(0, to)
	}
	return to, true
}

// spans tells whether it is known where in the file the rows are.
func (t *IDX) spans() bool {
	return t.stream == nil && (t.frames == nil || t.frames.table.Size() == t.offset(t.rows))
}
