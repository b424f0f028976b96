package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// codecs are the codecs that expand supports. LZ4, which was not specified, is not LZ4_RAW.
var codecs = []format.CompressionCodec{format.Uncompressed, format.Snappy, format.Gzip, format.Zstd, format.Lz4Raw}

// adviceCodec is a command of pyarrow, since DuckDB does not read the codec LZ4.
const adviceCodec = `write it with another codec: python -c "import pyarrow.parquet as q; ` +
	`q.write_table(q.read_table('FILE'), 'zstd.parquet', compression='zstd')"`

// zstdDecoder decompresses whole frames, on any number of goroutines.
var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderMaxWindow(maxPage))
})

// decompress returns the size bytes that src decompresses to: src itself if codec is Uncompressed.
func decompress(codec format.CompressionCodec, src []byte, size int) (dst []byte, err error) {
	if size > 0 || codec == format.Uncompressed { // some writers store nothing for no bytes, not even an empty frame
		if dst, err = expand(codec, src, size); err != nil {
			return nil, damaged("a page cannot be decompressed (%s): %v", codec, err)
		}
	}
	if len(dst) != size {
		return nil, damaged("found a page of %d bytes after decompression (%s), expected %d", len(dst), codec, size)
	}
	return dst, nil
}

// expand decompresses src, of which size bytes are expected. It may return more or fewer.
func expand(codec format.CompressionCodec, src []byte, size int) ([]byte, error) {
	switch codec {
	case format.Uncompressed:
		return src, nil
	case format.Zstd:
		d, err := zstdDecoder()
		if err != nil {
			return nil, err
		}
		return d.DecodeAll(src, make([]byte, 0, size))
	case format.Snappy:
		if n, err := snappy.DecodedLen(src); err != nil || n > size {
			return nil, errors.Join(err, fmt.Errorf("found %d bytes", n))
		}
		return snappy.Decode(nil, src)
	case format.Gzip:
		r, err := gzip.NewReader(bytes.NewReader(src))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(io.LimitReader(r, int64(size)+1))
	default:
		dst := make([]byte, size)
		n, err := lz4.UncompressBlock(src, dst)
		return dst[:max(0, n)], err
	}
}
