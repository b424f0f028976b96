package source

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
)

// file makes an IDX file with encoding/binary alone; values is a slice of the Go type of d.
func file(t testing.TB, d idx.DType, dims []int, values any) []byte {
	t.Helper()
	var out bytes.Buffer
	parts := []any{uint32(d)<<8 | uint32(len(dims))}
	for _, n := range dims {
		parts = append(parts, uint32(n))
	}
	for _, part := range append(parts, values) {
		must.Do(t, binary.Write(&out, binary.BigEndian, part))
	}
	return out.Bytes()
}

// little returns values as Arrow keeps them.
func little(t testing.TB, values any) []byte {
	t.Helper()
	var out bytes.Buffer
	must.Do(t, binary.Write(&out, binary.LittleEndian, values))
	return out.Bytes()
}

// bytesUpTo returns 0, 1, 2, … n−1 modulo 251, so that no two records of a power of two in size are
// equal.
func bytesUpTo(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i % 251)
	}
	return b
}

// write puts data into a new file of that name.
func write(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, data, 0o666))
	return path
}

// open opens the IDX file at path, and closes it at the end of the test.
func open(t testing.TB, path string, o Options) *IDX {
	t.Helper()
	table := must.Get(OpenIDX(path, o))(t)
	t.Cleanup(func() {
		must.Do(t, table.Close())
	})
	return table
}

// fromBytes returns a table of an IDX file in memory.
func fromBytes(t testing.TB, name string, data []byte, o Options) *IDX {
	t.Helper()
	table := must.Get(NewIDX(bytes.NewReader(data), name, o))(t)
	t.Cleanup(func() { table.Close() })
	return table
}

// A content is what was read from a table.
type content struct {
	first   int64 // index of the first row
	rows    int64
	columns [][]byte
}

// readAll reads t to its end, batch rows at a time into one Raw, decodes every batch, and checks
// that Read keeps its contract.
func readAll(t Table, batch int) (content, error) {
	c := content{first: -1, columns: make([][]byte, len(t.Columns()))}
	b := &Raw{Cap: batch}
	for {
		err := t.Read(context.Background(), b)
		if errors.Is(err, io.EOF) && b.Rows != 0 {
			return c, fmt.Errorf("found the end with %d rows, expected none", b.Rows)
		}
		if err == io.EOF {
			return c, nil
		}
		if err != nil {
			return c, err
		}
		if c.first < 0 {
			c.first = b.First
		}
		if b.Rows < 1 || b.Rows > batch || b.First != c.first+c.rows || b.Cap != batch {
			return c, fmt.Errorf("found rows %d+%d of at most %d (now %d), expected them from %d",
				b.First, b.Rows, batch, b.Cap, c.first+c.rows)
		}
		c.rows += int64(b.Rows)
		if err := t.Decode(b); err != nil {
			return c, err
		}
		for i, column := range t.Columns() {
			if len(b.Columns[i]) != b.Rows*column.RecordSize() {
				return c, fmt.Errorf("column %s: found %d bytes for %d rows", column.Name, len(b.Columns[i]), b.Rows)
			}
			c.columns[i] = append(c.columns[i], b.Columns[i]...)
		}
	}
}

// check reads t and compares its columns.
func check(t *testing.T, table Table, batch int, first int64, want ...[]byte) {
	t.Helper()
	c, err := readAll(table, batch)
	if err != nil {
		t.Errorf("%d rows at a time: %v", batch, err)
		return
	}
	if c.rows > 0 && c.first != first {
		t.Errorf("%d rows at a time: found first row %d, expected %d", batch, c.first, first)
	}
	if !slices.EqualFunc(c.columns, want, bytes.Equal) {
		t.Errorf("%d rows at a time: found % x, expected % x", batch, c.columns, want)
	}
}

// A plain table hides the optional methods of t. With unknown set, it does not know its number of
// rows either, like a CSV file.
type plain struct {
	Table
	unknown bool
}

func (p plain) Rows() int64 {
	if p.unknown {
		return -1
	}
	return p.Table.Rows()
}

// second returns a table of five scalars.
func second(t *testing.T) Table {
	return fromBytes(t, "second", file(t, idx.Uint8, []int{5}, bytesUpTo(5)), Options{Name: "second"})
}
