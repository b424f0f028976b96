package arrow

import (
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source/columnar"
)

// arrow-go allocates what the counts in a message say, before it finds that the message is too
// short. The functions of this file walk a message first: every vector must be inside the buffer,
// small parts may not be shared by a large tree, and a column of views must have its buffers.

const ( // far above those of real files
	maxDepth = 64      // of fields
	maxRows  = 1 << 48 // with more, products could overflow
)

// A summary is what the walk over a message found.
type summary struct {
	kind           ipc.MessageType
	body           int64         // bytes
	views          map[int64]int // of a schema: see walk.schema
	id             int64         // of a dictionary; −1 for other messages
	rows           int64         // of a record batch, or values of a dictionary
	nodes, buffers []span        // lengths and nulls of arrays, offsets and sizes of buffers
	codec          int           // 0: none
}

// A walk is an untrusted table of FlatBuffers, whose package panics if an offset leads outside.
type walk struct {
	flatbuffers.Table
	left *int // bytes of texts, vectors and fields that may still be visited
}

// root returns the table in buffer, a small one of which shared parts must not make a large schema.
func root(buffer []byte) walk {
	left := 4*len(buffer) + 1<<20
	return walk{flatbuffers.Table{Bytes: buffer, Pos: flatbuffers.GetUOffsetT(buffer)}, &left}
}

// slot returns the position of field i in a table's vtable.
func slot(i int) flatbuffers.VOffsetT { return flatbuffers.VOffsetT(4 + 2*i) }

// table returns the table in field i, if there is one.
func (t walk) table(i int) (walk, bool) {
	offset := flatbuffers.UOffsetT(t.Offset(slot(i)))
	if offset == 0 {
		return t, false
	}
	t.Pos = t.Indirect(t.Pos + offset)
	return t, true
}

// vector returns the position and the number of the elements, of size bytes, in field i.
func (t walk) vector(i, size int) (pos flatbuffers.UOffsetT, n int) {
	offset := flatbuffers.UOffsetT(t.Offset(slot(i)))
	if offset == 0 {
		return 0, 0
	}
	pos, n = t.Vector(offset), t.VectorLen(offset)
	// A length of 2³¹ or more is negative where an int has 32 bits.
	if n < 0 || n > min(len(t.Bytes[pos:]), *t.left)/size {
		panic(columnar.Damaged("the metadata points outside of itself, or to the same part of it too often"))
	}
	*t.left -= n * size
	return pos, n
}

// each calls f with each table of the vector in field i.
func (t walk) each(i int, f func(walk)) {
	pos, n := t.vector(i, flatbuffers.SizeUOffsetT)
	for k := range n {
		t.Pos = t.Indirect(pos + flatbuffers.UOffsetT(flatbuffers.SizeUOffsetT*k))
		f(t)
	}
}

// pairs walks the pairs of custom metadata in field i.
func (t walk) pairs(i int) { t.each(i, func(pair walk) { pair.vector(0, 1); pair.vector(1, 1) }) }

// schema walks a Schema of Schema.fbs. It counts the columns of views, whose values are in any
// number of buffers: those of each dictionary, by its id, and those of record batches, by −1.
func (t walk) schema() (views map[int64]int) {
	if t.GetInt16Slot(slot(0), 0) != 0 {
		panic(columnar.Unsupported("write it on another machine", "found big-endian data, expected little-endian"))
	}
	views = map[int64]int{}
	t.each(1, func(f walk) { f.field(-1, 1, views) })
	t.pairs(2)
	return views
}

// field walks a Field of Schema.fbs: values of the dictionary with the id owner, −1: of batches.
func (t walk) field(owner int64, depth int, views map[int64]int) {
	const integer, interval, binaryView, utf8View, size = 2, 11, 23, 24, 64 // size: about that of a field
	if *t.left -= size; *t.left < 0 || depth > maxDepth {
		panic(columnar.Damaged("the schema has too many fields for its size, or more than %d levels", maxDepth))
	}
	if encoding, ok := t.table(4); ok {
		owner = encoding.GetInt64Slot(slot(0), 0)
	}
	kind := t.GetByteSlot(slot(2), 0)
	if kind == binaryView || kind == utf8View {
		views[owner]++
	}
	if of, ok := t.table(3); ok && kind == integer && of.GetInt32Slot(slot(0), 0) == 128 { // which arrow-go lacks
		t.MutateByteSlot(slot(2), interval)
		of.MutateInt32Slot(slot(0), 2) // MONTH_DAY_NANO: also 128 bits
	}
	t.vector(0, 1)
	t.pairs(6)
	t.each(5, func(child walk) { child.field(owner, depth+1, views) })
}

// summarize walks the metadata of a message. The columns of views are those of the schema.
func summarize(metadata []byte, views map[int64]int) (s summary, err error) {
	defer fault.Recovered(&err)
	t := root(metadata)
	t.GetInt16Slot(slot(0), 0) // the version of the format, which arrow-go looks at
	s.kind, s.body = ipc.MessageType(t.GetByteSlot(slot(1), 0)), t.GetInt64Slot(slot(3), 0)
	t.pairs(4)
	header, ok := t.table(2)
	s.id = -1
	if ok && s.kind == ipc.MessageSchema && s.body == 0 {
		s.views = header.schema()
		return s, nil
	}
	if ok && s.kind == ipc.MessageDictionaryBatch {
		if header.GetByteSlot(slot(2), 0) != 0 {
			return s, columnar.Unsupported("write its values without a dictionary: in pandas, convert it with "+
				"astype; in pyarrow, use dictionary_decode()", "found a delta dictionary, expected a whole one")
		}
		s.id = header.GetInt64Slot(slot(0), 0)
		header, ok = header.table(1)
	}
	if !ok || s.body < 0 || s.kind != ipc.MessageDictionaryBatch && s.kind != ipc.MessageRecordBatch {
		return s, columnar.Damaged("found a message of kind %d, expected a schema, dictionary or record batch", s.kind)
	}
	return s, header.batch(&s, views[s.id])
}

// batch checks a RecordBatch of Message.fbs with a number of columns of views, and adds it to s.
func (t walk) batch(s *summary, views int) error {
	s.rows = t.GetInt64Slot(slot(0), 0)
	if compression, ok := t.table(3); ok {
		s.codec = codecLZ4 + int(compression.GetByteSlot(slot(0), 0))
	}
	s.nodes, s.buffers = t.spans(1), t.spans(2)
	pos, counts := t.vector(4, 8) // for each column of views, the number of buffers with its values
	bad := s.rows < 0 || s.rows > maxRows || counts < views
	for _, a := range s.nodes {
		bad = bad || a.first < 0 || a.second < 0 || a.second > a.first || a.first > maxRows
	}
	for _, b := range s.buffers {
		bad = bad || b.first < 0 || b.second < 0 || b.first > s.body-b.second
	}
	for i := range counts {
		n := t.GetInt64(pos + flatbuffers.UOffsetT(8*i))
		bad = bad || n < 0 || n > int64(len(s.buffers))
	}
	if bad {
		return columnar.Damaged("found a message of %d rows with impossible lengths of arrays or buffers", s.rows)
	}
	return nil
}

type span struct{ first, second int64 } // a struct of two longs: a FieldNode or a Buffer

func (t walk) spans(i int) []span {
	pos, n := t.vector(i, 16)
	all := make([]span, n)
	for k := range all {
		at := pos + flatbuffers.UOffsetT(16*k)
		all[k] = span{t.GetInt64(at), t.GetInt64(at + 8)}
	}
	return all
}

// blocks walks a footer. It returns the offsets of the dictionaries and record batches in the file.
func blocks(footer []byte) (places []int64, err error) {
	defer fault.Recovered(&err)
	t := root(footer)
	for field := 2; field <= 3; field++ {
		pos, n := t.vector(field, 24) // struct Block {offset: long; metaDataLength: int; bodyLength: long}
		for k := range n {
			places = append(places, t.GetInt64(pos+flatbuffers.UOffsetT(24*k)))
		}
	}
	return places, nil
}

// maxPlain returns the number of bytes that a record batch may have after decompression: a file of
// some kilobytes must not need a gigabyte. Polars and pandas write a table of 60,000 rows as one
// batch, and its 785 columns may be int64. Such numbers compress to a thirtieth of their size.
func (s *summary) maxPlain() int64 { return min(maxBody, max(64<<20, 64*s.body)) }

// errPlain returns the error for a record batch that has more.
func (s *summary) errPlain() *fault.Error {
	return columnar.Unsupported(hintSmaller, "the record batch has over %d bytes after decompression", s.maxPlain())
}

// A budget limits what is decompressed, as arrow-go may read more buffers than a message has.
type budget struct {
	memory.Allocator
	left int64
	err  error
}

// Allocate panics if size bytes are too many.
func (b *budget) Allocate(size int) []byte {
	if b.left -= int64(size); size < 0 || b.left < 0 {
		panic(b.err)
	}
	return b.Allocator.Allocate(size)
}
