package compressed

import (
	"encoding/binary"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/flate"
)

// A gzipEncoder deflates blocks with writers from a pool, as each has tables of several hundred KiB.
type gzipEncoder struct {
	level int
	pool  sync.Pool // of *flate.Writer
}

func newGzip(level int) encoder {
	if level == 0 {
		level = defaultGzipLevel
	}
	return &gzipEncoder{level: level}
}

func (g *gzipEncoder) encode(dst, block []byte) (Block, error) {
	out := appender(dst[:0])
	deflate, ok := g.pool.Get().(*flate.Writer)
	if ok {
		deflate.Reset(&out)
	} else {
		var err error
		if deflate, err = flate.NewWriter(&out, g.level); err != nil {
			return Block{}, err
		}
	}
	if _, err := deflate.Write(block); err != nil {
		return Block{}, err
	}
	if err := deflate.Flush(); err != nil { // not Close: the stream's last block is the trailer's
		return Block{}, err
	}
	deflate.Reset(nil) // lets go of dst
	g.pool.Put(deflate)
	return Block{data: out, size: len(block), crc: crc32.ChecksumIEEE(block)}, nil
}

func (*gzipEncoder) header() []byte {
	return []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}
}

func (*gzipEncoder) trailer(crc uint32, size uint64) ([]byte, error) {
	lastBlock := []byte{3, 0} // BFINAL, fixed codes, end of block
	t := binary.LittleEndian.AppendUint32(lastBlock, crc)
	return binary.LittleEndian.AppendUint32(t, uint32(size)), nil
}

// An appender collects what is written to it.
type appender []byte

func (a *appender) Write(p []byte) (int, error) {
	*a = append(*a, p...)
	return len(p), nil
}
