package arrow

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/pierrec/lz4/v4"

	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/internal/layout"
)

// magic begins and ends a file.
const magic = "ARROW1"

// Numbers of the Arrow project's FlatBuffers schemas: Schema.fbs, Message.fbs, File.fbs. The fields
// of their tables have numbers too, in the order of the comment where a table is made.
const (
	metadataVersion       = 4 // MetadataVersion.V5
	headerDictionaryBatch = 2 // MessageHeader.DictionaryBatch
	headerRecordBatch     = 3 // MessageHeader.RecordBatch
	codecLZ4              = 0 // CompressionType.LZ4_FRAME
	codecZstd             = 1 // CompressionType.ZSTD
)

// continuation begins each message, and the end of a stream, where a length of 0 follows.
const continuation = 0xffffffff

// prefixSize is the number of bytes before a message: the continuation and the message's length.
const prefixSize = 8

// A block is the position of a record batch or a dictionary in a file.
type block struct {
	offset   int64
	metadata int // bytes of the encapsulated metadata
	body     int64
}

// message returns the metadata of r after its prefix, padded to a multiple of 8 bytes: those of a
// record batch or, if id is not negative, of the dictionary with this id.
func (r *recordBatch) message(id int64) []byte {
	b := flatbuffers.NewBuilder(512)
	header, kind := r.addTable(b), byte(headerRecordBatch)
	if id >= 0 {
		b.StartObject(3) // id, data, isDelta
		b.PrependInt64Slot(0, id, 0)
		b.PrependUOffsetTSlot(1, header, 0)
		header, kind = b.EndObject(), headerDictionaryBatch
	}
	b.StartObject(5) // version, header_type, header, bodyLength, custom_metadata
	b.PrependInt16Slot(0, metadataVersion, 0)
	b.PrependByteSlot(1, kind, 0)
	b.PrependUOffsetTSlot(2, header, 0)
	b.PrependInt64Slot(3, r.size, 0)
	b.Finish(b.EndObject())
	metadata := b.FinishedBytes()
	size := align(len(metadata))
	message := binary.LittleEndian.AppendUint32(make([]byte, 0, prefixSize+size), continuation)
	message = append(binary.LittleEndian.AppendUint32(message, uint32(size)), metadata...)
	return message[:prefixSize+size] // the rest is zeros
}

// addTable adds r to b as a table RecordBatch. FlatBuffers are built back to front.
func (r *recordBatch) addTable(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	var compression flatbuffers.UOffsetT
	if r.codec != nil {
		b.StartObject(2) // codec, method
		b.PrependInt8Slot(0, r.codec.id, -1)
		compression = b.EndObject()
	}
	buffers, nodes := addPairs(b, r.buffers), addPairs(b, r.nodes)
	b.StartObject(5) // length, nodes, buffers, compression, variadicBufferCounts
	b.PrependInt64Slot(0, int64(r.rows), 0)
	b.PrependUOffsetTSlot(1, nodes, 0)
	b.PrependUOffsetTSlot(2, buffers, 0)
	b.PrependUOffsetTSlot(3, compression, 0)
	return b.EndObject()
}

// addPairs adds a vector of structs of two longs: FieldNode (length, null_count), Buffer.
func addPairs(b *flatbuffers.Builder, pairs []pair) flatbuffers.UOffsetT {
	b.StartVector(16, len(pairs), 8)
	for _, p := range slices.Backward(pairs) {
		b.PrependInt64(p.second)
		b.PrependInt64(p.first)
	}
	return b.EndVector(len(pairs))
}

// footer returns the end of a file: an index of dictionaries and batches, its length and magic.
//
// The footer repeats the schema, whose message has a length that is a multiple of 8. FlatBuffers
// are position-independent, so the whole message is copied into the footer, whose schema field
// points to the table inside it; alignment is preserved.
func footer(schema []byte, dictionaries, batches []block) []byte {
	b := flatbuffers.NewBuilder(len(schema) + 24*(len(dictionaries)+len(batches)) + 256)
	b.CreateByteVector(schema) // the last bytes of the buffer, from whose end offsets are counted
	message := flatbuffers.Table{Bytes: schema, Pos: flatbuffers.GetUOffsetT(schema)}
	header := message.Offset(4 + 2*2) // its field 2: the vtable begins with its own size and the table's
	schemaTable := flatbuffers.UOffsetT(len(schema)) - message.Indirect(message.Pos+flatbuffers.UOffsetT(header))

	blockVector := func(blocks []block) flatbuffers.UOffsetT { // structs Block
		b.StartVector(24, len(blocks), 8)
		for _, k := range slices.Backward(blocks) { // of offset: long; metaDataLength: int; bodyLength: long
			b.PrependInt64(k.body)
			b.Pad(4)
			b.PrependInt32(int32(k.metadata))
			b.PrependInt64(k.offset)
		}
		return b.EndVector(len(blocks))
	}
	dictionaryBlocks, batchBlocks := blockVector(dictionaries), blockVector(batches)
	b.StartObject(5) // version, schema, dictionaries, recordBatches, custom_metadata
	b.PrependInt16Slot(0, metadataVersion, 0)
	b.PrependUOffsetTSlot(1, schemaTable, 0)
	b.PrependUOffsetTSlot(2, dictionaryBlocks, 0)
	b.PrependUOffsetTSlot(3, batchBlocks, 0)
	b.Finish(b.EndObject())

	end := b.FinishedBytes()
	end = binary.LittleEndian.AppendUint32(end[:len(end):len(end)], uint32(len(end)))
	return append(end, magic...)
}

// A recordBatch collects the metadata and the body of a record batch message.
type recordBatch struct {
	rows    int
	codec   *codec    // nil if buffers are not compressed
	nodes   []pair    // lengths and nulls of the arrays, depth first
	buffers []pair    // offsets in the body and lengths, without padding
	body    [][]byte  // the buffers and their padding
	size    int64     // bytes of body
	frames  []*[]byte // memory of the compressed buffers
}

type pair struct{ first, second int64 }

// add adds an array, whose buffers are compressed unless they are empty.
func (r *recordBatch) add(a layout.Array) error {
	for _, n := range a.Nodes {
		r.nodes = append(r.nodes, pair{int64(n.Length), int64(n.Nulls)})
	}
	for _, data := range a.Buffers {
		if r.codec != nil && len(data) > 0 {
			// Incompressible data grows by a few bytes per block of 64 KiB or more. Without this
			// capacity, appending would reallocate in many small steps.
			frame, err := compressed.Take(&r.codec.frames, len(data)+len(data)/64+64), error(nil)
			*frame, err = r.codec.encode(binary.LittleEndian.AppendUint64(*frame, uint64(len(data))), data)
			if err != nil {
				return err
			}
			r.frames = append(r.frames, frame)
			data = *frame
		}
		r.buffers = append(r.buffers, pair{r.size, int64(len(data))})
		padding := make([]byte, align(len(data))-len(data))
		r.body = append(r.body, data, padding)
		r.size += int64(len(data) + len(padding))
	}
	return nil
}

// align rounds n up to a multiple of 8.
func align(n int) int { return (n + 7) &^ 7 }

// codecs returns the table of codecs, the default first.
func codecs() []compressed.Choice[*codec] {
	return []compressed.Choice[*codec]{
		{Name: "none", Make: func(int) *codec { return nil }},
		{Name: "lz4", MaxLevel: 9, Make: newLZ4},
		{Name: "zstd", MaxLevel: 22, Make: func(level int) *codec {
			frames := &compressed.ZstdEncoder{Level: level, Literals: true}
			encode := func(dst, src []byte) ([]byte, error) { return frames.Append(dst, src), nil }
			return &codec{id: codecZstd, encode: encode}
		}},
	}
}

// Codecs lists the compressions of buffers, the default first.
func Codecs() []string { return compressed.Names(codecs()) }

// A codec compresses buffers. It is safe for concurrent use.
type codec struct {
	id     int8
	encode func(dst, data []byte) ([]byte, error) // appends data as one frame to dst
	frames sync.Pool                              // of *[]byte: lengths before compression and frames
}

// newLZ4 returns a codec of frames without checksums and with small blocks, as in Arrow C++.
func newLZ4(level int) *codec {
	options := []lz4.Option{lz4.ChecksumOption(false), lz4.BlockSizeOption(lz4.Block64Kb)}
	if level > 0 {
		options = append(options, lz4.CompressionLevelOption(lz4.CompressionLevel(1<<(8+level))))
	}
	writers := &sync.Pool{New: func() any {
		w := lz4.NewWriter(nil)
		_ = w.Apply(options...) // fails for wrong options only
		return w
	}}
	return &codec{id: codecLZ4, encode: func(dst, data []byte) ([]byte, error) {
		writer := writers.Get().(*lz4.Writer)
		defer writers.Put(writer)
		out := bytes.NewBuffer(dst)
		writer.Reset(out)
		if _, err := writer.Write(data); err != nil {
			return dst, err
		}
		err := writer.Close()
		return out.Bytes(), err
	}}
}
