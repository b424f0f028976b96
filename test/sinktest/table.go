package sinktest

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A Table is a table to test sinks with. Its values follow from the column, the row and the
// position alone.
type Table struct {
	Name    string // of the subtest
	Columns []source.Column
	Rows    int
	Named   bool // with a column of class names
}

// Images returns gray images of unsigned bytes with labels of ten classes: three batches, the last
// one short.
func Images() Table {
	return Table{Name: "images", Rows: 115, Columns: []source.Column{
		{Name: "image", DType: idx.Uint8, Shape: []int{128, 128}, Origin: "images.idx3-ubyte"},
		{Name: "label", DType: idx.Uint8, Origin: "labels.idx1-ubyte",
			Classes: []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}},
	}}
}

// Named returns labels of ten classes and a column of their names: two batches.
func Named() Table {
	return Table{Name: "named", Rows: 100_000, Named: true, Columns: []source.Column{
		{Name: "label", DType: idx.Uint8, Origin: "labels.idx1-ubyte",
			Classes: []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "a\"9"}},
	}}
}

// Unlabelled returns colour images of H×W×3 unsigned bytes without labels: two batches.
func Unlabelled() Table {
	return Table{Name: "unlabelled", Rows: 20, Columns: []source.Column{
		{Name: "image", DType: idx.Uint8, Shape: []int{100, 160, 3}, Origin: "images.idx4-ubyte"},
	}}
}

// Numbers returns a scalar and a vector of every data type: two batches.
func Numbers() Table {
	t := Table{Name: "numbers", Rows: 2300}
	for _, d := range idx.DTypes() {
		t.Columns = append(t.Columns, source.Column{Name: d.String(), DType: d, Origin: "numbers"},
			source.Column{Name: d.String() + "s", DType: d, Shape: []int{25}, Origin: "numbers"})
	}
	return t
}

// Single returns one column of scalars: two batches.
func Single() Table {
	data := source.Column{Name: "data", DType: idx.Int32, Origin: "data.idx1-int"}
	return Table{Name: "single", Rows: 100_000, Columns: []source.Column{data}}
}

// Empty returns images without pixels, and labels: two batches.
func Empty() Table {
	return Table{Name: "empty", Rows: 70_000, Columns: []source.Column{
		{Name: "image", DType: idx.Uint8, Shape: []int{0, 28}, Origin: "images.idx3-ubyte"},
		{Name: "label", DType: idx.Uint8, Origin: "labels.idx1-ubyte"},
	}}
}

// Little returns the values of a column as in a batch.
func Little[T int8 | int16 | int32 | float32 | float64](values ...T) []byte {
	data, _ := binary.Append(nil, binary.LittleEndian, values) // T has a size
	return data
}

// A filled is a Table with its values, which are made once and copied for every batch.
type filled struct {
	Table
	values [][]byte // of each column
}

func (t Table) fill() filled {
	f := filled{Table: t}
	for k, c := range t.Columns {
		f.values = append(f.values, values(c, k, t.Rows))
	}
	return f
}

// schema describes the whole table.
func (t filled) schema() *schema.Schema {
	s := &schema.Schema{Columns: t.Columns, Rows: int64(t.Rows), SourceRows: int64(t.Rows),
		Meta: []schema.Pair{{Key: "idxport.sources", Value: t.Name}}}
	if t.Named {
		s.Classes = schema.NewClasses(s, s.Label())
	}
	return s
}

// batches returns all rows of t, in the batches that package pipeline makes, each with buffers of
// its own.
func (t filled) batches() []schema.Batch {
	var all []schema.Batch
	for first, limit := 0, t.schema().BatchRows(); first < t.Rows; first += limit {
		all = append(all, t.batch(first, min(limit, t.Rows-first)))
	}
	return all
}

// batch returns the given number of rows of t from the row first on.
func (t filled) batch(first, rows int) schema.Batch {
	b := schema.Batch{First: int64(first), Rows: rows}
	for k := range t.Columns {
		b.Columns = append(b.Columns, bytes.Clone(t.column(k, b.First, b.Rows)))
	}
	return b
}

// column returns rows of column k. The caller must not write to them.
func (t filled) column(k int, first int64, rows int) []byte {
	size := t.Columns[k].RecordSize()
	return t.values[k][int(first)*size:][:rows*size]
}

// values returns the records of c, which is column k. Class labels are below the number of classes;
// everything else is random bytes, with runs of zeros as in images. Floats of such bytes have all
// signs and exponents, and include infinities and NaNs.
func values(c source.Column, k, rows int) []byte {
	size := c.RecordSize()
	data := make([]byte, rows*size)
	for row := range rows {
		record := data[row*size : (row+1)*size]
		seed := mix(uint64(row)<<8 | uint64(k))
		if len(c.Classes) > 0 && c.Scalar() {
			record[0] = byte(seed % uint64(len(c.Classes)))
			continue
		}
		var word [8]byte
		for at := 0; at < size; at += len(word) {
			if size < 64 || at/len(word)%4 != 3 {
				binary.LittleEndian.PutUint64(word[:], mix(seed+uint64(at)))
				copy(record[at:], word[:])
			}
		}
	}
	return data
}

// mix is the finalizer of SplitMix64: https://prng.di.unimi.it/splitmix64.c
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// open returns t as a table for the pipeline. If hideRows, the number of rows is unknown before the
// end.
func (t filled) open(hideRows bool) source.Table { return &reader{table: t, hideRows: hideRows} }

// A reader reads a table.
type reader struct {
	table    filled
	hideRows bool
	next     int
}

func (r *reader) Columns() []source.Column { return r.table.Columns }

func (r *reader) Rows() int64 {
	if r.hideRows {
		return -1
	}
	return int64(r.table.Rows)
}

func (r *reader) Read(_ context.Context, b *source.Raw) error {
	b.First, b.Rows = int64(r.next), min(b.Cap, r.table.Rows-r.next)
	r.next += b.Rows
	if b.Rows == 0 {
		return io.EOF
	}
	return nil
}

// Decode copies the rows to the buffers of b, which may have been used for earlier rows.
func (r *reader) Decode(b *source.Raw) error {
	if len(b.Columns) == 0 {
		b.Columns = make([][]byte, len(r.table.Columns))
	}
	for k := range b.Columns {
		b.Columns[k] = append(b.Columns[k][:0], r.table.column(k, b.First, b.Rows)...)
	}
	return nil
}

func (r *reader) Close() error { return nil }
