package parquet

import (
	"math"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/compress/gzip"
	"github.com/parquet-go/parquet-go/compress/snappy"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/sink/compressed"
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
	// Channels says where the channels of images are, for layouts of images: "last", which empty means too, or "first".
	Channels string
	// Version of the program, as "1.2.3 (build abc)": what the file says it was created by.
	Version string
}

// A codec compresses pages.
type codec struct {
	id format.CompressionCodec
	// encode compresses src into dst, whose contents are overwritten and which grows as needed. It is safe on many goroutines; nil if
	// pages are not compressed.
	encode func(dst, src []byte) ([]byte, error)
}

// codecs tells which codecs there are, the default first.
func codecs() []compressed.Choice[codec] {
	return []compressed.Choice[codec]{
		{Name: "zstd", MaxLevel: 22, Make: newZstd},
		{Name: "none", Make: func(int) codec { return codec{id: format.Uncompressed} }},
		{Name: "snappy", Make: func(int) codec { return codec{format.Snappy, new(snappy.Codec).Encode} }},
		{Name: "gzip", MaxLevel: 9, Make: newGzip},
		{Name: "lz4_raw", MaxLevel: 9, Make: newLZ4},
	}
}

// Codecs lists the values of Options.Compression, the default first.
func Codecs() []string { return compressed.Names(codecs()) }

// codec is what o asks for, with the name where that is the default's.
func (o Options) codec() compressed.Codec {
	if o.Compression == "" {
		o.Compression = codecs()[0].Name
	}
	return compressed.Codec{Name: o.Compression, Level: o.Level}
}

func unsupported(message string, values ...any) error {
	return fault.New(fault.Usage, "parquet: "+message, values...)
}

func newGzip(level int) codec {
	if level == 0 {
		level = gzip.DefaultCompression
	}
	return codec{id: format.Gzip, encode: (&gzip.Codec{Level: level}).Encode}
}

func newZstd(level int) codec {
	frames := compressed.NewZstd(level, zstd.WithEncoderCRC(false)) // a page has a CRC of its own
	return codec{format.Zstd, func(dst, src []byte) ([]byte, error) { return frames.Append(dst[:0], src) }}
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
