package arrow

import (
	"encoding/binary"

	flatbuffers "github.com/google/flatbuffers/go"
)

// magic is at both ends of a file.
const magic = "ARROW1"

// Numbers of the Arrow project's FlatBuffers schemas: Schema.fbs, Message.fbs, File.fbs.
const (
	metadataVersion       = 4 // MetadataVersion.V5
	headerDictionaryBatch = 2 // MessageHeader.DictionaryBatch
	headerRecordBatch     = 3 // MessageHeader.RecordBatch

	// Fields of tables, by their index.
	messageVersion    = 0
	messageHeaderType = 1
	messageHeader     = 2
	messageBodyLength = 3
	messageFields     = 5

	batchLength      = 0
	batchNodes       = 1
	batchBuffers     = 2
	batchCompression = 3
	batchFields      = 5

	dictionaryID     = 0
	dictionaryData   = 1
	dictionaryFields = 3

	compressionCodec  = 0
	compressionFields = 2

	footerVersion       = 0
	footerSchema        = 1
	footerDictionaries  = 2
	footerRecordBatches = 3
	footerFields        = 5
)

// continuation stands before each message, and before a length of 0 at the end of a stream.
const continuation = 0xffffffff

// prefixSize is the number of bytes before a message: the continuation and the message's length.
const prefixSize = 8

// A block is where a record batch or a dictionary is in a file.
type block struct {
	offset   int64
	metadata int // bytes of the encapsulated metadata
	body     int64
}

// encapsulate is message with what stands before it, filled up to a multiple of 8 bytes.
func encapsulate(message []byte) []byte {
	size := align(len(message))
	head := binary.LittleEndian.AppendUint32(make([]byte, 0, prefixSize+size), continuation)
	head = binary.LittleEndian.AppendUint32(head, uint32(size))
	head = append(head, message...)
	return append(head, make([]byte, size-len(message))...)
}

func endOfStream() []byte { return binary.LittleEndian.AppendUint64(nil, continuation) }

// message is the metadata of r.
func (r *recordBatch) message() []byte {
	b := flatbuffers.NewBuilder(512)
	return r.finish(b, headerRecordBatch, r.table(b))
}

// dictionaryMessage is the metadata of r, whose only column is the dictionary of the number id, whole.
func (r *recordBatch) dictionaryMessage(id int64) []byte {
	b := flatbuffers.NewBuilder(256)
	data := r.table(b)
	b.StartObject(dictionaryFields)
	b.PrependInt64Slot(dictionaryID, id, 0)
	b.PrependUOffsetTSlot(dictionaryData, data, 0)
	return r.finish(b, headerDictionaryBatch, b.EndObject())
}

// finish is the message with the table header of the kind.
func (r *recordBatch) finish(b *flatbuffers.Builder, kind byte, header flatbuffers.UOffsetT) []byte {
	b.StartObject(messageFields)
	b.PrependInt16Slot(messageVersion, metadataVersion, 0)
	b.PrependByteSlot(messageHeaderType, kind, 0)
	b.PrependUOffsetTSlot(messageHeader, header, 0)
	b.PrependInt64Slot(messageBodyLength, r.size, 0)
	b.Finish(b.EndObject())
	return b.FinishedBytes()
}

// table adds r's RecordBatch to b. FlatBuffers are built back to front.
func (r *recordBatch) table(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	var compression flatbuffers.UOffsetT
	if r.codec != nil {
		b.StartObject(compressionFields)
		b.PrependInt8Slot(compressionCodec, r.codec.id, -1)
		compression = b.EndObject()
	}
	b.StartVector(16, len(r.buffers), 8)
	for i := len(r.buffers) - 1; i >= 0; i-- { // struct Buffer {offset: long; length: long}
		b.PrependInt64(r.buffers[i].length)
		b.PrependInt64(r.buffers[i].offset)
	}
	buffers := b.EndVector(len(r.buffers))
	b.StartVector(16, len(r.nodes), 8)
	for i := len(r.nodes) - 1; i >= 0; i-- { // struct FieldNode {length: long; null_count: long}
		b.PrependInt64(int64(r.nodes[i].nulls))
		b.PrependInt64(int64(r.nodes[i].length))
	}
	nodes := b.EndVector(len(r.nodes))

	b.StartObject(batchFields)
	b.PrependInt64Slot(batchLength, int64(r.rows), 0)
	b.PrependUOffsetTSlot(batchNodes, nodes, 0)
	b.PrependUOffsetTSlot(batchBuffers, buffers, 0)
	b.PrependUOffsetTSlot(batchCompression, compression, 0)
	return b.EndObject()
}

// footer is what a file ends with: an index of its dictionaries and record batches, its length, and the magic number. schema is the schema's message.
//
// The footer repeats the schema. FlatBuffers are position-independent, so the message is put in as it is, and the footer's field points to the
// table inside it.
func footer(schema []byte, dictionaries, batches []block) []byte {
	b := flatbuffers.NewBuilder(len(schema) + 24*(len(dictionaries)+len(batches)) + 256)
	message := encapsulate(schema)[prefixSize:] // filled up to 8 bytes, so that what is aligned in it stays so
	b.CreateByteVector(message)                 // the last bytes of the buffer: places are counted from its end
	schemaTable := flatbuffers.UOffsetT(len(message)) - headerTable(schema)

	blockVector := func(blocks []block) flatbuffers.UOffsetT {
		b.StartVector(24, len(blocks), 8)
		for i := len(blocks) - 1; i >= 0; i-- { // struct Block {offset: long; metaDataLength: int; bodyLength: long}
			b.PrependInt64(blocks[i].body)
			b.Pad(4)
			b.PrependInt32(int32(blocks[i].metadata))
			b.PrependInt64(blocks[i].offset)
		}
		return b.EndVector(len(blocks))
	}
	dictionaryBlocks, batchBlocks := blockVector(dictionaries), blockVector(batches)
	b.StartObject(footerFields)
	b.PrependInt16Slot(footerVersion, metadataVersion, 0)
	b.PrependUOffsetTSlot(footerSchema, schemaTable, 0)
	b.PrependUOffsetTSlot(footerDictionaries, dictionaryBlocks, 0)
	b.PrependUOffsetTSlot(footerRecordBatches, batchBlocks, 0)
	b.Finish(b.EndObject())

	end := b.FinishedBytes()
	end = binary.LittleEndian.AppendUint32(end[:len(end):len(end)], uint32(len(end)))
	return append(end, magic...)
}

// headerTable is the position of the header's table, the schema, in message.
func headerTable(message []byte) flatbuffers.UOffsetT {
	table := flatbuffers.Table{Bytes: message, Pos: flatbuffers.GetUOffsetT(message)}
	field := table.Offset(4 + 2*messageHeader) // in the vtable, behind its own size and the table's
	return table.Indirect(table.Pos + flatbuffers.UOffsetT(field))
}
