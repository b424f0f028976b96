package parquet

import (
	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/columnar"
)

// leafData is the data of a leaf that Read has stored for one batch.
type leafData struct {
	dst    []byte // the elements of all rows; not used for byte arrays
	pages  []deferredPage
	bodies []byte // of pages, one after another

	values []byte // the byte arrays of pages that Read decoded
	spans  []span
}

// A deferredPage is a page that Read left to Decode.
type deferredPage struct {
	page     page
	row      int // of the batch
	from, to int // its body within leafData.bodies
}

// A span is the position of the value of a row in leafData.values.
type span struct{ row, from, to int }

func (d *leafData) reset() {
	d.pages, d.bodies, d.values, d.spans = d.pages[:0], d.bodies[:0], d.values[:0], d.spans[:0]
}

// decodeEntries decodes the next n entries of c. entry is the index of the first one in its row;
// fileRow and batchRow are the indices of that row in the file and in the batch. Elements are
// stored in dst, which has room for all rows of the batch; byte arrays are passed to emit, with
// their row in the batch.
func (l *leaf) decodeEntries(c *cursor, entry, n int, fileRow int64, dst []byte, batchRow int, emit func(row int, value []byte) error) error {
	if err := l.check(c, entry, n, fileRow); err != nil || l.valueCount(n) == 0 {
		return err
	}
	if !l.isByteArray() {
		from := (batchRow*l.entries + entry) * l.element.size
		err := c.fixed.read(dst[from : from+n*l.element.size])
		if m, ok := err.(*rangeError); ok {
			return damaged("found the value %s, expected one of the column's type %s", m.value, l.element.dtype).
				InColumn(l.path).InRow(fileRow+int64((entry+m.index)/l.entries)).WithHint("%s", l.advice)
		}
		return err
	}
	for i := range n {
		value, err := c.bytes.next()
		if err != nil {
			return err
		}
		if err := emit(batchRow+i, value); err != nil {
			return err
		}
	}
	return nil
}

// decodePage decodes a deferred page. first is the index of the batch's first row.
func (l *leaf) decodePage(deferred *deferredPage, data *leafData, first int64, scratch *[]byte, emit func(row int, value []byte) error) (err error) {
	row := first + int64(deferred.row)
	defer func() { err = located(err, l.path, row, deferred.page.offset) }()
	defer recovered(&err)
	c, err := l.open(&deferred.page, data.bodies[deferred.from:deferred.to], scratch)
	if err != nil {
		return err
	}
	return l.decodeEntries(c, 0, deferred.page.entries, row, data.dst, deferred.row, emit)
}

// A decoding is the state of Decode for a column of a batch.
type decoding struct {
	*column
	data    []leafData // of the column's leaves
	first   int64      // index of the batch's first row
	rows    int
	dst     []byte // the column's records
	scratch *[]byte
}

// numbers decodes the deferred pages of leaf i, whose values are not byte arrays.
func (d *decoding) numbers(i int) error {
	data := &d.data[i]
	for k := range data.pages {
		if err := d.leaves[i].decodePage(&data.pages[k], data, d.first, d.scratch, nil); err != nil {
			return err
		}
	}
	return nil
}

// eachValue calls emit with the values of leaf i, which are byte arrays, and their rows in the
// batch.
func (d *decoding) eachValue(i int, emit func(row int, value []byte) error) error {
	data, l := &d.data[i], d.leaves[i]
	for _, s := range data.spans {
		if err := emit(s.row, data.values[s.from:s.to]); err != nil {
			return located(err, l.path, d.first+int64(s.row), -1)
		}
	}
	for k := range data.pages {
		if err := l.decodePage(&data.pages[k], data, d.first, d.scratch, emit); err != nil {
			return err
		}
	}
	return nil
}

// record returns the bytes of the record in a row.
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
	case d.leaves[0].isByteArray():
		return d.records(0, func(record, value []byte) { copy(record, value) })
	case len(d.leaves) == 1: // the elements of the only leaf are the records: no copy is needed
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
		columns[i] = d.data[i].dst
	}
	columnar.Interleave(d.dst, columns, d.rows, d.DType.Size())
	return nil
}

// records calls fill for each row with the record to fill and the value of leaf i; both must have
// the same length.
func (d *decoding) records(i int, fill func(record, value []byte)) error {
	return d.eachValue(i, func(row int, value []byte) error {
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
	return d.eachValue(0, func(row int, value []byte) (err error) {
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
		if bad, err := d.CheckSize(k, d.data[k].dst[:4*d.rows]); err != nil {
			return err.InRow(d.first + int64(bad))
		}
	}
	return d.records(len(columnar.SparkSizes), d.SparkImage)
}
