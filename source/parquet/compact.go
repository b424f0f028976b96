package parquet

import (
	"encoding/binary"
	"errors"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// maxCompactDepth limits the nesting of structs and lists. Parquet's metadata has a depth of about
// 8.
const maxCompactDepth = 32

// errCompactEnd means that data ends inside a value: the caller may have to read more of it. The
// other errors mean damage.
var (
	errCompactEnd  = errors.New("the metadata ends within a value")
	errCompact     = errors.New("the metadata is not in Thrift's format")
	errCompactMany = errors.New("the metadata has more than 2,097,152 parts")
)

// maxStructs limits the number of structs in lists. A decoder allocates up to 560 bytes for a
// struct that takes as little as 3 bytes in the file, such as a column of a row group. Files with
// 4,096 columns in 100 row groups have about 1,600,000.
const maxStructs = 1 << 21

// A compact parses data in Thrift's compact protocol. It allocates nothing, and checks that no list
// is longer than the remaining bytes: after that a decoder may trust the lengths in the data.
type compact struct {
	data    []byte
	pos     int
	structs uint64 // structs in lists so far
}

func (c *compact) byte() (byte, error) {
	if c.pos >= len(c.data) {
		return 0, errCompactEnd
	}
	c.pos++
	return c.data[c.pos-1], nil
}

func (c *compact) uvarint() (uint64, error) {
	v, n := binary.Uvarint(c.data[c.pos:])
	switch {
	case n == 0:
		return 0, errCompactEnd
	case n < 0:
		return 0, errCompact
	}
	c.pos += n
	return v, nil
}

// integer reads an i16, i32 or i64.
func (c *compact) integer() (int64, error) {
	v, err := c.uvarint()
	return zigzag(v), err
}

// zigzag returns the signed integer that v encodes: 0, 1, 2, 3 encode 0, −1, 1, −2.
func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// integer32 reads an i32.
func (c *compact) integer32() (int, error) {
	v, err := c.integer()
	if err == nil && v != int64(int32(v)) {
		err = errCompact
	}
	return int(v), err
}

func (c *compact) skipBytes(n uint64) error {
	if n > uint64(len(c.data)-c.pos) {
		return errCompactEnd
	}
	c.pos += int(n)
	return nil
}

// fields calls visit, if it is not nil, with the number and type of each field of a struct. visit
// either reads the value and returns true, or returns false: then fields skips the value.
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

// skip skips a value. In lists booleans have a byte of their own.
func (c *compact) skip(kind thrift.Type, depth int, inList bool) error {
	if depth > maxCompactDepth {
		return errCompact
	}
	switch kind {
	case thrift.TRUE, thrift.FALSE:
		if inList {
			return c.skipBytes(1)
		}
		return nil
	case thrift.I8:
		return c.skipBytes(1)
	case thrift.I16, thrift.I32, thrift.I64:
		_, err := c.uvarint()
		return err
	case thrift.DOUBLE:
		return c.skipBytes(8)
	case thrift.UUID:
		return c.skipBytes(16)
	case thrift.BINARY:
		n, err := c.uvarint()
		if err != nil {
			return err
		}
		return c.skipBytes(n)
	case thrift.LIST, thrift.SET:
		return c.list(depth)
	case thrift.STRUCT:
		return c.fields(depth+1, nil)
	default: // Parquet has no maps
		return errCompact
	}
}

// list skips a list. A struct in a list must have a field: all of Parquet's have one, and decoders
// allocate far more than one byte for each.
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
	if n > uint64(len(c.data)-c.pos) { // no value is shorter than a byte
		return errCompactEnd
	}
	if kind == thrift.STRUCT {
		if c.structs += n; c.structs > maxStructs {
			return errCompactMany
		}
	}
	for range n {
		from := c.pos
		if err := c.skip(kind, depth+1, true); err != nil {
			return err
		}
		if kind == thrift.STRUCT && c.pos-from < 2 {
			return errCompact
		}
	}
	return nil
}

// A pageHeader has the needed fields of a page header.
type pageHeader struct {
	kind                                   format.PageType
	size, uncompressed                     int // bytes of the body, before and after decompression
	crc                                    uint32
	hasCRC                                 bool                    // the header has a crc
	codec                                  format.CompressionCodec // of the chunk, or Uncompressed if the page is not compressed
	entries                                int                     // of a data page, or values of a dictionary page
	encoding                               format.Encoding
	repetition, definition                 int             // bytes of the levels, in pages of version 2
	repetitionEncoding, definitionEncoding format.Encoding // of the levels, in pages of version 1
	version2, notCompressed                bool
}

// parsePageHeader parses the header at the start of data, and returns its length.
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
				h.crc, h.hasCRC = uint32(v), true
			}
			return true, err
		case kind == thrift.STRUCT && (id == 5 || id == 7 || id == 8):
			return true, h.parseBody(&c, id)
		}
		return false, nil
	})
	return h, c.pos, err
}

// parseBody parses field id of the header, the struct for a data page, a dictionary page or a data
// page of version 2.
func (h *pageHeader) parseBody(c *compact, id int64) error {
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
