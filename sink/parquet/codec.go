package parquet

import (
	"cmp"

	"github.com/parquet-go/parquet-go/compress/gzip"
	"github.com/parquet-go/parquet-go/compress/snappy"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/internal/compressed"
)

// A codec compresses pages.
type codec struct {
	id format.CompressionCodec
	// encode compresses src into dst, which it overwrites and which grows as needed. It is safe for
	// concurrent use; nil means that pages are not compressed.
	encode func(dst, src []byte) ([]byte, error)
}

// codecs returns the table of codecs, the default first. Level 0 is the fastest for zstd, as higher
// levels gain next to nothing on images. Some readers misread LZ4_RAW.
func codecs() []compressed.Choice[codec] {
	return []compressed.Choice[codec]{
		{Name: "zstd", MaxLevel: 22, Make: func(level int) codec {
			frames := &compressed.ZstdEncoder{Level: level} // without checksums: a page has a CRC of its own
			return codec{format.Zstd, func(dst, src []byte) ([]byte, error) { return frames.Append(dst[:0], src) }}
		}},
		{Name: "none", Make: func(int) codec { return codec{id: format.Uncompressed} }},
		{Name: "snappy", Make: func(int) codec { return codec{format.Snappy, new(snappy.Codec).Encode} }},
		{Name: "gzip", MaxLevel: 9, Make: func(level int) codec {
			return codec{format.Gzip, (&gzip.Codec{Level: cmp.Or(level, gzip.DefaultCompression)}).Encode}
		}},
	}
}

// Codecs lists the compressions of pages, the default first.
func Codecs() []string { return compressed.Names(codecs()) }
