package parquet

import (
	"fmt"
	"math"
	"strings"
	"sync"

	kzstd "github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/compress/gzip"
	"github.com/parquet-go/parquet-go/compress/snappy"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/idxport/idxport/sink"
)

// Options of a file. The zero value is right for most.
type Options struct {
	// Compression is the codec's name, one of Codecs; zstd if empty.
	Compression string
	// Level is the codec's own: 1 to 22 for zstd, 1 to 9 for gzip and lz4_raw. 0 is its default: the fastest for zstd and lz4_raw, as higher
	// levels gain next to nothing on images.
	Level int
	// Layout is how tensors are represented: a name that layout.Get knows.
	Layout string
	// Version of the program, as "1.2.3 (build abc)": what the file says it was created by.
	Version string
}

// A codec compresses pages.
type codec struct {
	id format.CompressionCodec
	// encode compresses src into dst, whose contents are overwritten and which grows as needed. It is safe on many goroutines; nil if
	// pages are not compressed.
	encode func(dst, src []byte) ([]byte, error)
	state  int64 // bytes that each goroutine which compresses takes beside the page, where they count
}

// codecs tells which codecs there are, the default first.
func codecs() []codecRow {
	return []codecRow{
		{"zstd", 22, newZstd},
		{"none", 0, func(int) codec { return codec{id: format.Uncompressed} }},
		{"snappy", 0, func(int) codec { return codec{id: format.Snappy, encode: new(snappy.Codec).Encode} }},
		{"gzip", 9, newGzip},
		{"lz4_raw", 9, newLZ4},
	}
}

type codecRow struct {
	name     string
	maxLevel int                   // levels are 1 to maxLevel
	make     func(level int) codec // level 0 means the default
}

// Codecs lists the values of Options.Compression, the default first.
func Codecs() []string {
	var names []string
	for _, c := range codecs() {
		names = append(names, c.name)
	}
	return names
}

// codec finds the one that o asks for. The error is a *sink.Error.
func (o Options) codec() (codec, error) {
	name := o.Compression
	if name == "" {
		name = codecs()[0].name
	}
	for _, c := range codecs() {
		if c.name != name {
			continue
		}
		if o.Level < 0 || o.Level > c.maxLevel {
			return codec{}, unsupported("compression level %d of %s, expected 0 (the default) to %d", o.Level, name, c.maxLevel)
		}
		return c.make(o.Level), nil
	}
	return codec{}, unsupported("unknown compression %q, expected one of %s", name, strings.Join(Codecs(), ", "))
}

func unsupported(message string, values ...any) error {
	return &sink.Error{Format: "parquet", Message: fmt.Sprintf(message, values...), Err: sink.ErrUnsupported}
}

func newGzip(level int) codec {
	if level == 0 {
		level = gzip.DefaultCompression
	}
	return codec{id: format.Gzip, encode: (&gzip.Codec{Level: level}).Encode}
}

func newZstd(level int) codec {
	speed := zstd.SpeedFastest
	if level > 0 {
		speed = kzstd.EncoderLevelFromZstd(level)
	}
	return codec{format.Zstd, (&zstd.Codec{Level: speed}).Encode, zstdState(speed)}
}

// zstdState is about the bytes that an encoder of that speed keeps, where they count: the best has 42 MiB of hash tables and history, measured; the
// others less than 8 MiB.
func zstdState(speed kzstd.EncoderLevel) int64 {
	if speed == kzstd.SpeedBestCompression {
		return 42 << 20
	}
	return 0
}

// newLZ4 compresses blocks itself: parquet-go's codec has no way to ask for lz4's plain compressor, several times as fast as the one with levels,
// that would keep its 256 KiB of tables between pages.
func newLZ4(level int) codec {
	var pool sync.Pool
	return codec{id: format.Lz4Raw, encode: func(dst, src []byte) ([]byte, error) {
		if len(src) > math.MaxInt32-1<<24 { // the bound below must fit a page's size
			return nil, errPageSize
		}
		bound := lz4.CompressBlockBound(len(src))
		if cap(dst) < bound {
			dst = make([]byte, bound)
		}
		dst = dst[:bound]
		if level > 0 {
			n, err := lz4.CompressBlockHC(src, dst, lz4.CompressionLevel(1<<(8+level)), nil, nil)
			return dst[:n], err
		}
		c, _ := pool.Get().(*lz4.Compressor)
		if c == nil {
			c = new(lz4.Compressor)
		}
		defer pool.Put(c)
		n, err := c.CompressBlock(src, dst)
		return dst[:n], err
	}}
}
