package arrow

import (
	"io"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
)

// A part is what one record batch gives to a batch of the table.
type part struct {
	batch   *batch
	from, n int64  // rows of the record batch
	at      int    // the first of them in the batch of the table
	fetched bool   // what the rows are made of was read
	works   []work // of every column
}

// A state is what Read tells Decode.
type state struct{ parts []part }

// add makes room for another part, reusing that of earlier ones.
func (s *state) add(columns int) *part {
	if len(s.parts) < cap(s.parts) {
		s.parts = s.parts[:len(s.parts)+1]
	} else {
		s.parts = append(s.parts, part{})
	}
	p := &s.parts[len(s.parts)-1]
	if p.works == nil {
		p.works = make([]work, columns)
	}
	return p
}

// read gathers rows of as many record batches as it takes.
//
// Rows that stand uncompressed in a plain file are read here, each column to its place. Of other record batches Decode makes the rows, on many
// goroutines, but only if no more than one is in memory for it.
func (t *Table) read(b *source.Raw) error {
	s, ok := b.State.(*state)
	if !ok {
		s = &state{}
		b.State = s
	}
	s.parts = s.parts[:0]
	want := int64(b.Cap)
	if t.rows >= 0 {
		want = min(want, t.rows-t.next)
	}
	if len(b.Columns) != len(t.columns) {
		b.Columns = make([][]byte, len(t.columns))
	}
	for i, c := range t.columns {
		b.Columns[i] = source.Grow(b.Columns[i], int(want)*c.RecordSize())
	}
	b.First = t.next
	rows := int64(0)
	for rows < want || rows == 0 { // after the last row too: reading on is how the end is checked
		p, err := t.take(b, s, want-rows)
		if err == io.EOF && (t.rows < 0 || t.next+rows == t.rows) {
			break
		}
		if err == io.EOF || err == nil && p.n == 0 {
			return fault.In(t.feed.path, damaged(unknown, "found other rows than the %d that were counted: it changed while it was read", t.rows))
		}
		if err != nil {
			return err
		}
		p.at = int(rows)
		rows += p.n
		if p.batch.direct() || len(s.parts) > 1 {
			if err := t.fetch(b, p); err != nil {
				return err
			}
		}
	}
	if rows == 0 {
		return io.EOF
	}
	b.Rows = int(rows)
	for i, c := range t.columns {
		b.Columns[i] = b.Columns[i][:b.Rows*c.RecordSize()]
	}
	t.next += rows
	return nil
}

// take adds to s up to most rows of the record batch that is being read, or of the next.
func (t *Table) take(b *source.Raw, s *state, most int64) (*part, error) {
	if t.batch == nil || t.used == t.batch.rows {
		var buf []byte
		if len(s.parts) == 0 {
			buf = b.Input
		} else if first := &s.parts[0]; !first.fetched {
			if err := t.fetch(b, first); err != nil {
				return nil, err
			}
		}
		if err := t.advance(buf, most); err != nil {
			return nil, err
		}
		if t.batch.rows <= most && len(s.parts) == 0 && t.batch.body != nil {
			b.Input = t.batch.body
		}
	}
	if t.used == 0 {
		t.batch.once = t.batch.rows <= most
	}
	p := s.add(len(t.columns))
	p.batch, p.from, p.n, p.fetched = t.batch, t.used, min(most, t.batch.rows-t.used), false
	t.used += p.n
	return p, nil
}

// records is the room for the records of p in column i.
func (t *Table) records(b *source.Raw, p *part, i int) []byte {
	size := t.columns[i].RecordSize()
	return b.Columns[i][p.at*size : (p.at+int(p.n))*size]
}

// fetch reads what the rows of p are made of.
func (t *Table) fetch(b *source.Raw, p *part) error {
	for i, c := range t.columns {
		if err := c.reader.fetch(p.batch, p.from, p.n, &p.works[i], t.records(b, p, i)); err != nil {
			return fault.In(p.batch.path, err)
		}
	}
	p.fetched = true
	return nil
}

// Decode makes the records of what Read has put into b.
func (t *Table) Decode(b *source.Raw) error {
	s, ok := b.State.(*state)
	if !ok || len(s.parts) == 0 {
		return nil
	}
	return guarded(s.parts[0].batch.path, func() error {
		for k := range s.parts {
			p := &s.parts[k]
			if !p.fetched {
				if err := t.fetch(b, p); err != nil {
					return err
				}
			}
			for i, c := range t.columns {
				if err := c.reader.finish(p.batch, p.from, p.n, &p.works[i], t.records(b, p, i)); err != nil {
					return fault.In(p.batch.path, err)
				}
			}
			p.batch = nil // its memory is free once all its rows are made
		}
		s.parts = s.parts[:0]
		return nil
	})
}
