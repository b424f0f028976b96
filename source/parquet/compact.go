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

// A compact walks data in Thrift's compact protocol. It allocates nothing, and checks that no
// length exceeds the remaining bytes: after that a decoder may trust the lengths.
type compact struct {
	data  []byte
	pos   int
	lists int    // depth of lists
	inner uint64 // structs in lists within lists so far
	seen  uint64 // a bit for each field of the outermost struct, by its number if that is below 64
}

func (c *compact) take(n uint64) ([]byte, error) {
	if n > uint64(len(c.data)-c.pos) {
		return nil, errShort
	}
	c.pos += int(n)
	return c.data[c.pos-int(n) : c.pos], nil
}

func (c *compact) uvarint() (uint64, error) {
	v, n := binary.Uvarint(c.data[c.pos:])
	switch {
	case n == 0:
		return 0, errShort
	case n < 0:
		return 0, errNoCompact
	}
	c.pos += n
	return v, nil
}

// fields walks a struct.
func (c *compact) fields(depth int) error {
	if depth > maxCompactDepth {
		return errNoCompact
	}
	for id := uint64(0); ; {
		head, err := c.take(1)
		if err != nil || head[0] == byte(thrift.STOP) {
			return err
		}
		if delta := head[0] >> 4; delta > 0 {
			id += uint64(delta)
		} else if id, err = c.uvarint(); err != nil {
			return err
		} else {
			id >>= 1 // zigzag
		}
		if depth == 0 && id < 64 {
			c.seen |= 1 << id
		}
		if err := c.skip(thrift.Type(head[0]&0xf), depth+1, false); err != nil {
			return err
		}
	}
}

// has reports whether the outermost struct has a field.
func (c *compact) has(id int) bool { return c.seen>>id&1 == 1 }

// skip walks a value. In lists booleans have a byte of their own.
func (c *compact) skip(kind thrift.Type, depth int, inList bool) error {
	if depth > maxCompactDepth {
		return errNoCompact
	}
	n, err := uint64(0), error(nil)
	switch kind {
	case thrift.TRUE, thrift.FALSE:
		if inList {
			n = 1
		}
	case thrift.I8:
		n = 1
	case thrift.I16, thrift.I32, thrift.I64:
		_, err = c.uvarint()
	case thrift.DOUBLE:
		n = 8
	case thrift.UUID:
		n = 16
	case thrift.BINARY:
		n, err = c.uvarint()
	case thrift.LIST, thrift.SET:
		return c.list(depth)
	case thrift.STRUCT:
		return c.fields(depth + 1)
	default: // Parquet has no maps
		return errNoCompact
	}
	if err == nil {
		_, err = c.take(n)
	}
	return err
}

// list walks a list. A struct in a list must have a field: all of Parquet's have one.
func (c *compact) list(depth int) error {
	head, err := c.take(1)
	if err != nil {
		return err
	}
	n, kind := uint64(head[0]>>4), thrift.Type(head[0]&0xf)
	if n == 15 {
		if n, err = c.uvarint(); err != nil {
			return err
		}
	}
	if n > uint64(len(c.data)-c.pos) { // no value is shorter than a byte
		return errShort
	}
	if kind == thrift.STRUCT && c.lists == 0 && n > maxOuter {
		return errMany
	}
	if kind == thrift.STRUCT && c.lists == 1 {
		if c.inner += n; c.inner > maxInner || c.inner > 1<<12 && c.inner > uint64(len(c.data)/minInner) {
			return errMany
		}
	}
	c.lists++
	for range n {
		from := c.pos
		if err := c.skip(kind, depth+1, true); err != nil {
			return err
		}
		if kind == thrift.STRUCT && c.pos-from < 2 {
			return errNoCompact
		}
	}
	c.lists--
	return nil
}

// unmarshal decodes the struct at the start of data, and returns its walk.
func unmarshal(data []byte, v any) (compact, error) {
	c := compact{data: data}
	if err := c.fields(0); err != nil {
		return c, err
	}
	return c, thrift.Unmarshal(new(thrift.CompactProtocol), data[:c.pos], v)
}
