package parquet

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/source/columnar"
)

// A leaf is a Parquet column and what its rows look like. It does not change while rows are read.
type leaf struct {
	*node
	file *file
	// empty tells, for each definition level less than the most, that an entry of it ends in an empty list; it is missing else.
	empty []bool

	element element // of leaves other than BYTE_ARRAY
	largest int     // bytes of a value of a leaf of BYTE_ARRAY: what is longer is no record

	// All rows look the same: they have entries entries of the definition level defined, whose repetition levels are those of pattern, which has
	// them several times if they are few.
	entries int
	defined int
	pattern []byte
	shape   string // for errors: what a row is expected to be
}

// values is how many values n entries have.
func (l *leaf) values(n int) int {
	if l.defined < l.maxDefinition {
		return 0
	}
	return n
}

// raw reports whether values are bytes of any size.
func (l *leaf) raw() bool { return l.kind() == format.ByteArray }

// expect sets what a row looks like: the repetition levels of one.
func (l *leaf) expect(row []byte, defined int) {
	l.entries, l.defined, l.pattern = len(row), defined, row
	if l.maxRepetition == 0 {
		return
	}
	const enough = 4096 // that a run is compared at once
	for len(l.pattern) < enough {
		l.pattern = append(l.pattern[:len(l.pattern):len(l.pattern)], l.pattern...)
	}
}

// A page is a data page.
type page struct {
	pageHeader
	offset     int64 // in the file, of its header
	dictionary *dictionary
}

// A cursor goes through the entries of a page.
type cursor struct {
	repetition, definition runs
	values                 []byte // encoded
	fixed                  fixedValues
	bytes                  byteValues
	left                   int // entries
}

// open makes a cursor for the page p of l whose body is body. What is decompressed is in buf, which
// grows for it.
func (l *leaf) open(p *page, body []byte, buf *[]byte) (c *cursor, err error) {
	if p.checked && crc32.ChecksumIEEE(body) != p.crc {
		return nil, damaged("the checksum of a page is wrong: found %08x, expected %08x", crc32.ChecksumIEEE(body), p.crc)
	}
	c, err = l.levels(p, body, buf)
	if err != nil || l.values(p.entries) == 0 {
		return c, err
	}
	if l.raw() {
		c.bytes, err = newBytes(p, c.values)
	} else {
		c.fixed, err = newFixed(&l.element, l.kind(), p, c.values)
	}
	return c, err
}

// levels decompresses body and finds its parts.
func (l *leaf) levels(p *page, body []byte, buf *[]byte) (c *cursor, err error) {
	c = &cursor{left: p.entries}
	c.repetition.width, c.definition.width = bits.Len(uint(l.maxRepetition)), bits.Len(uint(l.maxDefinition))
	if l.maxRepetition > 0 && p.repetitionEncoding != format.RLE || l.maxDefinition > 0 && p.definitionEncoding != format.RLE { // those that are not there may have any
		return nil, unsupported("", "write the file with a newer program", "found levels of the encodings %s and %s, expected RLE", p.repetitionEncoding, p.definitionEncoding)
	}
	size := p.uncompressed
	if p.version2 { // the levels are not compressed, and the header has their lengths
		r, d := p.repetition, p.definition
		if r < 0 || d < 0 || r > len(body) || d > len(body)-r || r+d > size {
			return nil, damaged("found levels of %d and %d bytes in a page of %d", r, d, len(body))
		}
		c.repetition.src, c.definition.src = body[:r], body[r:r+d]
		body, size = body[r+d:], size-r-d
		if len(body) == 0 { // nothing is compressed to nothing by some writers
			return c, nil
		}
	}
	if c.values, err = l.file.codecs.decode(l.codec(p), buf, body, size); err != nil || p.version2 {
		return c, err
	}
	for _, levels := range []struct {
		*runs
		max int
	}{{&c.repetition, l.maxRepetition}, {&c.definition, l.maxDefinition}} {
		if levels.max == 0 {
			continue
		}
		if len(c.values) < 4 || int64(binary.LittleEndian.Uint32(c.values)) > int64(len(c.values)-4) {
			return nil, damaged("the levels of a page are longer than the page")
		}
		end := 4 + int(binary.LittleEndian.Uint32(c.values))
		levels.src, c.values = c.values[4:end], c.values[end:]
	}
	return c, nil
}

// codec is how p is compressed.
func (l *leaf) codec(p *page) format.CompressionCodec {
	if p.notCompressed {
		return format.Uncompressed
	}
	return p.codec
}

// check compares the levels of the next n entries with those that are expected, the next one being entry at of row row, and passes over them.
func (l *leaf) check(c *cursor, at, n int, row int64) error {
	same := n
	if l.maxRepetition > 0 {
		var err error
		if same, err = c.repetition.matchRows(l.pattern, l.entries, at, n); err != nil {
			return err
		}
	}
	if l.maxDefinition > 0 {
		present, other, err := c.definition.match([]byte{byte(l.defined)}, 0, min(n, same+1))
		if err != nil {
			return err
		}
		if present < min(n, same+1) {
			return l.absent(other, row+int64((at+present)/l.entries))
		}
	}
	if same < n {
		row += int64((at + same) / l.entries)
		if (at+same)%l.entries == 0 && row > 0 {
			row-- // the one before goes on
		}
		return l.otherLength(row)
	}
	c.left -= n
	return nil
}

// otherLength is the error for a row whose lists are not as long as those of the first.
func (l *leaf) otherLength(row int64) error {
	return unsupported(l.path, adviceLists, "found a list of another length, expected %s as in the first row", l.shape).InRow(row)
}

// absent is the error for an entry of definition level found in row.
func (l *leaf) absent(found byte, row int64) error {
	switch {
	case int(found) >= l.maxDefinition:
		return unsupported(l.path, adviceLists, "found a list with elements, expected an empty one as in the first row").InRow(row)
	case l.empty[found]:
		return unsupported(l.path, adviceLists, "found an empty list, expected %s", l.shape).InRow(row)
	}
	return unsupported(l.path, "IDX files have no missing values: fill them, or leave the rows out", "found a missing value (null), expected none").
		InRow(row).Because(columnar.ErrNull)
}
