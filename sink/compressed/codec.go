package compressed

import (
	"io"
)

// A Codec names a way of compressing. Its zero writes plain data.
type Codec struct {
	// Name is "none" (or empty), "gzip" or "zstd" for a Writer. Formats with tables of their own know other names, and another default.
	Name string

	// Level is 1 (fast) to 9 for gzip and 1 to 22 for zstd, where it selects the nearest of the four speeds that the
	// encoder has (1, 3, 7 and 11 are those). 0 is the default, 3 for gzip and 1 for zstd; "none" has no other.
	Level int
}

// Plain tells whether c does not compress.
func (c Codec) Plain() bool { return c.Name == "" || c.Name == "none" }

// bestZstdSize is about the most bytes that an encoder of zstd's slowest speed keeps, measured as its part of the resident memory: 36 MiB
// after blocks of 1 MiB, 39 MiB after 4 MiB, 51 MiB after 16 MiB or more. 34 MiB are hash tables, the others the history.
const bestZstdSize = 51 << 20

// EncoderSize is about the most bytes that an encoder of c keeps from block to block, on each goroutine that compresses, where they count beside
// a batch: 51 MiB for zstd's levels from 10 on, else 0. For blocks of 1 MiB the other speeds of zstd keep 1.9, 3.4 and 5.9 MiB; gzip and LZ4
// keep less than 1.4 MiB.
func (c Codec) EncoderSize() int64 {
	if c.Name == "zstd" && zstdSpeed(c.Level) == slowestZstd {
		return bestZstdSize
	}
	return 0
}

// Measured on 8 MiB of MNIST's images and on their CSV, in blocks of 1 MiB, one core. gzip at level 3: 274 and 371 MB/s,
// 21.9 % and 13.6 % of the size; level 6: 177 and 233 MB/s for 21.6 % and 12.5 %; level 1: 340 and 424 MB/s for
// 22.9 % and 14.0 %. zstd at level 1: 341 and 391 MB/s, 21.5 % and 14.3 %; level 3: 242 and 322 MB/s for 21.5 % and 13.2 %.
const (
	defaultGzipLevel = 3
	defaultZstdLevel = 1
)

// An encoder is what the formats differ in.
type encoder interface {
	// encode compresses block, appending to dst[:0]. It runs on many goroutines at once. The block is not empty.
	encode(dst, block []byte) (Block, error)

	header() []byte

	// trailer ends a stream of size bytes with that CRC32.
	trailer(crc uint32, size uint64) ([]byte, error)
}

// codecs returns the table of codecs.
func codecs() []Choice[encoder] {
	return []Choice[encoder]{
		{"none", 0, newPlain},
		{"gzip", 9, newGzip},
		{"zstd", 22, newZstd},
	}
}

// New returns a Writer of a stream to w. It writes nothing yet. The error of an unknown codec or level lists the choices.
func New(w io.Writer, c Codec) (*Writer, error) {
	e, err := Find(codecs(), c)
	if err != nil {
		return nil, err
	}
	return &Writer{w: w, encoder: e, encoderSize: c.EncoderSize()}, nil
}
