package compressed

import (
	"io"
)

// A Block is a piece of the data, compressed and ready for Append.
type Block struct {
	data []byte // what to write
	size int    // uncompressed bytes
	crc  uint32 // of the uncompressed bytes, if the format needs it
}

// Bytes returns the compressed bytes, in the memory that was given to Encode. It may be handed to another Encode as dst
// once Append has returned, unless the codec is "none", where it is the block itself.
func (b Block) Bytes() []byte { return b.data }

// A Writer writes one stream.
type Writer struct {
	w           io.Writer
	encoder     encoder
	encoderSize int64

	// For Append and Close alone.
	begun bool
	size  uint64     // uncompressed bytes so far
	crc   uint32     // of them
	seek  *seekTable // nil: the stream has none
	err   error      // of the first write that failed
}

// EncoderSize is Codec.EncoderSize of the stream's codec.
func (w *Writer) EncoderSize() int64 { return w.encoderSize }

// Encode compresses block into dst[:0], which grows as needed. The Block refers to that memory or, for "none", to block:
// both must stay as they are until Append has returned. An empty block is legal and adds nothing to the stream. Encode may
// run on many goroutines at once.
func (w *Writer) Encode(dst, block []byte) (Block, error) {
	if len(block) == 0 {
		return Block{data: dst[:0]}, nil
	}
	return w.encoder.encode(dst, block)
}

// Append writes b. Blocks come in the order of the data, from one goroutine at a time. After an error of the underlying
// writer, Append and Close return that error and write nothing.
func (w *Writer) Append(b Block) error {
	w.begin()
	w.write(b.data)
	if w.seek != nil && len(b.data) > 0 {
		w.seek.add(b.data, uint64(b.size))
	}
	w.crc = combineCRC32(w.crc, b.crc, int64(b.size))
	w.size += uint64(b.size)
	return w.err
}

// Close writes what ends the stream; it does not close the underlying writer.
func (w *Writer) Close() error {
	w.begin()
	trailer, err := w.encoder.trailer(w.crc, w.size)
	if err != nil {
		return err
	}
	w.write(trailer)
	if w.seek != nil {
		if len(trailer) > 0 {
			w.seek.add(trailer, 0)
		}
		w.write(w.seek.bytes())
	}
	return w.err
}

// Reset begins another stream, in out. Blocks that were encoded before may be appended to it.
func (w *Writer) Reset(out io.Writer) {
	w.w, w.begun, w.size, w.crc, w.err = out, false, 0, 0, nil // Encode may read the others meanwhile
	if w.seek != nil {
		w.seek = new(seekTable)
	}
}

// begin writes the header, once.
func (w *Writer) begin() {
	if !w.begun {
		w.begun = true
		w.write(w.encoder.header())
	}
}

func (w *Writer) write(p []byte) {
	if w.err != nil || len(p) == 0 {
		return
	}
	n, err := w.w.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	w.err = err
}

// plain is the encoder of "none".
type plain struct{}

func newPlain(int) encoder { return plain{} }

func (plain) encode(_, block []byte) (Block, error)  { return Block{data: block, size: len(block)}, nil }
func (plain) header() []byte                         { return nil }
func (plain) trailer(uint32, uint64) ([]byte, error) { return nil, nil }
