package arrow

import (
	"bytes"
	"encoding/binary"
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
	var err error
	f.bytes, err = made(binary.LittleEndian.AppendUint64(f.bytes[:0], uint64(len(data))), data)
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
		return &codec{id: c.id, make: func() compressor { return c.make(o.Level) }}, nil
	}
	return nil, unsupported("unknown compression %q, expected one of %s", name, strings.Join(Codecs(), ", "))
}

// newZstd makes an encoder without goroutines, as its concurrency is 1.
func newZstd(level int) compressor {
	speed := zstd.SpeedFastest
	if level > 0 {
		speed = zstd.EncoderLevelFromZstd(level)
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(speed), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
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
