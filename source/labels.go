package source

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/idxport/idxport/source/idx"
)

// ErrLabel is the sentinel for a label that has no name.
var ErrLabel = errors.New("a label has no name")

// A LabelError says which label has no name.
type LabelError struct {
	Column  string
	Row     int64
	Label   int64
	Classes int // number of named labels
}

// Error is the message, without the hint.
func (e *LabelError) Error() string {
	return fmt.Sprintf("column %s, row %d: label %d has no name, of %d names that are known", e.Column, e.Row, e.Label, e.Classes)
}

// Unwrap returns ErrLabel.
func (e *LabelError) Unwrap() error { return ErrLabel }

// Hint says how to go on.
func (e *LabelError) Hint() string {
	return "give the right names with --classes FILE, the right data set with --dataset NAME, or none with --dataset none"
}

// labelled demands that every label of its columns with classes has a name.
type labelled struct{ wrapped }

// CheckLabels is t, but decoding fails with a *LabelError at a label that its column has no name for. Columns without classes, with
// floats or with more than one element are not looked at.
func CheckLabels(t Table) Table {
	for _, c := range t.Columns() {
		if checked(c) {
			return labelled{wrapped{t}}
		}
	}
	return t
}

func checked(c Column) bool { return c.Classes != nil && c.Scalar() && c.Integer() }

func (l labelled) Decode(b *Raw) error {
	if err := l.Table.Decode(b); err != nil {
		return err
	}
	for i, c := range l.Columns() {
		if !checked(c) {
			continue
		}
		for row := range b.Rows {
			v := Int(c.DType, b.Columns[i], row)
			if c.ClassName(v) == "" {
				return &LabelError{Column: c.Name, Row: b.First + int64(row), Label: v, Classes: named(c.Classes)}
			}
		}
	}
	return nil
}

func named(classes []string) (n int) {
	for _, c := range classes {
		if c != "" {
			n++
		}
	}
	return n
}

// Int is element i of data, little-endian elements of the integer type d.
func Int(d idx.DType, data []byte, i int) int64 {
	switch d {
	case idx.Uint8:
		return int64(data[i])
	case idx.Int8:
		return int64(int8(data[i]))
	case idx.Int16:
		return int64(int16(binary.LittleEndian.Uint16(data[2*i:])))
	default:
		return int64(int32(binary.LittleEndian.Uint32(data[4*i:])))
	}
}
