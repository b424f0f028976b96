package csv

import "github.com/idxport/idxport/schema"

// A cursor renders a batch, as much at a time as there is room for.
type cursor struct {
	fields  []field
	flat    bool
	columns [][]byte
	rows    int

	// The place of the next element.
	row, field, element int
}

// start returns a cursor before the first element of b.
func (l *layout) start(b schema.Batch) *cursor {
	c := &cursor{fields: l.fields, flat: l.flat, columns: b.Columns, rows: b.Rows}
	if l.flat { // a row of as many elements as there are rows
		f := l.fields[0]
		f.elements = b.Rows
		c.fields, c.rows = []field{f}, 1
	}
	return c
}

// done tells whether the whole batch was rendered.
func (c *cursor) done() bool { return c.row == c.rows }

// render appends to dst until it is full or the batch ends, and never makes it grow. The text of a flat layout has no separator at its end.
func (c *cursor) render(dst []byte) []byte {
	for ; !c.done(); c.row++ {
		for ; c.field < len(c.fields); c.field++ {
			f := &c.fields[c.field]
			n := min(f.elements-c.element, (cap(dst)-len(dst)-slack)/f.width)
			from := (c.row*f.elements + c.element) * f.size
			dst = f.render(dst, c.columns[f.index][from:from+n*f.size])
			c.element += n
			if c.element < f.elements {
				return dst
			}
			c.element = 0
		}
		c.field = 0
		if c.flat {
			dst = dst[:len(dst)-1]
		} else {
			dst[len(dst)-1] = '\n' // in place of the last separator
		}
	}
	return dst
}
