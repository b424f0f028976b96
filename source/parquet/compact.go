package parquet

import (
	"cmp"
	"encoding/binary"
	"errors"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// errShort means that data ends inside a value: there may be more of it. Other errors mean damage.
var errShort = errors.New("the metadata ends within a value")
var errNoCompact = errors.New("the metadata is not in Thrift's format")
var errMany = errors.New("the metadata has more parts than a file of its size can have")

// Limits of metadata. A decoder allocates up to 560 bytes for a struct, which may take only 3.
const (
	maxCompactDepth = 32      // Parquet's metadata has a depth of about 8
	maxOuter        = 1 << 16 // structs in lists outside of other lists: schema elements, row groups
	fewStructs      = 1 << 12 // more, in outer or in inner lists, have minStruct bytes on average
	minStruct       = 16      // a column of a row group has at least 24
)

// A cursor reads data from its start on. After an error there is no data any more.
type cursor struct {
	data []byte
	err  error // the first one
}

func (c *cursor) fail(err error) { c.data, c.err = nil, cmp.Or(c.err, err) }

// take returns the next n bytes, or nil if there are fewer.
func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.data)) {
		c.fail(errShort)
		return nil
	}
	taken := c.data[:n]
	c.data = c.data[n:]
	return taken
}

// uvarint returns the next number, of 7 bits in each byte, or 0 if there is none.
func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.data)
	if n < 0 {
		c.fail(errNoCompact)
	}
	if c.take(uint64(max(1, n))); c.err != nil {
		return 0
	}
	return v
}

// A compact walks data in Thrift's compact protocol. It allocates nothing, and checks that no
// length exceeds the remaining bytes: after that a decoder may trust the lengths.
type compact struct {
	cursor
	size    int       // of all the data
	lists   int       // depth of lists
	structs [2]uint64 // in lists outside of other lists, and in lists within those
}

func (c *compact) skip(kind thrift.Type, depth int) {
	if depth > maxCompactDepth {
		c.fail(errNoCompact)
		return
	}
	switch kind {
	case thrift.TRUE, thrift.FALSE: // the type is the value
	case thrift.I8:
		c.take(1)
	case thrift.I16, thrift.I32, thrift.I64:
		c.uvarint()
	case thrift.DOUBLE:
		c.take(8)
	case thrift.UUID:
		c.take(16)
	case thrift.BINARY:
		c.take(c.uvarint())
	case thrift.LIST, thrift.SET:
		c.list(depth)
	case thrift.STRUCT:
		for head := word(c.take(1)); head != uint64(thrift.STOP); head = word(c.take(1)) {
			if head>>4 == 0 { // the number of the field follows
				c.uvarint()
			}
			c.skip(thrift.Type(head&0xf), depth+1)
		}
	default: // Parquet has no maps
		c.fail(errNoCompact)
	}
}

// list walks a list. A struct in a list must have a field: all of Parquet's have one.
func (c *compact) list(depth int) {
	head := word(c.take(1))
	n, kind := head>>4, thrift.Type(head&0xf)
	if n == 15 {
		n = c.uvarint()
	}
	if n > uint64(len(c.data)) { // no value is shorter than a byte
		c.fail(errShort)
	}
	if kind == thrift.STRUCT && c.lists < len(c.structs) {
		c.structs[c.lists] += n
		if most := uint64(max(fewStructs, c.size/minStruct)); c.structs[c.lists] > most || c.structs[0] > maxOuter {
			c.fail(errMany)
		}
	}
	if kind == thrift.TRUE || kind == thrift.FALSE { // a byte in lists
		kind = thrift.I8
	}
	c.lists++
	for ; n > 0 && c.err == nil; n-- {
		before := len(c.data)
		if c.skip(kind, depth+1); kind == thrift.STRUCT && before-len(c.data) < 2 {
			c.fail(errNoCompact)
		}
	}
	c.lists--
}

// unmarshal decodes the struct at the start of data, and returns its size.
func unmarshal(data []byte, v any) (size int, err error) {
	c := compact{cursor: cursor{data: data}, size: len(data)}
	if c.skip(thrift.STRUCT, 0); c.err != nil {
		return 0, c.err
	}
	size = len(data) - len(c.data)
	return size, thrift.Unmarshal(new(thrift.CompactProtocol), data[:size], v)
}
