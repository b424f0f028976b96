package source

import (
	"encoding/binary"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/idx"
)

// Unnamed is the error for a label in a row of the column c, which has names of classes, but none for it.
func Unnamed(c Column, row, label int64) error {
	named := 0
	for _, name := range c.Classes {
		if name != "" {
			named++
		}
	}
	return fault.New(fault.Malformed, "label %d has no name, of %d names that are known", label, named).InColumn(c.Name).InRow(row).
		WithHint("give the right names with --classes FILE, the right data set with --dataset NAME, or none with --dataset none")
}

// labelled demands that every label of its columns with classes has a name.
type labelled struct{ wrapped }

// CheckLabels is t, but decoding fails at a label that its column has no name for. Columns without classes, with
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
				return Unnamed(c, b.First+int64(row), v)
			}
		}
	}
	return nil
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
