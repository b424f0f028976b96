package parquet

import (
	"math"
	"sync"

	"github.com/parquet-go/parquet-go/compress/gzip"
	"github.com/parquet-go/parquet-go/compress/snappy"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/idxport/idxport/internal/compressed"
)

// A codec compresses pages.
type codec struct {
	id format.CompressionCodec
	// encode compresses src into dst, which it overwrites and which grows as needed. It is safe for
	// concurrent use; nil means that pages are not compressed.
	encode func(dst, src []byte) ([]byte, error)
}

// codecs returns the table of codecs, the default first. Level 0 is the fastest for zstd and
// lz4_raw, as higher levels gain next to nothing on images.
func codecs() []compressed.Choice[codec] {
	return []compressed.Choice[codec]{
		{Name: "zstd", MaxLevel: 22, Make: newZstd},
		{Name: "none", Make: func(int) codec { return codec{id: format.Uncompressed} }},
		{Name: "snappy", Make: func(int) codec { return codec{format.Snappy, new(snappy.Codec).Encode} }},
		{Name: "gzip", MaxLevel: 9, Make: newGzip},
		{Name: "lz4_raw", MaxLevel: 9, Make: newLZ4},
	}
}

// Codecs lists the compressions of pages, the default first.
func Codecs() []string { return compressed.Names(codecs()) }

func newGzip(level int) codec {
	if level == 0 {
		level = gzip.DefaultCompression
	}
	return codec{id: format.Gzip, encode: (&gzip.Codec{Level: level}).Encode}
}

func newZstd(level int) codec {
	frames := &compressed.ZstdEncoder{Level: level} // without checksums: a page has a CRC of its own
	return codec{format.Zstd, func(dst, src []byte) ([]byte, error) { return frames.Append(dst[:0], src) }}
}

// newLZ4 uses package lz4, not parquet-go's codec. The compressor without levels is several times
// as fast as those with levels, if its tables of 136 KiB are kept between pages. The pool keeps
// them, which parquet-go's codec cannot.
func newLZ4(level int) codec {
	pool := sync.Pool{New: func() any { return new(lz4.Compressor) }}
	return codec{id: format.Lz4Raw, encode: func(dst, src []byte) ([]byte, error) {
		if len(src) > math.MaxInt32-1<<24 { // the bound below must fit a page
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
		c := pool.Get().(*lz4.Compressor)
		defer pool.Put(c)
		n, err := c.CompressBlock(src, dst)
		return dst[:n], err
	}}
}
