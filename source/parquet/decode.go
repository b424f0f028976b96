package parquet

import (
	"bytes"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/picture"
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

// decodePictures is for columns of PNG files, all of the format f. turn is the number of channels that become the first dimension, or 0.
func decodePictures(d *decoding, f picture.Format, turn int) error {
	var pixels []byte
	return d.values(0, func(row int, value []byte) error {
		record := d.record(row)
		dst := record[:0]
		if turn > 0 {
			dst = pixels[:0]
		}
		made, err := f.Append(dst, value)
		if err != nil {
			return badPicture(err, d.leaves[0].path, d.first+int64(row))
		}
		if len(made) != len(record) {
			return otherSize(d, row, len(made))
		}
		if turn > 0 {
			pixels = made
			turnChannels(record, pixels, turn, d.DType.Size())
		} else if len(made) > 0 && &made[0] != &record[0] {
			copy(record, made)
		}
		return nil
	})
}

// decodeSpark is for columns of Spark's images, whose sizes are those of the first row.
func decodeSpark(d *decoding, sizes [len(sparkSizes)][]byte, channels, turn int) error {
	for i, expected := range sizes {
		if err := d.numbers(i); err != nil {
			return err
		}
		for row := range d.rows {
			if found := d.parts[i].dst[4*row : 4*row+4]; !bytes.Equal(found, expected) {
				return unsupported(d.leaves[i].path, adviceShapes, "found %d, expected %d as in the first row", int32(word(found)), int32(word(expected))).
					InRow(d.first + int64(row))
			}
		}
	}
	var pixels []byte
	return d.values(len(sizes), func(row int, value []byte) error {
		record := d.record(row)
		if len(value) != len(record) {
			return otherSize(d, row, len(value))
		}
		if channels == 1 {
			copy(record, value)
			return nil
		}
		out := record
		if turn > 0 {
			pixels = source.Grow(pixels, len(record))
			out = pixels
		}
		copy(out, value)
		for i := 0; i+channels <= len(out); i += channels { // blue, green, red
			out[i], out[i+2] = out[i+2], out[i]
		}
		if turn > 0 {
			turnChannels(record, out, turn, 1)
		}
		return nil
	})
}
