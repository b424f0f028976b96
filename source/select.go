package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/bits"
	"os"
	"slices"

	"github.com/idxport/idxport/internal/fault"
)

const (
	maxInMemory = 32 << 20 // bytes of rows of a shuffled table that are held in memory
	minPicked   = 64       // bytes of a record that is read without the records between
)

// A Scratch function creates a file for reading and writing that no other process can open, and
// that disappears when it is closed, or when the process ends for whatever reason.
type Scratch func() (*os.File, error)

// Select returns the rows of t that s selects, in its order, numbered by their positions in s. t
// must have as many rows as the table of s, or more if it is a salvaged column.
//
// Of uncompressed IDX files on this machine with rows of at least 64 bytes, only the selected rows
// are read. All else is read from start to end, and rows that are not selected are skipped; without
// [Selection.StopEarly], the end of the file is reached and checked. If the order is not that of
// the table, the rows are held in memory, or in a scratch file if they are more than 32 MiB.
func Select(t Table, s *Selection, scratch Scratch) Table {
	switch t := t.(type) {
	case *joined:
		selected := *t
		selected.tables, selected.rows = slices.Clone(t.tables), s.Len()
		for i, part := range t.tables {
			selected.tables[i] = Select(part, s, scratch)
		}
		return &selected
	case *derived:
		selected := *t
		selected.Table, selected.rows = Select(t.Table, s, scratch), s.Len()
		return &selected
	case *IDX:
		if f, ok := t.file.(*local); ok && t.Seekable() && t.column.RecordSize() >= minPicked {
			return &picked{chosen: chosen{Table: t, s: s}, file: t, local: f}
		}
	}
	rows := chosen{Table: t, s: s}
	if s.order == nil {
		return &filtered{chosen: rows}
	}
	return &shuffled{chosen: rows, limit: maxInMemory, scratch: scratch}
}

// chosen is the selected rows of a table.
type chosen struct {
	Table
	s        *Selection
	returned int64 // number of rows returned so far
	row      int64 // in the order of the table: the selected rows before it were returned
}

func (c *chosen) Rows() int64 { return c.s.Len() }
func (c *chosen) Info() Info  { return About(c.Table) }

// take makes b the next rows, and lists them in b.State, for tables whose Decode finds them. The
// error is io.EOF if none are left.
func (c *chosen) take(b *Raw) error {
	rows, _ := b.State.([]int64)
	rows = rows[:0]
	n := min(int64(b.Cap), c.s.Len()-c.returned)
	if c.s.order != nil {
		rows = append(rows, c.s.order[c.returned:c.returned+n]...)
	}
	for int64(len(rows)) < n {
		first, run := c.s.next(c.row, n-int64(len(rows)))
		for c.row = first; c.row < first+run; c.row++ {
			rows = append(rows, c.row)
		}
	}
	b.First, b.Rows, b.State = c.s.First+c.returned, int(n), rows
	if c.returned += n; n == 0 {
		return io.EOF
	}
	return nil
}

// picked is the selected rows of an IDX file, which Decode reads.
type picked struct {
	chosen
	file  *IDX
	local *local
}

func (p *picked) Read(ctx context.Context, b *Raw) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return p.take(b)
}

// Decode reads the rows, adjacent ones with a single call. A check that the file has not changed
// takes as long as the read of a row: there is one for all of them.
func (p *picked) Decode(b *Raw) (err error) {
	b.Allocate(p.file.Columns())
	rows, data := b.State.([]int64), b.Columns[0]
	for len(rows) > 0 && err == nil {
		n := 1
		for n < len(rows) && rows[n] == rows[n-1]+1 {
			n++
		}
		size := n * p.file.column.RecordSize()
		_, err = p.local.File.ReadAt(data[:size], p.file.offset(rows[0]))
		rows, data = rows[n:], data[size:]
	}
	if _, err = p.local.checked(0, err); err != nil {
		return fault.In(p.file.path, err)
	}
	return p.file.Decode(b)
}

// filtered is the selected rows of a table in their order.
type filtered struct {
	chosen
	raw   Raw  // rows of the table, decoded
	ended bool // the table has no more rows
}

func (f *filtered) Read(ctx context.Context, b *Raw) error {
	columns := f.Columns()
	b.First, b.Rows = f.s.First+f.returned, 0
	b.Allocate(columns)
	for b.Rows < b.Cap && !f.ended && (f.returned < f.s.Len() || !f.s.StopEarly) {
		end := f.raw.First + int64(f.raw.Rows)
		first, n := f.s.next(f.row, int64(b.Cap-b.Rows))
		if n = min(n, end-first); n <= 0 {
			f.raw.Cap = blockRows(f)
			err := f.Table.Read(ctx, &f.raw)
			if err == nil {
				err = f.Table.Decode(&f.raw)
			}
			if f.ended = err == io.EOF; f.ended && f.returned < f.s.Len() { // it had more rows before
				return fault.ChangedIn(columns[0].Origin)
			} else if err != nil && !f.ended {
				return err
			}
			continue
		}
		from := first - f.raw.First
		for i, c := range columns {
			size := int64(c.RecordSize())
			b.Columns[i] = append(b.Columns[i], f.raw.Columns[i][from*size:(from+n)*size]...)
		}
		b.Rows, f.returned, f.row = b.Rows+int(n), f.returned+n, first+n
	}
	if b.Rows == 0 {
		return io.EOF
	}
	return nil
}

// Decode does nothing: Read has decoded the rows to choose among them.
func (f *filtered) Decode(*Raw) error { return nil }

// shuffled is the selected rows of a table in another order. The first Read copies them.
type shuffled struct {
	chosen
	limit   int64 // of bytes held in memory
	scratch Scratch
	ranks   []int64     // number of selected rows before those of each word of s.kept
	copied  io.ReaderAt // the selected rows, row by row, in the order of the table; nil before load
	file    *os.File    // has them if they are too large for memory
}

func (t *shuffled) Read(ctx context.Context, b *Raw) error {
	if t.copied == nil {
		if err := t.load(ctx); err != nil {
			return err
		}
	}
	return t.take(b)
}

// load reads the selected rows into memory or the scratch file.
func (t *shuffled) load(ctx context.Context) (err error) {
	ranked := int64(0)
	for _, word := range t.s.kept {
		t.ranks = append(t.ranks, ranked)
		ranked += int64(bits.OnesCount64(word))
	}
	columns := t.Columns()
	var rows []byte
	if total := ranked * RowSize(columns); total <= t.limit {
		rows = make([]byte, 0, total)
	} else if t.file, err = t.scratch(); err != nil {
		return err
	}
	inOrder := &Selection{TableRows: t.s.TableRows, kept: t.s.kept, count: ranked, StopEarly: t.s.StopEarly}
	err = Each(ctx, Select(t.Table, inOrder, nil), func(b *Raw) error {
		for row := range b.Rows {
			for i, c := range columns {
				size := c.RecordSize()
				rows = append(rows, b.Columns[i][row*size:(row+1)*size]...)
			}
		}
		if t.file == nil {
			return nil
		} else if _, err := t.file.Write(rows); err != nil {
			return fault.New("", "the scratch file of a shuffled table cannot be written: %v", err).Because(err).
				WithHint("make room there: it is in the folder of the output or, without one, in TMPDIR")
		}
		rows = rows[:0]
		return nil
	})
	t.copied = bytes.NewReader(rows)
	if t.file != nil {
		t.copied = t.file
	}
	return err
}

func (t *shuffled) Decode(b *Raw) error {
	columns := t.Columns()
	record := int(RowSize(columns))
	b.Allocate(columns)
	b.Scratch = Grow(b.Scratch, record)
	for i, row := range b.State.([]int64) {
		word := row / 64
		rank := t.ranks[word] + int64(bits.OnesCount64(t.s.kept[word]&(1<<(row%64)-1)))
		data := b.Scratch
		if n, err := t.copied.ReadAt(data, rank*int64(record)); n < record {
			return fault.New(fault.IO, "the scratch file cannot be read: %v", err).
				WithHint("check the disks of the output and of TMPDIR")
		}
		for k, c := range columns {
			size := c.RecordSize()
			data = data[copy(b.Columns[k][i*size:(i+1)*size], data):]
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
