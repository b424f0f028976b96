package parquet

import (
	"encoding/binary"
	"errors"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// maxCompactDepth is the most structs and lists inside of each other; Parquet's own metadata has about 8.
const maxCompactDepth = 32

// errCompactEnd is met where the data ends within a value, which may only mean that more of it must be read; errCompact is damage.
var (
	errCompactEnd  = errors.New("the metadata ends within a value")
	errCompact     = errors.New("the metadata is no Thrift data")
	errCompactMany = errors.New("the metadata has more than 2,097,152 parts")
)

// maxParts is the most structs in lists. A decoder makes up to 560 bytes of each, a column of a row group, of which 3 bytes are enough in the file. Files of
// 4,096 columns in 100 row groups have about 1,600,000.
const maxParts = 1 << 21

// A compact walks through data in Thrift's compact protocol. Nothing is allocated, and no list is longer than the bytes that are left: once data
// was walked through, a decoder may trust its lengths.
type compact struct {
	data  []byte
	at    int
	parts uint64 // structs in lists so far
}

func (c *compact) byte() (byte, error) {
	if c.at >= len(c.data) {
		return 0, errCompactEnd
	}
	c.at++
	return c.data[c.at-1], nil
}

func (c *compact) uvarint() (uint64, error) {
	v, n := binary.Uvarint(c.data[c.at:])
	switch {
	case n == 0:
		return 0, errCompactEnd
	case n < 0:
		return 0, errCompact
	}
	c.at += n
	return v, nil
}

// integer is a value of i16, i32 or i64.
func (c *compact) integer() (int64, error) {
	v, err := c.uvarint()
	return int64(v>>1) ^ -int64(v&1), err
}

// integer32 is a value of i32.
func (c *compact) integer32() (int, error) {
	v, err := c.integer()
	if err == nil && v != int64(int32(v)) {
		err = errCompact
	}
	return int(v), err
}

func (c *compact) pass(n uint64) error {
	if n > uint64(len(c.data)-c.at) {
		return errCompactEnd
	}
	c.at += int(n)
	return nil
}

// fields calls visit with the number and the type of each field of a struct. visit reads the value, or returns false to have it skipped.
func (c *compact) fields(depth int, visit func(id int64, kind thrift.Type) (bool, error)) error {
	if depth > maxCompactDepth {
		return errCompact
	}
	for id := int64(0); ; {
		head, err := c.byte()
		if err != nil {
			return err
		}
		if head == byte(thrift.STOP) {
			return nil
		}
		if delta := head >> 4; delta > 0 {
			id += int64(delta)
		} else if id, err = c.integer(); err != nil {
			return err
		}
		kind, read := thrift.Type(head&0xf), false
		if visit != nil {
			if read, err = visit(id, kind); err != nil {
				return err
			}
		}
		if !read {
			if err := c.skip(kind, depth+1, false); err != nil {
				return err
			}
		}
	}
}

// skip passes over a value. Within lists truth values have a byte of their own.
func (c *compact) skip(kind thrift.Type, depth int, inList bool) error {
	if depth > maxCompactDepth {
		return errCompact
	}
	switch kind {
	case thrift.TRUE, thrift.FALSE:
		if inList {
			return c.pass(1)
		}
		return nil
	case thrift.I8:
		return c.pass(1)
	case thrift.I16, thrift.I32, thrift.I64:
		_, err := c.uvarint()
		return err
	case thrift.DOUBLE:
		return c.pass(8)
	case thrift.UUID:
		return c.pass(16)
	case thrift.BINARY:
		n, err := c.uvarint()
		if err != nil {
			return err
		}
		return c.pass(n)
	case thrift.LIST, thrift.SET:
		return c.list(depth)
	case thrift.STRUCT:
		return c.fields(depth+1, nil)
	default: // maps: Parquet has none
		return errCompact
	}
}

// list passes over a list. A struct in a list has a field at least: all of Parquet's do, and decoders make far more of them than one byte.
func (c *compact) list(depth int) error {
	head, err := c.byte()
	if err != nil {
		return err
	}
	n, kind := uint64(head>>4), thrift.Type(head&0xf)
	if n == 15 {
		if n, err = c.uvarint(); err != nil {
			return err
		}
	}
	if n > uint64(len(c.data)-c.at) { // no value is shorter than a byte
		return errCompactEnd
	}
	if kind == thrift.STRUCT {
		if c.parts += n; c.parts > maxParts {
			return errCompactMany
		}
	}
	for range n {
		from := c.at
		if err := c.skip(kind, depth+1, true); err != nil {
			return err
		}
		if kind == thrift.STRUCT && c.at-from < 2 {
			return errCompact
		}
	}
	return nil
}

// A pageHeader is what is needed of a page's header.
type pageHeader struct {
	kind                                   format.PageType
	size, uncompressed                     int // bytes of the body, and what it decompresses to
	crc                                    uint32
	checked                                bool                    // crc is present
	codec                                  format.CompressionCodec // of the chunk
	entries                                int                     // level entries, or values of a dictionary
	encoding                               format.Encoding
	repetition, definition                 int             // bytes of the levels, in pages of version 2
	repetitionEncoding, definitionEncoding format.Encoding // of the levels, in pages of version 1
	version2, notCompressed                bool
}

// parsePageHeader reads the header that data starts with, and tells its length.
func parsePageHeader(data []byte) (pageHeader, int, error) {
	c := compact{data: data}
	h := pageHeader{kind: -1, size: -1, uncompressed: -1, entries: -1, repetitionEncoding: format.RLE, definitionEncoding: format.RLE}
	err := c.fields(0, func(id int64, kind thrift.Type) (bool, error) {
		switch {
		case kind == thrift.I32 && id >= 1 && id <= 4:
			v, err := c.integer32()
			switch id {
			case 1:
				h.kind = format.PageType(v)
			case 2:
				h.uncompressed = v
			case 3:
				h.size = v
			case 4:
				h.crc, h.checked = uint32(v), true
			}
			return true, err
		case kind == thrift.STRUCT && (id == 5 || id == 7 || id == 8):
			return true, h.describe(&c, id)
		}
		return false, nil
	})
	return h, c.at, err
}

// describe reads the struct of field id: of a data page, a dictionary page, or a data page of version 2.
func (h *pageHeader) describe(c *compact, id int64) error {
	h.version2 = id == 8
	return c.fields(1, func(field int64, kind thrift.Type) (bool, error) {
		if h.version2 && field == 7 {
			h.notCompressed = kind == thrift.FALSE
			return false, nil
		}
		if kind != thrift.I32 {
			return false, nil
		}
		v, err := c.integer32()
		switch {
		case field == 1:
			h.entries = v
		case field == 2 && !h.version2, field == 4 && h.version2:
			h.encoding = format.Encoding(v)
		case field == 5 && h.version2:
			h.definition = v
		case field == 6 && h.version2:
			h.repetition = v
		case field == 3 && id == 5:
			h.definitionEncoding = format.Encoding(v)
		case field == 4 && id == 5:
			h.repetitionEncoding = format.Encoding(v)
		}
		return true, err
	})
}
