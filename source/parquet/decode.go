package parquet

import (
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/columnar"
)

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

// decodeNumbers is for columns whose leaf's elements are the records.
func decodeNumbers(d *decoding) error { return d.numbers(0) }

// decodeFlat is for columns that have a leaf for each element.
func decodeFlat(d *decoding) error {
	size, n := d.DType.Size(), len(d.leaves)
	for i := range d.leaves {
		if err := d.numbers(i); err != nil {
			return err
		}
	}
	const tile = 256 // rows whose records stay in the cache while the leaves are gone through
	for from := 0; from < d.rows; from += tile {
		to := min(from+tile, d.rows)
		for i := range d.parts {
			scatter(d.dst[(from*n+i)*size:], d.parts[i].dst[from*size:to*size], n*size, size)
		}
	}
	return nil
}

// scatter writes the elements of src, of size bytes, to dst, stride bytes apart.
func scatter(dst, src []byte, stride, size int) {
	if size == 1 {
		for i, v := range src {
			dst[i*stride] = v
		}
		return
	}
	for i := 0; i*size < len(src); i++ {
		copy(dst[i*stride:][:size], src[i*size:(i+1)*size])
	}
}

// decodeBytes is for columns whose records are bytes after their length.
func decodeBytes(d *decoding) error {
	size := d.RecordSize()
	return d.values(0, func(row int, value []byte) error {
		if len(value) != size {
			return otherSize(d, row, len(value))
		}
		copy(d.record(row), value)
		return nil
	})
}

// otherSize is the error for a record of n bytes.
func otherSize(d *decoding, row, n int) error {
	return unsupported("", adviceShapes, "found %d bytes, expected the %d of shape %v of %s", n, d.RecordSize(), d.Shape, d.DType).InRow(d.first + int64(row))
}

// decodeImages is for columns of PNG files.
func decodeImages(d *decoding) error {
	var scratch []byte
	return d.values(0, func(row int, value []byte) (err error) {
		if scratch, err = d.Image(d.record(row), value, scratch); err != nil {
			return fault.Wrap(fault.Malformed, err).InColumn(d.leaves[0].path).InRow(d.first + int64(row))
		}
		return nil
	})
}

// decodeSpark is for columns of Spark's images.
func decodeSpark(d *decoding) error {
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
			return otherSize(d, row, len(value))
		}
		d.SparkImage(record, value)
		return nil
	})
}
