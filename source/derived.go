package source

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/source/idx"
)

// A derived table has other columns than the inner one, whose batch is part 0 of its own.
type derived struct {
	Table
	columns []Column
	rows    int64
	whole   int64                     // rows of the source, if only [WithRows] knows them; else −1
	derive  func(b, inner *Raw) error // changes the columns of b, which are those of inner; may be nil
}

func newDerived(t Table, columns []Column, derive func(b, inner *Raw) error) *derived {
	return &derived{Table: t, columns: columns, rows: t.Rows(), whole: -1, derive: derive}
}

func (d *derived) Columns() []Column  { return d.columns }
func (d *derived) Rows() int64        { return d.rows }
func (d *derived) Skip(n int64) error { return Skip(d.Table, n) }

func (d *derived) Info() Info {
	info := About(d.Table)
	if info.SourceRows < 0 {
		info.SourceRows = d.whole
	}
	return info
}

func (d *derived) Read(ctx context.Context, b *Raw) error {
	inner := b.Part(0)
	err := d.Table.Read(ctx, inner)
	b.First, b.Rows = inner.First, inner.Rows
	return err
}

func (d *derived) Decode(b *Raw) error {
	inner := b.Part(0)
	if err := d.Table.Decode(inner); err != nil {
		return err
	}
	b.Columns = slices.Grow(b.Columns[:0], len(d.columns))[:len(d.columns)]
	copy(b.Columns, inner.Columns)
	if d.derive == nil {
		return nil
	}
	return d.derive(b, inner)
}

// WithColumns returns t with other names, classes or shapes (of as many elements) of its columns.
func WithColumns(t Table, columns []Column) Table { return newDerived(t, columns, nil) }

// WithRows returns t with the given number of rows, if it does not know its own. See [Count].
func WithRows(t Table, rows int64) Table {
	return &derived{Table: t, columns: t.Columns(), rows: rows, whole: rows}
}

// Project returns t with only the named columns, in the order of names, which must differ.
func Project(t Table, names []string) (Table, error) {
	all := t.Columns()
	columns, from := []Column(nil), []int(nil)
	for _, name := range names {
		i := Index(all, name)
		if i < 0 {
			return nil, fault.New(fault.Usage, "no column %q, found only %s", name, List(all)).Because(fault.NotFound).
				WithHint("%s", cmp.Or(text.DidYouMean(name, Names(all)), map[string]string{
					"class": "choose label, and add its names with --class-column"}[name]))
		}
		columns, from = append(columns, all[i]), append(from, i)
	}
	return newDerived(t, columns, func(b, inner *Raw) error {
		for k, i := range from {
			b.Columns[k] = inner.Columns[i]
		}
		return nil
	}), nil
}

// MapRecords returns t with one column changed: for each record, f appends one of the new shape.
func MapRecords(t Table, column int, shape []int, f func(dst, record []byte) []byte) Table {
	columns := slices.Clone(t.Columns())
	record := columns[column].RecordSize()
	columns[column].Shape = shape
	return newDerived(t, columns, func(b, _ *Raw) error {
		b.Scratch = b.Scratch[:0]
		for data := b.Columns[column]; len(data) > 0; data = data[record:] {
			b.Scratch = f(b.Scratch, data[:record])
		}
		b.Columns[column] = b.Scratch
		return nil
	})
}

// Transpose returns t with two axes of one column's records swapped, axis and the next one: the
// rows of an image become its columns.
func Transpose(t Table, column, axis int) Table {
	shape := slices.Clone(t.Columns()[column].Shape)
	n1, n2, planes := shape[axis], shape[axis+1], Column{Shape: shape[:axis]}.Elements()
	shape[axis], shape[axis+1] = n2, n1
	return MapRecords(t, column, shape, func(dst, record []byte) []byte {
		dst = append(dst, record...) // its place
		for plane := len(record) / planes; len(record) > 0; record = record[plane:] {
			SwapAxes(dst[len(dst)-len(record):], record, n1, n2, plane/(n1*n2))
		}
		return dst
	})
}

// SwapAxes fills dst with the n1×n2 matrix that src begins with, of cells of size bytes, with its
// axes swapped. A loop without tiles takes nine times as long for 1024×1024 bytes.
func SwapAxes(dst, src []byte, n1, n2, size int) {
	const tile = 32
	for from := 0; from < n1; from += tile {
		rows := min(tile, n1-from)
		for column := range n2 {
			to, at := dst[(column*n1+from)*size:][:rows*size], (from*n2+column)*size
			switch size {
			case 1:
				for i := range to {
					to[i] = src[at]
					at += n2
				}
			case 4:
				for ; len(to) > 0; to = to[4:] {
					binary.LittleEndian.PutUint32(to, binary.LittleEndian.Uint32(src[at:]))
					at += 4 * n2
				}
			default:
				for ; len(to) > 0; to = to[size:] {
					copy(to[:size], src[at:])
					at += size * n2
				}
			}
		}
	}
}

// Cast returns t with the elements of one column as integers of the type d. Decode fails for an
// element that is not a whole number or that d does not hold; hint is the hint of that error.
func Cast(t Table, column int, d idx.DType, hint string) Table {
	columns := slices.Clone(t.Columns())
	from := columns[column]
	columns[column].DType = d
	return newDerived(t, columns, func(b, _ *Raw) error {
		n := b.Rows * from.Elements()
		b.Scratch = Grow(b.Scratch, n*d.Size())
		if bad := NumberNamed(from.DType.String()).Convert(b.Scratch, d, b.Columns[column], n); bad >= 0 {
			found := strconv.FormatFloat(Float(from.DType, b.Columns[column], bad), 'f', -1, 64)
			least, most := d.Limits()
			return fault.New(fault.Malformed, "found %s, expected a whole number from %d to %d", found, least, most).
				In(from.Origin).InColumn(from.Name).InRow(b.First+int64(bad/from.Elements())).WithHint("%s", hint)
		}
		b.Columns[column] = b.Scratch
		return nil
	})
}

// Unstack returns a scalar column for each element of t's only column, one for each of names. The
// first gets the class names: of the eight numbers in each of QMNIST's labels it is the class.
func Unstack(t Table, names []string) Table {
	inner := t.Columns()[0]
	size, record := inner.DType.Size(), inner.RecordSize()
	columns := make([]Column, len(names))
	for i, name := range names {
		columns[i] = Column{Name: name, DType: inner.DType, Origin: inner.Origin}
	}
	columns[0].Classes = inner.Classes
	return newDerived(t, columns, func(b, inner *Raw) error {
		b.Scratch = Grow(b.Scratch, b.Rows*record)
		SwapAxes(b.Scratch, inner.Columns[0], b.Rows, len(columns), size)
		for i := range columns {
			b.Columns[i] = b.Scratch[i*b.Rows*size:][:b.Rows*size]
		}
		return nil
	})
}
