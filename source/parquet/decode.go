package parquet

import (
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/columnar"
)

// A part is what Read got of a leaf for a batch.
type part struct {
	dst  []byte // the elements of leaves that have some, where pages were decoded by Read
	jobs []job
	kept []byte // bodies of the pages that Decode decompresses

	files []byte // values of BYTE_ARRAY leaves, where pages were decoded by Read
	spans []span
}

// A job is a page that is left to Decode.
type job struct {
	page     page
	row      int // of the batch
	from, to int // its body within kept
}

// A span is where the value of a row is within files.
type span struct{ row, from, to int }

func (p *part) reset() {
	p.jobs, p.kept, p.files, p.spans = p.jobs[:0], p.kept[:0], p.files[:0], p.spans[:0]
}

// take decodes n entries of c, the next being entry at of row, which is row to of the batch: into
// the elements of all rows of the batch, dst, or by giving each value of bytes to each.
func (l *leaf) take(c *cursor, at, n int, row int64, dst []byte, to int, each func(row int, value []byte) error) error {
	if err := l.check(c, at, n, row); err != nil || l.values(n) == 0 {
		return err
	}
	if !l.raw() {
		from := (to*l.entries + at) * l.element.size
		err := c.fixed.read(dst[from : from+n*l.element.size])
		if m, ok := err.(*misfit); ok {
			return damaged("found the value %s, expected one of the type that %s", m.message, l.expected).
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

// job decodes a page that was left to Decode. first is the index of the batch's first row.
func (l *leaf) job(j *job, p *part, first int64, scratch *[]byte, each func(row int, value []byte) error) (err error) {
	row := first + int64(j.row)
	defer func() { err = located(err, l.path, row, j.page.offset) }()
	defer recovered(&err)
	c, err := l.open(&j.page, p.kept[j.from:j.to], scratch)
	if err != nil {
		return err
	}
	return l.take(c, 0, j.page.entries, row, p.dst, j.row, each)
}

// A decoding is what Decode knows of a column of a batch.
type decoding struct {
	*column
	parts   []part // of the column's leaves
	first   int64  // index of the batch's first row
	rows    int
	dst     []byte // the column's records
	scratch *[]byte
}

// numbers decodes the pages of leaf i that Read has left.
func (d *decoding) numbers(i int) error {
	p := &d.parts[i]
	for k := range p.jobs {
		if err := d.leaves[i].job(&p.jobs[k], p, d.first, d.scratch, nil); err != nil {
			return err
		}
	}
	return nil
}

// values calls take with the values of leaf i, of bytes, and the row of the batch that each is of.
func (d *decoding) values(i int, take func(row int, value []byte) error) error {
	p, l := &d.parts[i], d.leaves[i]
	for _, s := range p.spans {
		if err := take(s.row, p.files[s.from:s.to]); err != nil {
			return located(err, l.path, d.first+int64(s.row), -1)
		}
	}
	for k := range p.jobs {
		if err := l.job(&p.jobs[k], p, d.first, d.scratch, take); err != nil {
			return err
		}
	}
	return nil
}

// record is the room for row.
func (d *decoding) record(row int) []byte {
	size := d.RecordSize()
	return d.dst[row*size : (row+1)*size : (row+1)*size]
}

// decode makes the records of what was read of the leaves.
func (d *decoding) decode() error {
	switch {
	case d.Form == columnar.Images:
		return d.images()
	case d.Form == columnar.SparkImages:
		return d.spark()
	case d.leaves[0].raw():
		return d.bytes()
	case len(d.leaves) == 1: // whose elements are the records
		return d.numbers(0)
	}
	return d.flat()
}

// flat is for columns that have a leaf for each element.
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

// bytes is for columns whose records are bytes after their length.
func (d *decoding) bytes() error {
	size := d.RecordSize()
	return d.values(0, func(row int, value []byte) error {
		if len(value) != size {
			return d.otherSize(row, len(value))
		}
		copy(d.record(row), value)
		return nil
	})
}

// otherSize is the error for a record of n bytes.
func (d *decoding) otherSize(row, n int) error {
	return unsupported("", adviceShapes, "found %d bytes, expected the %d of shape %v of %s", n, d.RecordSize(), d.Shape, d.DType).InRow(d.first + int64(row))
}

// images is for columns of PNG files.
func (d *decoding) images() error {
	var scratch []byte
	return d.values(0, func(row int, value []byte) (err error) {
		if scratch, err = d.Image(d.record(row), value, scratch); err != nil {
			return fault.Wrap(fault.Malformed, err).InColumn(d.leaves[0].path).InRow(d.first + int64(row))
		}
		return nil
	})
}

// spark is for columns of Spark's images.
func (d *decoding) spark() error {
	for k := range columnar.SparkSizes {
		if err := d.numbers(k); err != nil {
			return err
		}
		if bad, err := d.CheckSize(k, d.parts[k].dst[:4*d.rows]); err != nil {
			return err.InRow(d.first + int64(bad))
		}
	}
	return d.values(len(columnar.SparkSizes), func(row int, value []byte) error {
		record := d.record(row)
		if len(value) != len(record) {
			return d.otherSize(row, len(value))
		}
		d.SparkImage(record, value)
		return nil
	})
}
