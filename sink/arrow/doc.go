// Package arrow writes tables as Arrow IPC files and streams.
//
// [New] returns a [Sink] for a schema. Each batch becomes one record batch: a message with
// metadata, and a body that consists of the batch's buffers. Nothing is copied on the way to the
// writer; with compression, Encode compresses the buffers on the workers.
//
// # The format
//
// A stream is a sequence of messages: the schema, the dictionaries, the record batches, an end
// mark. A file is a stream between a magic number and a footer, which is an index of the
// dictionaries and record batches:
//
//	"ARROW1" 00 00
//	schema message
//	dictionary batch message                   class names, if there is a column of them
//	record batch message …
//	ff ff ff ff  00 00 00 00                   end of the stream
//	footer, its length in 4 bytes, "ARROW1"
//
//	message:  ff ff ff ff, 4 bytes of length, metadata, zeros to a multiple of 8, body
//	body:     the buffers of all columns, depth first, each padded with zeros to a multiple of 8
//	compressed buffer: length before compression in 8 bytes, an LZ4 or Zstandard frame
//
// Metadata and footer are FlatBuffers (Message.fbs and File.fbs of the Arrow project). The schema
// message is arrow-go's. All else is made here, because arrow-go's writers compress in the step,
// one batch at a time and at one level, create an encoder of many megabytes per batch if asked for
// a single payload, and do not accept payloads for files.
//
// The invariant: offsets and lengths of buffers are known before the step runs, so it only writes.
package arrow
