package arrow

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// The most bytes that one compressed byte can stand for. LZ4 counts the length of a match in bytes of up to 255. Zstandard's blocks have 4 bytes at
// least, and become 128 KiB at most.
const (
	mostLZ4  = 255
	mostZstd = 128 << 10 / 4
)

// codecs are the decompressors of a table. They are safe on many goroutines, and have none of their own.
type codecs struct {
	lz4  sync.Pool // *lz4.Reader
	once sync.Once
	zstd *zstd.Decoder // made on first use
	err  error
}

// plausible refuses a claim of size bytes that n compressed bytes cannot keep, before memory is taken for it.
func (b *batch) plausible(size int64, n int, f *field) error {
	most := int64(mostLZ4)
	if b.codec == codecZstd {
		most = mostZstd
	}
	if size > most*int64(n) {
		return damaged(b.offset, "a buffer of %d compressed bytes claims %d, expected at most %d", n, size, most*int64(n)).InColumn(f.name)
	}
	return nil
}

// inflate fills dst with what packed, a frame of the batch's codec, stands for.
func (b *batch) inflate(dst, packed []byte, f *field) error {
	var err error
	if b.codec == codecLZ4 {
		err = b.codecs.inflateLZ4(dst, packed)
	} else {
		err = b.codecs.inflateZstd(dst, packed)
	}
	if err != nil {
		return damaged(b.offset, "a buffer of the record batch cannot be decompressed to %d bytes: %v", len(dst), err).InColumn(f.name)
	}
	return nil
}

var errLength = errors.New("it has another length")

func (c *codecs) inflateLZ4(dst, packed []byte) error {
	r, ok := c.lz4.Get().(*lz4.Reader)
	if !ok {
		r = lz4.NewReader(nil)
	}
	defer c.lz4.Put(r)
	r.Reset(bytes.NewReader(packed))
	if _, err := io.ReadFull(r, dst); err == io.EOF || err == io.ErrUnexpectedEOF {
		return errLength
	} else if err != nil {
		return err
	}
	var one [1]byte
	if _, err := io.ReadFull(r, one[:]); err == nil {
		return errLength
	} else if err != io.EOF {
		return err
	}
	return nil
}

func (c *codecs) inflateZstd(dst, packed []byte) error {
	c.once.Do(func() {
		c.zstd, c.err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxPlain), zstd.WithDecodeAllCapLimit(true))
	})
	if c.err != nil {
		return c.err
	}
	made, err := c.zstd.DecodeAll(packed, dst[:0:len(dst)])
	if err == nil && len(made) != len(dst) {
		err = errLength
	}
	return err
}
