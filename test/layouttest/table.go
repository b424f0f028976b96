package layouttest

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
)

// A Table is a table to be written by a test.
type Table struct {
	Columns []source.Column
	Rows    int
	Data    [][]byte // of each column, little-endian
	Named   bool     // with a column of class names
}

// An Open returns the sink under test.
type Open func(w io.Writer, s *schema.Schema) (sink.Sink, error)

// Random fills columns with random bits, the same in every run. Floats include NaNs of all kinds.
func Random(rows int, columns ...source.Column) Table {
	t := Table{Columns: columns, Rows: rows}
	bits := rand.NewChaCha8([32]byte{1})
	for _, c := range columns {
		data := make([]byte, rows*c.RecordSize())
		_, _ = bits.Read(data) // cannot fail
		t.Data = append(t.Data, data)
	}
	return t
}

// Schema returns the schema of t, with one metadata pair.
func (t Table) Schema() *schema.Schema {
	rows := int64(t.Rows)
	s := &schema.Schema{Columns: t.Columns, Rows: rows, SourceRows: rows}
	s.Meta = []schema.Pair{{Key: "sources", Value: "a, b"}}
	if t.Named {
		s.Classes = schema.NewClasses(s, s.Label())
	}
	return s
}

// Join returns the bytes of a tensor column whose elements, of size bytes each, are in columns of
// their own: the first element of every column, then the second of every column, and so on.
func Join(columns [][]byte, size int) []byte {
	var joined []byte
	for at := 0; len(columns) > 0 && at < len(columns[0]); at += size {
		for _, column := range columns {
			joined = append(joined, column[at:at+size]...)
		}
	}
	return joined
}

// Write writes t, described by s, in batches of up to batch rows. The memory of each batch is
// overwritten after its step.
func (t Table) Write(tb testing.TB, open Open, s *schema.Schema, batch int) []byte {
	tb.Helper()
	var out bytes.Buffer
	if err := t.write(&out, open, s, batch); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func (t Table) write(w io.Writer, open Open, s *schema.Schema, batch int) error {
	k, err := open(w, s)
	if err != nil {
		return err
	}
	for first := 0; first < t.Rows; first += batch {
		b := schema.Batch{First: int64(first), Rows: min(batch, t.Rows-first)}
		for i, c := range t.Columns {
			b.Columns = append(b.Columns, bytes.Clone(t.Data[i][first*c.RecordSize():(first+b.Rows)*c.RecordSize()]))
		}
		step, err := k.Encode(context.Background(), b)
		if err != nil {
			return err
		}
		if err := step(); err != nil {
			return err
		}
		for _, data := range b.Columns {
			clear(data)
		}
	}
	return k.Close()
}
