package compare

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A Difference is the first value in which two tables differ.
type Difference struct {
	Row             int64
	Column          string
	Position        []int // indices within the record
	Found, Expected string
}

// String describes the place and both values.
func (d *Difference) String() string {
	at := ""
	if len(d.Position) > 0 {
		at = fmt.Sprintf(", at %v", d.Position)
	}
	return fmt.Sprintf("row %d, column %s%s: found %s, expected %s", d.Row, d.Column, at, d.Found, d.Expected)
}

// A Sink compares the two tables of Pair. It implements sink.Sink.
type Sink struct {
	columns   []column
	total     int64 // rows of the longer table, if known
	nansEqual bool  // whether all NaNs are equal
	tally           // over all batches
}

// A column is a column of the first table with its counterpart.
type column struct {
	expected, found source.Column
	sameType        bool // whether both have the same data type
}

// New returns a sink for tables of Pair with the schema s. nansEqual makes all NaNs equal, as they
// are in text.
func New(s *schema.Schema, nansEqual bool) *Sink {
	half := len(s.Columns) / 2
	made := &Sink{nansEqual: nansEqual, total: s.Rows}
	for i, c := range s.Columns[:half] {
		found := s.Columns[half+i]
		made.columns = append(made.columns, column{expected: c, found: found, sameType: c.DType == found.DType})
	}
	return made
}

// A tally counts differences.
type tally struct {
	count int64 // values
	rows  int64 // with at least one of them
	first *Difference
}

// Encode compares b, see sink.Sink. The step fails with fault.Differs if only one of the tables
// ends in b.
func (s *Sink) Encode(ctx context.Context, b schema.Batch) (func() error, error) {
	var t tally
	expected, found := s.rowsOf(b)
	if !s.equal(b) {
		for row := range min(expected, found) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			t.addRow(s.columns, b, row, s.nansEqual)
		}
	}
	return func() error {
		s.count, s.rows = s.count+t.count, s.rows+t.rows
		if s.first == nil {
			s.first = t.first
		}
		if expected != found {
			return lengthError(b.First+int64(min(expected, found)), found < expected, s.total)
		}
		return nil
	}, nil
}

// rowsOf returns how many rows of each table are in b, from the sizes of its columns. If records
// have no bytes, that is b.Rows for both.
func (s *Sink) rowsOf(b schema.Batch) (expected, found int) {
	expected, found = b.Rows, b.Rows
	for i, c := range s.columns {
		if size := c.expected.RecordSize(); size > 0 {
			expected, found = len(b.Columns[i])/size, len(b.Columns[len(s.columns)+i])/c.found.RecordSize()
		}
	}
	return expected, found
}

// equal reports whether the bytes of all columns are the same.
func (s *Sink) equal(b schema.Batch) bool {
	for i, c := range s.columns {
		if !c.sameType || !bytes.Equal(b.Columns[i], b.Columns[len(s.columns)+i]) {
			return false
		}
	}
	return true
}

// addRow counts the differences in a row of b.
func (t *tally) addRow(columns []column, b schema.Batch, row int, nansEqual bool) {
	before := t.count
	for n, c := range columns {
		expected, found := b.Columns[n], b.Columns[len(columns)+n]
		size := c.expected.RecordSize()
		if c.sameType && bytes.Equal(expected[row*size:(row+1)*size], found[row*size:(row+1)*size]) {
			continue
		}
		elements := c.expected.Elements()
		for k := range elements {
			i := row*elements + k
			want, got := element(c.expected.DType, expected, i), element(c.found.DType, found, i)
			if want.equals(got, nansEqual) {
				continue
			}
			t.count++
			if t.first == nil {
				t.first = &Difference{Row: b.First + int64(row), Column: c.expected.Name, Position: position(k, c.expected.Shape),
					Found: got.String(), Expected: want.String()}
			}
		}
	}
	if t.count > before {
		t.rows++
	}
}

// position returns the indices of element k of a record of the given shape.
func position(k int, shape []int) []int {
	at := make([]int, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
		at[i], k = k%shape[i], k/shape[i]
	}
	return at
}

// Close does nothing.
func (s *Sink) Close() error { return nil }

// Differences returns the number of values that differ, the number of rows with such values, and
// the first difference, or nil if there is none.
func (s *Sink) Differences() (values, rows int64, first *Difference) { return s.count, s.rows, s.first }

// A value is one element of a column.
type value struct {
	dtype idx.DType
	data  []byte // little-endian
}

// element returns element i of data.
func element(d idx.DType, data []byte, i int) value {
	return value{d, data[i*d.Size() : (i+1)*d.Size()]}
}

func (v value) float() float64 { return source.Float(v.dtype, v.data, 0) }

// isNaN reports whether v is a NaN.
func (v value) isNaN() bool { return v.dtype.Float() && math.IsNaN(v.float()) }

// equals reports whether found equals v. Numbers of different types are equal if they are the same
// number; if v is a float32 and found a float64, found is rounded first. All NaNs are equal if
// nansEqual is true or the types differ.
func (v value) equals(found value, nansEqual bool) bool {
	if v.isNaN() && found.isNaN() && (nansEqual || v.dtype != found.dtype) {
		return true
	}
	if v.dtype == found.dtype {
		return bytes.Equal(v.data, found.data)
	}
	if v.dtype == idx.Float32 && found.dtype == idx.Float64 {
		return math.Float32bits(float32(found.float())) == math.Float32bits(float32(v.float()))
	}
	return v.float() == found.float()
}

// String formats v for people; NaNs include their bits.
func (v value) String() string {
	switch {
	case !v.dtype.Float():
		return strconv.FormatInt(source.Int(v.dtype, v.data, 0), 10)
	case v.isNaN():
		bits := bytes.Clone(v.data)
		slices.Reverse(bits)
		return fmt.Sprintf("NaN (%#x)", bits)
	}
	return strconv.FormatFloat(v.float(), 'g', -1, 8*v.dtype.Size())
}
