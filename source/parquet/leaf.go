package parquet

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/source/columnar"
)

// A leaf is a Parquet column with the levels of its rows. It does not change while rows are read.
type leaf struct {
	*node
	file *file
	// empty has an element for each definition level below the maximum: true if entries with that
	// level are empty lists, false if they are missing values.
	empty []bool

	element  element // not for BYTE_ARRAY
	maxBytes int     // limit of the bytes of a BYTE_ARRAY value

	// All rows have the same levels. The field entries is the number of entries of a row,
	// definition is the definition level of each entry, and pattern[:entries] has their repetition
	// levels. If rows are short, pattern repeats them, so that long runs are compared at once.
	entries    int
	definition int
	pattern    []byte
	shape      string // of a row, for messages
}

// valueCount returns the number of values of n entries: n, or 0 if they are empty lists.
func (l *leaf) valueCount(n int) int {
	if l.definition < l.maxDefinition {
		return 0
	}
	return n
}

// isByteArray reports whether the values are byte arrays, each with a length of its own.
func (l *leaf) isByteArray() bool { return l.kind() == format.ByteArray }

// expect sets the levels of every row: the repetition levels of its entries, and the definition
// level of all of them.
func (l *leaf) expect(repetition []byte, definition int) {
	l.entries, l.definition, l.pattern = len(repetition), definition, repetition
	if l.maxRepetition == 0 {
		return
	}
	const enough = 4096
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

// open returns a cursor for the page p with the given body, as in the file. It decompresses into
// buf, which it may enlarge.
func (l *leaf) open(p *page, body []byte, buf *[]byte) (c *cursor, err error) {
	if p.hasCRC && crc32.ChecksumIEEE(body) != p.crc {
		return nil, damaged("the checksum of a page is wrong: found %08x, expected %08x", crc32.ChecksumIEEE(body), p.crc)
	}
	c, err = l.levels(p, body, buf)
	if err != nil || l.valueCount(p.entries) == 0 {
		return c, err
	}
	if l.isByteArray() {
		c.bytes, err = newBytes(p, c.values)
	} else {
		c.fixed, err = newFixed(&l.element, l.kind(), p, c.values)
	}
	return c, err
}

// levels decompresses body, and returns a cursor that has only the levels and the encoded values.
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
		if len(body) == 0 { // if there are no values, some writers store nothing, not even an empty frame
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

// check skips the levels of the next n entries of c, and compares them with the expected ones.
// entry is the index of the first one in its row, and fileRow is the index of that row in the file.
func (l *leaf) check(c *cursor, entry, n int, fileRow int64) error {
	matched := n
	if l.maxRepetition > 0 {
		var err error
		if matched, err = c.repetition.matchRows(l.pattern, l.entries, entry, n); err != nil {
			return err
		}
	}
	if l.maxDefinition > 0 {
		present, other, err := c.definition.match([]byte{byte(l.definition)}, 0, min(n, matched+1))
		if err != nil {
			return err
		}
		if present < min(n, matched+1) {
			return l.levelError(other, fileRow+int64((entry+present)/l.entries))
		}
	}
	if matched < n {
		fileRow += int64((entry + matched) / l.entries)
		length := (entry + matched) % l.entries
		if length == 0 && fileRow > 0 {
			fileRow-- // the row before has too many entries
		}
		return l.lengthError(length, fileRow)
	}
	c.left -= n
	return nil
}

// lengthError returns the error for a row whose lists differ in length from those of the first row.
// length is the number of values in its list, or 0 if the list is longer than in the first row. The
// lengths of nested lists are not known.
func (l *leaf) lengthError(length int, row int64) error {
	found, expected := display.Count(length, "value"), display.Thousands(int64(l.entries))
	switch {
	case l.maxRepetition > 1:
		found, expected = "another length", l.shape
	case length == 0:
		found = "more than " + display.Count(l.entries, "value")
	}
	return unsupported(l.path, adviceLists, "found a list of %s, expected %s as in the first row", found, expected).InRow(row)
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
