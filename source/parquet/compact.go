package parquet

import (
	"encoding/binary"
	"errors"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// errShort means that data ends inside a value: the caller may have to read more of it. The other
// errors mean damage.
var (
	errShort     = errors.New("the metadata ends within a value")
	errNoCompact = errors.New("the metadata is not in Thrift's format")
	errMany      = errors.New("the metadata has more parts than a file of its size can have")
)

// Limits of metadata. A decoder allocates up to 560 bytes for a struct that takes as little as 3
// bytes.
const (
	maxCompactDepth = 32      // Parquet's metadata has a depth of about 8
	maxOuter        = 1 << 17 // structs in a list outside of other lists: schema elements, row groups
	maxInner        = 1 << 21 // structs in lists within those: 4,096 columns in 512 row groups
	minInner        = 16      // average bytes of these, in more than a few; a column of a row group has at least 24
)

// A cursor reads data from a position on. After an error, nothing is read any more.
type cursor struct {
	data []byte
	pos  int
	err  error // the first one
}

// take returns the next n bytes, or nil if there are fewer.
func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.data)-c.pos) {
		c.fail(errShort)
	}
	if c.err != nil {
		return nil
	}
	c.pos += int(n)
	return c.data[c.pos-int(n) : c.pos]
}

// byte returns the next byte, or 0 if there is none.
func (c *cursor) byte() byte {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

// uvarint returns the next number, of 7 bits in each byte, or 0 if there is none.
func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.data[c.pos:])
	switch {
	case n == 0:
		c.fail(errShort)
	case n < 0:
		c.fail(errNoCompact)
	}
	if c.err != nil {
		return 0
	}
	c.pos += n
	return v
}

func (c *cursor) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// A compact walks data in Thrift's compact protocol. It allocates nothing, and checks that no
// length exceeds the remaining bytes: after that a decoder may trust the lengths.
type compact struct {
	cursor
	lists int    // depth of lists
	inner uint64 // structs in lists within lists so far
}

// fields walks a struct.
func (c *compact) fields(depth int) {
	for c.err == nil {
		head := c.byte()
		if head == byte(thrift.STOP) {
			return
		}
		if head>>4 == 0 { // the number of the field follows
			c.uvarint()
		}
		c.skip(thrift.Type(head&0xf), depth+1, false)
	}
}

// skip walks a value. In lists booleans have a byte of their own.
func (c *compact) skip(kind thrift.Type, depth int, inList bool) {
	if depth > maxCompactDepth {
		c.fail(errNoCompact)
		return
	}
	switch kind {
	case thrift.TRUE, thrift.FALSE:
		if inList {
			c.take(1)
		}
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
		c.fields(depth + 1)
	default: // Parquet has no maps
		c.fail(errNoCompact)
	}
}

// list walks a list. A struct in a list must have a field: all of Parquet's have one.
func (c *compact) list(depth int) {
	head := c.byte()
	n, kind := uint64(head>>4), thrift.Type(head&0xf)
	if n == 15 {
		n = c.uvarint()
	}
	if n > uint64(len(c.data)-c.pos) { // no value is shorter than a byte
		c.fail(errShort)
	}
	if kind == thrift.STRUCT && c.lists == 0 && n > maxOuter {
		c.fail(errMany)
	}
	if kind == thrift.STRUCT && c.lists == 1 {
		if c.inner += n; c.inner > maxInner || c.inner > 1<<12 && c.inner > uint64(len(c.data)/minInner) {
			c.fail(errMany)
		}
	}
	c.lists++
	for ; n > 0 && c.err == nil; n-- {
		from := c.pos
		c.skip(kind, depth+1, true)
		if kind == thrift.STRUCT && c.pos-from < 2 {
			c.fail(errNoCompact)
		}
	}
	c.lists--
}

// unmarshal decodes the struct at the start of data, and returns its size.
func unmarshal(data []byte, v any) (size int, err error) {
	c := compact{cursor: cursor{data: data}}
	if c.fields(0); c.err != nil {
		return 0, c.err
	}
	return c.pos, thrift.Unmarshal(new(thrift.CompactProtocol), data[:c.pos], v)
}
