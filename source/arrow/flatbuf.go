package arrow

import "encoding/binary"

// A flatBuffer is a FlatBuffers buffer that is read without trust: what points outside of it, or to the same part too often, reads as zero and sets bad.
//
// The layout (https://flatbuffers.dev/internals/): a table starts with the distance back to its vtable, 4 bytes; the vtable has its own size and the
// table's, 2 bytes each, and for every field its place in the table, 2 bytes, 0 where the field has its default. What is not a number is an
// offset, 4 bytes, from where it stands on; a vector starts with its length, 4 bytes.
type flatBuffer struct {
	bytes []byte
	bad   bool
	read  int // bytes of texts and vectors of tables that were read, some perhaps again and again
}

// spend counts n bytes of a text or of a vector of tables. Writers may share parts, and those that name or describe many columns alike do: but what is read
// in all stays near the size of the buffer, or it was made to be larger than any memory.
func (f *flatBuffer) spend(n int) bool {
	const shared = 1 << 20
	if f.read += n; f.read > 4*len(f.bytes)+shared {
		f.bad = true
	}
	return !f.bad
}

// at is the n bytes from pos on, or zeros.
func (f *flatBuffer) at(pos, n int) []byte {
	if pos < 0 || n > len(f.bytes) || pos > len(f.bytes)-n {
		f.bad = true
		return make([]byte, n) // n is the size of a number
	}
	return f.bytes[pos : pos+n]
}

func (f *flatBuffer) uint16(pos int) int   { return int(binary.LittleEndian.Uint16(f.at(pos, 2))) }
func (f *flatBuffer) uint32(pos int) int   { return int(binary.LittleEndian.Uint32(f.at(pos, 4))) }
func (f *flatBuffer) int32(pos int) int    { return int(int32(binary.LittleEndian.Uint32(f.at(pos, 4)))) }
func (f *flatBuffer) int64(pos int) int64  { return int64(binary.LittleEndian.Uint64(f.at(pos, 8))) }
func (f *flatBuffer) indirect(pos int) int { return pos + f.uint32(pos) }

// root is the table that the buffer is about.
func (f *flatBuffer) root() flatTable { return flatTable{f, f.indirect(0)} }

// A flatTable is a table at pos of its buffer.
type flatTable struct {
	*flatBuffer
	pos int
}

// field is the position of field i, or 0 where it has its default.
func (t flatTable) field(i int) int {
	vtable := t.pos - t.int32(t.pos)
	place := 4 + 2*i
	if place+2 > t.uint16(vtable) {
		return 0
	}
	offset := t.uint16(vtable + place)
	if offset == 0 {
		return 0
	}
	return t.pos + offset
}

// byte, short, integer, and long are field i, or 0, the default of all fields that are read here.
func (t flatTable) byte(i int) byte {
	if at := t.field(i); at != 0 {
		return t.at(at, 1)[0]
	}
	return 0
}

func (t flatTable) short(i int) int {
	if at := t.field(i); at != 0 {
		return int(int16(t.uint16(at)))
	}
	return 0
}

func (t flatTable) integer(i int) int {
	if at := t.field(i); at != 0 {
		return t.int32(at)
	}
	return 0
}

func (t flatTable) long(i int) int64 {
	if at := t.field(i); at != 0 {
		return t.int64(at)
	}
	return 0
}

// table is the table that is field i, if it is there.
func (t flatTable) table(i int) (flatTable, bool) {
	at := t.field(i)
	if at == 0 {
		return flatTable{}, false
	}
	return flatTable{t.flatBuffer, t.indirect(at)}, true
}

// vector is where the elements of field i stand, and how many of size bytes there are. All are inside of the buffer.
func (t flatTable) vector(i, size int) (pos, n int) {
	at := t.field(i)
	if at == 0 {
		return 0, 0
	}
	pos = t.indirect(at)
	n = t.uint32(pos)
	pos += 4
	if n < 0 || n > (len(t.bytes)-min(pos, len(t.bytes)))/size {
		t.bad = true
		return 0, 0
	}
	return pos, n
}

// tables calls yield with each table of the vector that is field i.
func (t flatTable) tables(i int, yield func(flatTable)) {
	pos, n := t.vector(i, 4)
	for k := range n {
		if t.bad || !t.spend(4) {
			return
		}
		yield(flatTable{t.flatBuffer, t.indirect(pos + 4*k)})
	}
}

// text is field i, a string, or empty.
func (t flatTable) text(i int) string {
	pos, n := t.vector(i, 1)
	if n == 0 || !t.spend(n) {
		return ""
	}
	return string(t.bytes[pos : pos+n])
}
