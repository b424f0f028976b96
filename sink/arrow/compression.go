package arrow

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Numbers of CompressionType in Message.fbs.
const (
	codecLZ4  = 0
	codecZstd = 1
)

// bestZstdState is about the bytes that an encoder of zstd's levels from 10 on keeps: hash tables and history, measured. Those below keep less
// than 8 MiB.
const bestZstdState = 42 << 20

// codecs tells which codecs there are, the default first.
func codecs() []codecRow {
	return []codecRow{
		{name: "none"},
		{name: "lz4", id: codecLZ4, maxLevel: 9, make: newLZ4},
		{name: "zstd", id: codecZstd, maxLevel: 22, make: newZstd},
	}
}

type codecRow struct {
	name     string
	id       int8
	maxLevel int                        // levels are 1 to maxLevel
	make     func(level int) compressor // nil if buffers are not compressed
}

// Codecs lists the values of Options.Compression, the default first.
func Codecs() []string {
	var names []string
	for _, c := range codecs() {
		names = append(names, c.name)
	}
	return names
}

// A compressor appends data as one frame to dst. Only one goroutine uses it at a time.
type compressor func(dst, data []byte) ([]byte, error)

// A frame is memory for a compressed buffer: its length before compression, and a frame of the codec.
type frame struct{ bytes []byte }

// A codec compresses buffers. It is safe on many goroutines.
type codec struct {
	id          int8
	state       int64 // bytes that a compressor keeps, where they count
	make        func() compressor
	compressors sync.Pool // compressor: one for each goroutine
	frames      sync.Pool // *frame: what waits to be written
}

// compress compresses data, which is not empty. The result is to be put back into frames.
func (c *codec) compress(data []byte) (*frame, error) {
	made, ok := c.compressors.Get().(compressor)
	if !ok {
		made = c.make()
	}
	defer c.compressors.Put(made)
	f, ok := c.frames.Get().(*frame)
	if !ok {
		f = new(frame)
	}
	// What cannot be compressed grows by a few bytes for each block of 64 KiB or more. Appending without the room would reach that in many small
	// steps, and leave several times as much to the collector.
	f.bytes = slices.Grow(f.bytes[:0], len(data)+len(data)/64+64)
	var err error
	f.bytes, err = made(binary.LittleEndian.AppendUint64(f.bytes, uint64(len(data))), data)
	return f, err
}

// codec finds the one that o asks for, nil for none. The error is a *sink.Error.
func (o Options) codec() (*codec, error) {
	name := o.Compression
	if name == "" {
		name = codecs()[0].name
	}
	for _, c := range codecs() {
		if c.name != name {
			continue
		}
		if o.Level < 0 || o.Level > c.maxLevel {
			return nil, unsupported("compression level %d of %s, expected 0 (the default) to %d", o.Level, name, c.maxLevel)
		}
		if c.make == nil {
			return nil, nil
		}
		made := &codec{id: c.id, make: func() compressor { return c.make(o.Level) }}
		if c.id == codecZstd && zstd.EncoderLevelFromZstd(o.Level) == zstd.SpeedBestCompression {
			made.state = bestZstdState
		}
		return made, nil
	}
	return nil, unsupported("unknown compression %q, expected one of %s", name, strings.Join(Codecs(), ", "))
}

// newZstd makes an encoder without goroutines, as its concurrency is 1.
func newZstd(level int) compressor {
	speed := zstd.SpeedFastest
	if level > 0 {
		speed = zstd.EncoderLevelFromZstd(level)
	}
	// Labels repeat no sequences, nor do floats: without WithAllLitEntropyCompression the fast levels store them as they are.
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(speed), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
		zstd.WithAllLitEntropyCompression(true))
	return func(dst, data []byte) ([]byte, error) {
		if err != nil {
			return dst, err
		}
		return encoder.EncodeAll(data, dst), nil
	}
}

// newLZ4 makes an encoder of frames without checksums and with small blocks, as Arrow C++ writes them.
func newLZ4(level int) compressor {
	options := []lz4.Option{lz4.ChecksumOption(false), lz4.BlockSizeOption(lz4.Block64Kb)}
	if level > 0 {
		options = append(options, lz4.CompressionLevelOption(lz4.CompressionLevel(1<<(8+level))))
	}
	writer := lz4.NewWriter(nil)
	err := writer.Apply(options...)
	return func(dst, data []byte) ([]byte, error) {
		if err != nil {
			return dst, err
		}
		out := bytes.NewBuffer(dst)
		writer.Reset(out)
		if _, err := writer.Write(data); err != nil {
			return dst, err
		}
		err := writer.Close()
		return out.Bytes(), err
	}
}
