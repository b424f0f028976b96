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

// maxDifferences is the maximum number of rows in the list of a tally.
const maxDifferences = 100

// A Difference is the first value in which a row of two tables differs.
type Difference struct {
	Row      int64  `json:"row"`
	Column   string `json:"column"`             // its name in the first table
	Position []int  `json:"position,omitempty"` // indices within the record
	Found    string `json:"found"`
	Expected string `json:"expected"`
}

// String describes the place and both values.
func (d Difference) String() string {
	at := ""
	if len(d.Position) > 0 {
		at = fmt.Sprintf(", at %v", d.Position)
	}
	return fmt.Sprintf("row %d, column %s%s: found %s, expected %s", d.Row, d.Column, at, d.Found, d.Expected)
}

// A Sink compares the two tables of a Pair. It implements sink.Sink.
type Sink struct {
	expected, found []source.Column // those of the first table, and their counterparts
	nansEqual       bool            // whether all NaNs are equal
	tally                           // over all batches, once the sink is closed
}

// New returns a sink for a Pair with the schema s. With nansEqual all NaNs are equal, as in text.
func New(s *schema.Schema, nansEqual bool) *Sink {
	half := len(s.Columns) / 2
	return &Sink{expected: s.Columns[:half], found: s.Columns[half:], nansEqual: nansEqual}
}

// A tally counts differences.
type tally struct {
	Values int64        // that differ
	Rows   int64        // with at least one of them
	List   []Difference // the first value of each of the first 100 of these rows
}

// Encode compares b, see sink.Sink.
func (s *Sink) Encode(_ context.Context, b schema.Batch) (func() error, error) {
	var t tally
	if !s.equal(b, 0, b.Rows) {
		for row := range b.Rows {
			if !s.equal(b, row, row+1) {
				s.addRow(&t, b, row)
			}
		}
	}
	return func() error {
		s.Values, s.Rows = s.Values+t.Values, s.Rows+t.Rows
		s.List = append(s.List, t.List[:min(len(t.List), maxDifferences-len(s.List))]...)
		return nil
	}, nil
}

// equal reports whether all columns have the same types, and the same bytes in the given rows.
func (s *Sink) equal(b schema.Batch, first, end int) bool {
	for i, c := range s.expected {
		from, to := first*c.RecordSize(), end*c.RecordSize()
		if c.DType != s.found[i].DType || !bytes.Equal(b.Columns[i][from:to], b.Columns[len(s.expected)+i][from:to]) {
			return false
		}
	}
	return true
}

// addRow counts the differences in a row of b.
func (s *Sink) addRow(t *tally, b schema.Batch, row int) {
	before := t.Values
	for n, c := range s.expected {
		for k := range c.Elements() {
			i := row*c.Elements() + k
			want, got := element(c.DType, b.Columns[n], i), element(s.found[n].DType, b.Columns[len(s.expected)+n], i)
			if want.equals(got, s.nansEqual) {
				continue
			}
			t.Values++
			if t.Values == before+1 && len(t.List) < maxDifferences {
				t.List = append(t.List, Difference{b.First + int64(row), c.Name, position(k, c.Shape),
					got.String(), want.String()})
			}
		}
	}
	if t.Values > before {
		t.Rows++
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

// A value is one element of a column.
type value struct {
	dtype idx.DType
	data  []byte // little-endian
}

func element(d idx.DType, data []byte, i int) value {
	return value{d, data[i*d.Size() : (i+1)*d.Size()]}
}

func (v value) float() float64 { return source.Float(v.dtype, v.data, 0) }

func (v value) isNaN() bool { return v.dtype.Float() && math.IsNaN(v.float()) }

// equals reports whether found equals v. Numbers of different types are equal if they are the same
// number; a float64 for a float32 may have its shortest decimal digits or, in text, which nansEqual
// tells, be rounded to it. All NaNs are equal if nansEqual is true or the types differ.
func (v value) equals(found value, nansEqual bool) bool {
	if v.isNaN() && found.isNaN() && (nansEqual || v.dtype != found.dtype) {
		return true
	}
	if v.dtype == found.dtype {
		return bytes.Equal(v.data, found.data)
	}
	if v.dtype == idx.Float32 && found.dtype == idx.Float64 {
		digits, _ := strconv.ParseFloat(strconv.FormatFloat(v.float(), 'g', -1, 32), 64)
		bits := math.Float64bits(found.float())
		return bits == math.Float64bits(digits) || bits == math.Float64bits(v.float()) ||
			nansEqual && math.Float32bits(float32(found.float())) == math.Float32bits(float32(v.float()))
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
