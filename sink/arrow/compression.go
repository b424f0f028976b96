package arrow

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/idxport/idxport/sink/compressed"
)

// Numbers of CompressionType in Message.fbs.
const (
	codecLZ4  = 0
	codecZstd = 1
)

// codecs tells which codecs there are, the default first.
func codecs() []compressed.Choice[*codec] {
	return []compressed.Choice[*codec]{
		{Name: "none", Make: func(int) *codec { return nil }},
		{Name: "lz4", MaxLevel: 9, Make: newLZ4},
		{Name: "zstd", MaxLevel: 22, Make: newZstd},
	}
}

// Codecs lists the values of Options.Compression, the default first.
func Codecs() []string { return compressed.Names(codecs()) }

// A frame is memory for a compressed buffer: its length before compression, and a frame of the codec.
type frame struct{ bytes []byte }

// A codec compresses buffers. It is safe on many goroutines.
type codec struct {
	id     int8
	encode func(dst, data []byte) ([]byte, error) // appends data as one frame to dst
	frames sync.Pool                              // *frame: what waits to be written
}

// compress compresses data, which is not empty. The result is to be put back into frames.
func (c *codec) compress(data []byte) (*frame, error) {
	f, ok := c.frames.Get().(*frame)
	if !ok {
		f = new(frame)
	}
	// What cannot be compressed grows by a few bytes for each block of 64 KiB or more. Appending without the room would reach that in many small
	// steps, and leave several times as much to the collector.
	f.bytes = slices.Grow(f.bytes[:0], len(data)+len(data)/64+64)
	var err error
	f.bytes, err = c.encode(binary.LittleEndian.AppendUint64(f.bytes, uint64(len(data))), data)
	return f, err
}

func newZstd(level int) *codec {
	// Labels repeat no sequences, nor do floats: without WithAllLitEntropyCompression the fast levels store them as they are.
	frames := compressed.NewZstd(level, zstd.WithEncoderCRC(false), zstd.WithAllLitEntropyCompression(true))
	return &codec{id: codecZstd, encode: frames.Append}
}

// newLZ4 makes frames without checksums and with small blocks, as Arrow C++ writes them.
func newLZ4(level int) *codec {
	options := []lz4.Option{lz4.ChecksumOption(false), lz4.BlockSizeOption(lz4.Block64Kb)}
	if level > 0 {
		options = append(options, lz4.CompressionLevelOption(lz4.CompressionLevel(1<<(8+level))))
	}
	var pool sync.Pool // *lz4.Writer
	return &codec{id: codecLZ4, encode: func(dst, data []byte) ([]byte, error) {
		writer, ok := pool.Get().(*lz4.Writer)
		if !ok {
			writer = lz4.NewWriter(nil)
			if err := writer.Apply(options...); err != nil {
				return dst, err
			}
		}
		defer pool.Put(writer)
		out := bytes.NewBuffer(dst)
		writer.Reset(out)
		if _, err := writer.Write(data); err != nil {
			return dst, err
		}
		err := writer.Close()
		return out.Bytes(), err
	}}
}
