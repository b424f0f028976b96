package source

import (
	"context"
	"errors"
	"io"
	"math/bits"
	"os"

	"github.com/idxport/idxport/fault"
)

// maxInMemory is the maximum number of bytes of rows that are kept in memory. The rows of a larger
// shuffled table are kept in a file.
const maxInMemory = 32 << 20

// minPicked is the minimum size, in bytes, of records that are read without the records between
// them. A column of smaller records is read in blocks, from start to end.
const minPicked = 64

// A Scratch function creates a file for reading and writing that no other process can open, and
// that disappears when it is closed, or when the process ends for whatever reason.
type Scratch func() (*os.File, error)

// Select returns the rows of t that s selects, in its order. They are read like this:
//
//   - Of uncompressed IDX files on this machine with rows of at least 64 bytes, only the selected
//     rows are read.
//   - Everything else is read from start to end, and rows that are not selected are skipped.
//     Without [Selection.StopEarly], the end of the file is reached and checked. If the rows are
//     selected in another order than the table's, they are held in memory, or in a scratch file if
//     they are more than 32 MiB.
//
// The indices of the returned rows are their positions in the selection. t must have as many rows
// as the table of s, or more if it is a salvaged column.
func Select(t Table, s *Selection, scratch Scratch) Table {
	switch t := t.(type) {
	case *joined:
		for i := range t.tables {
			t.tables[i] = Select(t.tables[i], s, scratch)
		}
		t.rows = s.Len()
		return t
	case *derived:
		t.Table = Select(t.Table, s, scratch)
		return t
	case *IDX:
		if t.randomAccess() && t.column.RecordSize() >= minPicked {
			return &picked{IDX: t, s: s}
		}
	}
	if s.order == nil {
		return &filtered{wrapped: wrapped{t}, s: s}
	}
	return &shuffled{wrapped: wrapped{t}, s: s, limit: maxInMemory, scratch: scratch}
}

// randomAccess reports whether any row can be read without those before it: the file is
// uncompressed, on this machine, and not a pipe.
func (t *IDX) randomAccess() bool {
	_, remote := t.file.(interface{ Limit(end int64) })
	return t.file != nil && !remote && t.Seekable()
}

// picked is the selected rows of an IDX file. Decode reads them, on many goroutines.
type picked struct {
	*IDX
	s         *Selection
	returned  int64 // number of rows returned so far
	afterLast int64 // row of the table after the last one that was returned
}

func (p *picked) Rows() int64        { return p.s.Len() }
func (p *picked) Limit(int64)        {}
func (p *picked) Skip(n int64) error { return skipReading(p, n) }

func (p *picked) Info() Info {
	info := p.IDX.Info()
	info.SourceRows = p.rows
	return info
}

func (p *picked) Read(ctx context.Context, b *Raw) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	want := int(min(int64(b.Cap), p.s.Len()-p.returned))
	b.First, b.Rows = p.s.first+p.returned, want
	if len(b.Columns) == 0 {
		b.Columns = make([][]byte, 1)
	}
	b.Columns[0] = Grow(b.Columns[0], want*p.column.RecordSize())
	if want == 0 {
		if err := p.checkUnchanged(); err != nil {
			return fault.In(p.path, err)
		}
		return io.EOF
	}
	rows, _ := b.State.([]int64)
	b.State = p.list(rows[:0], int64(want))
	p.returned += int64(want)
	return nil
}

// list appends the next n selected rows to rows.
func (p *picked) list(rows []int64, n int64) []int64 {
	if p.s.order != nil {
		return append(rows, p.s.order[p.returned:p.returned+n]...)
	}
	for n > 0 {
		first, run := p.s.next(p.afterLast, n)
		for i := range run {
			rows = append(rows, first+i)
		}
		p.afterLast, n = first+run, n-run
	}
	return rows
}

// Decode reads the rows, adjacent ones with a single call.
func (p *picked) Decode(b *Raw) error {
	rows, data := b.State.([]int64), b.Columns[0]
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n] == rows[n-1]+1 {
			n++
		}
		size := n * p.column.RecordSize()
		if _, err := p.file.ReadAt(data[:size], p.offset(rows[0])); err != nil {
			return fault.In(p.path, notEOF(err))
		}
		rows, data = rows[n:], data[size:]
	}
	return p.IDX.Decode(b)
}

// filtered is the selected rows of a table in their order.
type filtered struct {
	wrapped
	s        *Selection
	returned int64
	raw      Raw  // rows of the table, decoded
	consumed int  // rows of raw that were passed on or left out
	ended    bool // the table has no more rows
}

func (f *filtered) Rows() int64        { return f.s.Len() }
func (f *filtered) Limit(int64)        {}
func (f *filtered) Skip(n int64) error { return skipReading(f, n) }

func (f *filtered) Read(ctx context.Context, b *Raw) error {
	columns := f.Columns()
	b.First, b.Rows = f.s.first+f.returned, 0
	clearColumns(b, len(columns))
	for b.Rows < b.Cap && !f.ended && (f.returned < f.s.Len() || !f.s.stopEarly) {
		if f.consumed == f.raw.Rows {
			f.raw.Cap = blockRows(f)
			err := readDecoded(ctx, f.Table, &f.raw)
			f.ended = err == io.EOF
			if err == io.EOF && f.returned == f.s.Len() {
				break
			}
			if err != nil {
				return notEOF(err)
			}
			f.consumed = 0
		}
		row := f.raw.First + int64(f.consumed)
		first, n := f.s.next(row, int64(b.Cap-b.Rows))
		end := f.raw.First + int64(f.raw.Rows)
		if n == 0 || first >= end {
			f.consumed = f.raw.Rows
			continue
		}
		n = min(n, end-first)
		from := int(first - f.raw.First)
		for i, c := range columns {
			size := c.RecordSize()
			b.Columns[i] = append(b.Columns[i], f.raw.Columns[i][from*size:(from+int(n))*size]...)
		}
		b.Rows, f.returned, f.consumed = b.Rows+int(n), f.returned+n, from+int(n)
	}
	if b.Rows == 0 {
		return io.EOF
	}
	return nil
}

// Decode does nothing: Read has decoded the rows to choose among them.
func (f *filtered) Decode(*Raw) error { return nil }

// shuffled is the selected rows of a table in another order. It reads the table when its first row
// is read.
type shuffled struct {
	wrapped
	s       *Selection
	limit   int64 // of bytes held in memory
	scratch Scratch

	returned int64
	ranks    []int64 // number of selected rows before those of each word of s.kept
	loaded   bool
	inMemory []byte   // the selected rows, row by row, in the order of the table; if file is set, a buffer
	file     *os.File // has the rows if they are too large for memory
}

func (t *shuffled) Rows() int64        { return t.s.Len() }
func (t *shuffled) Limit(int64)        {}
func (t *shuffled) Skip(n int64) error { return skipReading(t, n) }

func (t *shuffled) Read(ctx context.Context, b *Raw) error {
	if !t.loaded {
		if err := t.load(ctx); err != nil {
			return err
		}
		t.loaded = true
	}
	want := min(int64(b.Cap), t.s.Len()-t.returned)
	b.First, b.Rows = t.s.first+t.returned, int(want)
	if want == 0 {
		return io.EOF
	}
	b.State = t.s.order[t.returned : t.returned+want]
	t.returned += want
	return nil
}

// load reads the selected rows into memory or the scratch file.
func (t *shuffled) load(ctx context.Context) error {
	ranked := int64(0)
	for _, word := range t.s.kept {
		t.ranks = append(t.ranks, ranked)
		ranked += int64(bits.OnesCount64(word))
	}
	rows := Select(t.Table, &Selection{rows: t.s.rows, kept: t.s.kept, count: ranked, stopEarly: t.s.stopEarly}, nil)
	columns := t.Columns()
	if total := ranked * int64(recordSize(columns)); total <= t.limit {
		t.inMemory = make([]byte, 0, total)
	} else {
		f, err := t.scratch()
		if err != nil {
			return err
		}
		t.file = f
	}
	return Each(ctx, rows, func(b *Raw) error {
		for row := range b.Rows {
			for i, c := range columns {
				size := c.RecordSize()
				t.inMemory = append(t.inMemory, b.Columns[i][row*size:(row+1)*size]...)
			}
		}
		if t.file == nil {
			return nil
		}
		_, err := t.file.Write(t.inMemory)
		t.inMemory = t.inMemory[:0]
		return err
	})
}

func (t *shuffled) Decode(b *Raw) error {
	columns := t.Columns()
	record := recordSize(columns)
	clearColumns(b, len(columns))
	b.Scratch = Grow(b.Scratch, record)
	for _, row := range b.State.([]int64) {
		word := row / 64
		rank := t.ranks[word] + int64(bits.OnesCount64(t.s.kept[word]&(1<<(row%64)-1)))
		data := b.Scratch
		if t.file == nil {
			data = t.inMemory[rank*int64(record):][:record]
		} else if _, err := t.file.ReadAt(data, rank*int64(record)); err == io.EOF {
			return fault.New(fault.IO, "the scratch file is shorter than what was written into it").WithHint("check the disks of the output and of TMPDIR")
		} else if err != nil {
			return err
		}
		for i, c := range columns {
			size := c.RecordSize()
			b.Columns[i], data = append(b.Columns[i], data[:size]...), data[size:]
		}
	}
	return nil
}

func (t *shuffled) Close() error {
	err := t.Table.Close()
	if t.file != nil {
		err = errors.Join(err, t.file.Close())
	}
	return err
}

// recordSize returns the number of bytes of a row.
func recordSize(columns []Column) (size int) {
	for _, c := range columns {
		size += c.RecordSize()
	}
	return size
}

// clearColumns makes the n columns of b empty, but keeps their memory.
func clearColumns(b *Raw, n int) {
	if len(b.Columns) != n {
		b.Columns = make([][]byte, n)
	}
	for i := range b.Columns {
		b.Columns[i] = b.Columns[i][:0]
	}
}

// notEOF returns err, but fault.Changed in place of io.EOF: the input ended before a row that it
// had when it was opened.
func notEOF(err error) error {
	if err == io.EOF {
		return fault.Changed
	}
	return err
}
