package parquet

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/source/columnar"
)

// A leaf is a Parquet column with the levels of its rows. It does not change while rows are read.
type leaf struct {
	*node
	file *file
	// empty reports for each definition level below the maximum whether its entries are empty
	// lists; otherwise they are missing values.
	empty []bool

	element element // not for BYTE_ARRAY
	largest int     // limit of the bytes of a BYTE_ARRAY value

	// All rows have the same levels: entries entries of the definition level defined, whose
	// repetition levels are the first ones of pattern. The pattern of short rows is repeated.
	entries int
	defined int
	pattern []byte
	shape   string // of a row, for errors
}

// values returns the number of values of n entries.
func (l *leaf) values(n int) int {
	if l.defined < l.maxDefinition {
		return 0
	}
	return n
}

// isBytes reports whether values are bytes of any size.
func (l *leaf) isBytes() bool { return l.kind() == format.ByteArray }

// expect sets the levels of a row: its repetition levels, and their definition level.
func (l *leaf) expect(row []byte, defined int) {
	l.entries, l.defined, l.pattern = len(row), defined, row
	if l.maxRepetition == 0 {
		return
	}
	const enough = 4096 // to compare long runs at once
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

// A cursor iterates over the entries of a page.
type cursor struct {
	repetition, definition runs
	values                 []byte // encoded
	fixed                  fixedValues
	bytes                  byteValues
	left                   int // entries
}

// open returns a cursor for the page p with a body. It decompresses into buf, which it may enlarge.
func (l *leaf) open(p *page, body []byte, buf *[]byte) (c *cursor, err error) {
	if p.checked && crc32.ChecksumIEEE(body) != p.crc {
		return nil, damaged("the checksum of a page is wrong: found %08x, expected %08x", crc32.ChecksumIEEE(body), p.crc)
	}
	c, err = l.levels(p, body, buf)
	if err != nil || l.values(p.entries) == 0 {
		return c, err
	}
	if l.isBytes() {
		c.bytes, err = newBytes(p, c.values)
	} else {
		c.fixed, err = newFixed(&l.element, l.kind(), p, c.values)
	}
	return c, err
}

// levels decompresses body and separates levels and values.
func (l *leaf) levels(p *page, body []byte, buf *[]byte) (c *cursor, err error) {
	c = &cursor{left: p.entries}
	c.repetition.width, c.definition.width = bits.Len(uint(l.maxRepetition)), bits.Len(uint(l.maxDefinition))
	// Absent levels may have any encoding.
	if l.maxRepetition > 0 && p.repetitionEncoding != format.RLE || l.maxDefinition > 0 && p.definitionEncoding != format.RLE {
		return nil, unsupported("", "write the file with a newer program", "found levels of the encodings %s and %s, expected RLE", p.repetitionEncoding, p.definitionEncoding)
	}
	size := p.uncompressed
	if p.version2 { // the levels are uncompressed, and the header has their sizes
		r, d := p.repetition, p.definition
		if r < 0 || d < 0 || r > len(body) || d > len(body)-r || r+d > size {
			return nil, damaged("found levels of %d and %d bytes in a page of %d", r, d, len(body))
		}
		c.repetition.src, c.definition.src = body[:r], body[r:r+d]
		body, size = body[r+d:], size-r-d
		if len(body) == 0 { // some writers compress no values to no bytes
			return c, nil
		}
	}
	if c.values, err = l.file.codecs.decode(p.codec, buf, body, size); err != nil || p.version2 {
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

// check compares the levels of the next n entries, of which the first is entry at of row, with
// those that are expected, and skips them.
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
			return l.levelError(other, row+int64((at+present)/l.entries))
		}
	}
	if same < n {
		row += int64((at + same) / l.entries)
		if (at+same)%l.entries == 0 && row > 0 {
			row-- // the row before is longer
		}
		return l.lengthError(row)
	}
	c.left -= n
	return nil
}

// lengthError returns the error for a row whose lists differ in length from those of the first row.
func (l *leaf) lengthError(row int64) error {
	return unsupported(l.path, adviceLists, "found a list of another length, expected %s as in the first row", l.shape).InRow(row)
}

// levelError returns the error for an unexpected definition level in a row.
func (l *leaf) levelError(found byte, row int64) error {
	switch {
	case int(found) >= l.maxDefinition:
		return unsupported(l.path, adviceLists, "found a list with elements, expected an empty one as in the first row").InRow(row)
	case l.empty[found]:
		return unsupported(l.path, adviceLists, "found an empty list, expected %s", l.shape).InRow(row)
	}
	return unsupported(l.path, "fill the missing values or remove the rows: IDX has no missing values", "found a missing value (null), expected none").
		InRow(row).Because(columnar.ErrNull)
}
