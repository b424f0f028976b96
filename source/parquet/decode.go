package parquet

import (
	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/columnar"
)

// A part is the data of a leaf that Read got for a batch.
type part struct {
	dst    []byte // the elements of pages that Read decoded, unless they are bytes
	pages  []deferredPage
	bodies []byte // of pages, one after another

	files []byte // the byte arrays of pages that Read decoded
	spans []span
}

// A deferredPage is a page that Read left to Decode.
type deferredPage struct {
	page     page
	row      int // of the batch
	from, to int // its body within part.bodies
}

// A span is the position of the value of a row in part.files.
type span struct{ row, from, to int }

func (p *part) reset() {
	p.pages, p.bodies, p.files, p.spans = p.pages[:0], p.bodies[:0], p.files[:0], p.spans[:0]
}

// decodeEntries decodes n entries of c, the first of which is entry at of a row, which is row to of
// the batch. Elements go to dst, which has those of all rows of the batch; bytes are passed to
// each.
func (l *leaf) decodeEntries(c *cursor, at, n int, row int64, dst []byte, to int, each func(row int, value []byte) error) error {
	if err := l.check(c, at, n, row); err != nil || l.values(n) == 0 {
		return err
	}
	if !l.isBytes() {
		from := (to*l.entries + at) * l.element.size
		err := c.fixed.read(dst[from : from+n*l.element.size])
		if m, ok := err.(*rangeError); ok {
			return damaged("found the value %s, expected one of the column's type %s", m.message, l.element.dtype).
				InColumn(l.path).InRow(row+int64((at+m.at)/l.entries)).WithHint("%s", l.advice)
		}
		return err
	}
	for i := range n {
		value, err := c.bytes.next()
		if err != nil {
			return err
		}
		if err := each(to+i, value); err != nil {
			return err
		}
	}
	return nil
}

// decodePage decodes a deferred page. first is the index of the batch's first row.
func (l *leaf) decodePage(j *deferredPage, p *part, first int64, scratch *[]byte, each func(row int, value []byte) error) (err error) {
	row := first + int64(j.row)
	defer func() { err = located(err, l.path, row, j.page.offset) }()
	defer recovered(&err)
	c, err := l.open(&j.page, p.bodies[j.from:j.to], scratch)
	if err != nil {
		return err
	}
	return l.decodeEntries(c, 0, j.page.entries, row, p.dst, j.row, each)
}

// A decoding is the state of Decode for a column of a batch.
type decoding struct {
	*column
	parts   []part // of the column's leaves
	first   int64  // index of the batch's first row
	rows    int
	dst     []byte // the column's records
	scratch *[]byte
}

// numbers decodes the deferred pages of leaf i.
func (d *decoding) numbers(i int) error {
	p := &d.parts[i]
	for k := range p.pages {
		if err := d.leaves[i].decodePage(&p.pages[k], p, d.first, d.scratch, nil); err != nil {
			return err
		}
	}
	return nil
}

// values calls take with the values of leaf i, which are bytes, and their rows in the batch.
func (d *decoding) values(i int, take func(row int, value []byte) error) error {
	p, l := &d.parts[i], d.leaves[i]
	for _, s := range p.spans {
		if err := take(s.row, p.files[s.from:s.to]); err != nil {
			return located(err, l.path, d.first+int64(s.row), -1)
		}
	}
	for k := range p.pages {
		if err := l.decodePage(&p.pages[k], p, d.first, d.scratch, take); err != nil {
			return err
		}
	}
	return nil
}

// record returns the bytes of a row.
func (d *decoding) record(row int) []byte {
	size := d.RecordSize()
	return d.dst[row*size : (row+1)*size : (row+1)*size]
}

// decode decodes the records of the column.
func (d *decoding) decode() error {
	switch {
	case d.Form == columnar.Images:
		return d.images()
	case d.Form == columnar.SparkImages:
		return d.spark()
	case d.leaves[0].isBytes():
		return d.records(0, func(record, value []byte) { copy(record, value) })
	case len(d.leaves) == 1: // numbers writes its elements to the records
		return d.numbers(0)
	}
	return d.flat()
}

// flat decodes a column with a leaf for each element.
func (d *decoding) flat() error {
	columns := make([][]byte, len(d.leaves))
	for i := range d.leaves {
		if err := d.numbers(i); err != nil {
			return err
		}
		columns[i] = d.parts[i].dst
	}
	columnar.Interleave(d.dst, columns, d.rows, d.DType.Size())
	return nil
}

// records calls fill with the room for each record and its value of leaf i, which are byte arrays
// of the same size.
func (d *decoding) records(i int, fill func(record, value []byte)) error {
	return d.values(i, func(row int, value []byte) error {
		record := d.record(row)
		if len(value) != len(record) {
			return unsupported("", adviceShapes, "found %d bytes, expected the %d of shape %s of %s", len(value), len(record), display.Shape(d.Shape), d.DType).
				InRow(d.first + int64(row))
		}
		fill(record, value)
		return nil
	})
}

// images decodes a column of PNG files.
func (d *decoding) images() error {
	var scratch []byte
	return d.values(0, func(row int, value []byte) (err error) {
		if scratch, err = d.Image(d.record(row), value, scratch); err != nil {
			return fault.Wrap(fault.Malformed, err).InColumn(d.leaves[0].path).InRow(d.first + int64(row))
		}
		return nil
	})
}

// spark decodes a column of Spark's images.
func (d *decoding) spark() error {
	for k := range columnar.SparkSizes {
		if err := d.numbers(k); err != nil {
			return err
		}
		if bad, err := d.CheckSize(k, d.parts[k].dst[:4*d.rows]); err != nil {
			return err.InRow(d.first + int64(bad))
		}
	}
	return d.records(len(columnar.SparkSizes), d.SparkImage)
}
