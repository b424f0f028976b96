package compressed

import (
	"bufio"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/idxport/idxport/internal/compressed/pagezstd"
)

// maxZstdWindow is half of what the zstd program accepts: the window is in memory.
const maxZstdWindow = 64 << 20

// openZstd returns the library's decoder, set to start no goroutines.
func openZstd(in *bufio.Reader) (io.Reader, error) {
	d, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxZstdWindow))
	return d.IOReadCloser(), err
}

// A ZstdEncoder compresses blocks to frames. At the default level, blocks with runs, such as images
// with a plain background, are compressed by package pagezstd, and others by the library. It is
// safe for concurrent use, and keeps as many encoders as were ever in use at the same time.
//
// With one encoder of the library for concurrent use, or a sync.Pool, memory would grow with the
// processors, not with the workers: at level 19, with 2 workers and GOMAXPROCS 16, MNIST's test
// images took 306 MiB the first way (IDX) and 197 MiB the second (Parquet), against 88 and 93 MiB.
type ZstdEncoder struct {
	Level    int  // 1 to 22; 0 is the default
	Stream   bool // frames have checksums, and empty data becomes an empty frame
	Literals bool // at the fast levels, also compress data without repeated sequences, such as labels and floats

	mu   sync.Mutex
	free []*zstdEncoders
}

// zstdEncoders are what one goroutine uses at a time.
type zstdEncoders struct {
	library *zstd.Encoder
	pages   pagezstd.Encoder
	sample  []byte
}

// Append appends a frame of block to dst. The frame depends on the block alone.
func (z *ZstdEncoder) Append(dst, block []byte) []byte {
	e := z.take()
	defer z.give(e)
	if z.Level == 0 && e.hasRuns(block) {
		return e.pages.Append(dst, block)
	}
	return e.library.EncodeAll(block, dst)
}

// hasRuns reports whether pagezstd is better than the library for the middle of block, a sample:
// runs are at least an eighth of it, and its frame is not larger than the library's. In a block
// with few runs, the library may find matches that a sample does not show.
func (e *zstdEncoders) hasRuns(block []byte) bool {
	const sample = 8 << 10
	if skipped := len(block) - sample; skipped > 0 {
		block = block[skipped/2:][:sample]
	}
	if e.pages.Matched(block) < len(block)/8 {
		return false
	}
	e.sample = e.pages.Append(e.sample[:0], block)
	pages := len(e.sample)
	e.sample = e.library.EncodeAll(block, e.sample[:0])
	return pages <= len(e.sample)
}

func (z *ZstdEncoder) take() *zstdEncoders {
	z.mu.Lock()
	defer z.mu.Unlock()
	if last := len(z.free) - 1; last >= 0 {
		e := z.free[last]
		z.free = z.free[:last]
		return e
	}
	library, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(z.Level)),
		zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(z.Stream), zstd.WithZeroFrames(z.Stream),
		zstd.WithAllLitEntropyCompression(z.Literals)) // fails for wrong options only
	return &zstdEncoders{library: library, pages: pagezstd.Encoder{Checksum: z.Stream}}
}

func (z *ZstdEncoder) give(e *zstdEncoders) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.free = append(z.free, e)
}

// newZstd returns an encoder of a Writer: each block becomes a frame.
func newZstd(level int) encoder {
	frames := &ZstdEncoder{Level: level, Stream: true, Literals: true}
	return encoder{encode: frames.Append, trailer: func(_ uint32, size uint64) []byte {
		if size > 0 {
			return nil
		}
		return frames.Append(nil, nil) // a stream without data has a frame too
	}}
}
