package parquet

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/idxport/idxport/source/columnar"
)

// zstdDecoder decompresses whole frames, on any number of goroutines.
var zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
	d, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderMaxWindow(maxPage)) // fails for wrong options only
	return d
})

// decompress returns the size bytes that src decompresses to: src itself if codec is Uncompressed.
func decompress(codec format.CompressionCodec, src []byte, size int) (dst []byte, err error) {
	switch {
	case codec == format.Uncompressed:
		dst = src
	case size == 0: // some writers store nothing for no bytes, not even an empty frame
	case codec == format.Zstd:
		dst, err = zstdDecoder().DecodeAll(src, make([]byte, 0, size))
	case codec == format.Snappy:
		if n, _ := snappy.DecodedLen(src); n == size { // else Decode would allocate n bytes
			dst, err = snappy.Decode(nil, src)
		}
	case codec == format.Gzip:
		var r *gzip.Reader
		if r, err = gzip.NewReader(bytes.NewReader(src)); err == nil {
			dst, err = io.ReadAll(io.LimitReader(r, int64(size)+1))
		}
	case codec == format.Lz4Raw:
		buffer := make([]byte, size)
		n, failed := lz4.UncompressBlock(src, buffer)
		dst, err = buffer[:max(0, n)], failed
	default: // also LZ4, which was not specified, is not LZ4_RAW, and is not read by DuckDB
		return nil, columnar.Unsupported(`write it with another codec: python -c "import pyarrow.parquet as q; `+
			`q.write_table(q.read_table('FILE'), 'zstd.parquet', compression='zstd')"`,
			"found the compression %s, expected zstd, snappy, gzip, lz4_raw or none", codec)
	}
	if err != nil || len(dst) != size {
		err = cmp.Or(err, errors.New("it has another size"))
		return nil, columnar.Damaged("a page does not decompress to %d bytes (%s): %v", size, codec, err)
	}
	return dst, nil
}
