package arrow

import (
	"errors"
	"iter"
	"runtime"

	flatbuffers "github.com/google/flatbuffers/go"
)

// A flatTable is a table of a FlatBuffers buffer that is not trusted. Package flatbuffers panics
// with a runtime.Error if an offset leads outside the buffer: see refuseOutside. The default of
// every field that is read here is 0.
type flatTable struct {
	flatbuffers.Table
	left *int // bytes of strings and of vectors of tables that may still be read
}

// flatRoot returns the table that the buffer describes. Writers may share parts of a buffer, but a
// small buffer must not become a large schema.
func flatRoot(buffer []byte) flatTable {
	const shared = 1 << 20
	left := 4*len(buffer) + shared
	return flatTable{flatbuffers.Table{Bytes: buffer, Pos: flatbuffers.GetUOffsetT(buffer)}, &left}
}

var errOutside = errors.New("a vector outside of its buffer, or too many shared parts")

// refuseOutside, deferred, reports offsets outside the metadata as damage of the message at offset.
func refuseOutside(offset int64) {
	p := recover()
	if _, outside := p.(runtime.Error); outside || p == errOutside {
		p = damaged(offset, "the metadata points outside of itself, or to the same part of it too often")
	}
	if p != nil {
		panic(p)
	}
}

func (t flatTable) byte(i int) byte   { return t.GetByteSlot(slot(i), 0) }
func (t flatTable) short(i int) int   { return int(t.GetInt16Slot(slot(i), 0)) }
func (t flatTable) integer(i int) int { return int(t.GetInt32Slot(slot(i), 0)) }
func (t flatTable) long(i int) int64  { return t.GetInt64Slot(slot(i), 0) }

// slot returns the position of field i in a table's vtable.
func slot(i int) flatbuffers.VOffsetT { return flatbuffers.VOffsetT(4 + 2*i) }

// table returns the table in field i, if there is one.
func (t flatTable) table(i int) (flatTable, bool) {
	offset := flatbuffers.UOffsetT(t.Offset(slot(i)))
	if offset == 0 {
		return flatTable{}, false
	}
	t.Pos = t.Indirect(t.Pos + offset)
	return t, true
}

// vector returns the position and the number of the elements, of size bytes, of the vector in field
// i.
func (t flatTable) vector(i, size int) (pos flatbuffers.UOffsetT, n int) {
	offset := flatbuffers.UOffsetT(t.Offset(slot(i)))
	if offset == 0 {
		return 0, 0
	}
	pos, n = t.Vector(offset), t.VectorLen(offset)
	// A length of 2³¹ or more is negative where an int has 32 bits.
	if n < 0 || n > len(t.Bytes[pos:])/size {
		panic(errOutside)
	}
	return pos, n
}

// spend counts n bytes that are read, and panics if more than the allowed bytes were read.
func (t flatTable) spend(n int) {
	if *t.left -= n; *t.left < 0 {
		panic(errOutside)
	}
}

// tables yields the tables of the vector in field i.
func (t flatTable) tables(i int) iter.Seq[flatTable] {
	return func(yield func(flatTable) bool) {
		pos, n := t.vector(i, flatbuffers.SizeUOffsetT)
		for k := range n {
			t.spend(flatbuffers.SizeUOffsetT)
			t.Pos = t.Indirect(pos + flatbuffers.UOffsetT(k*flatbuffers.SizeUOffsetT))
			if !yield(t) {
				return
			}
		}
	}
}

// text returns the string in field i, or "".
func (t flatTable) text(i int) string {
	pos, n := t.vector(i, 1)
	t.spend(n)
	return string(t.Bytes[pos:][:n])
}
