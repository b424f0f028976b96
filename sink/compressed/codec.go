package compressed

import (
	"errors"
	"fmt"
	"io"
)

// ErrCodec is the sentinel for a codec or a level that does not exist: a mistake in the call.
var ErrCodec = errors.New("no such compression")

// A Codec names a way of compressing. Its zero writes plain data.
type Codec struct {
	// Name is "none" (or empty), "gzip" or "zstd".
	Name string

	// Level is 1 (fast) to 9 for gzip and 1 to 22 for zstd, where it selects the nearest of the four speeds that the
	// encoder has (1, 3, 7 and 11 are those). 0 is the default, 3 for gzip and 1 for zstd; "none" has no other.
	Level int
}

// Plain tells whether c does not compress.
func (c Codec) Plain() bool { return c.Name == "" || c.Name == "none" }

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
	trailer(crc uint32, size uint64) []byte
}

// A row is all that New needs to know about a codec.
type row struct {
	name     string
	maxLevel int // 0: no levels
	open     func(level int) (encoder, error)
}

// rows returns the table of codecs.
func rows() []row {
	return []row{
		{"none", 0, newPlain},
		{"gzip", 9, newGzip},
		{"zstd", 22, newZstd},
	}
}

// New returns a Writer of a stream to w. It writes nothing yet. The error of an unknown codec or level lists the choices.
func New(w io.Writer, c Codec) (*Writer, error) {
	if c.Name == "" {
		c.Name = "none"
	}
	for _, row := range rows() {
		if row.name != c.Name {
			continue
		}
		if c.Level < 0 || c.Level > row.maxLevel {
			return nil, levelError(c, row.maxLevel)
		}
		e, err := row.open(c.Level)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		return &Writer{w: w, encoder: e}, nil
	}
	return nil, fmt.Errorf("%w: %q, expected none, gzip[:1-9] or zstd[:1-22]", ErrCodec, c.Name)
}

func levelError(c Codec, maxLevel int) error {
	if maxLevel == 0 {
		return fmt.Errorf("%w: %s has no levels, found %d", ErrCodec, c.Name, c.Level)
	}
	return fmt.Errorf("%w: level %d of %s, expected 1 to %d, or 0 for the default", ErrCodec, c.Level, c.Name, maxLevel)
}
