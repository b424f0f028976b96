package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/source"
)

// zstdDecoder decompresses whole frames, on any number of goroutines.
var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderMaxWindow(maxPage))
})

// knownCodec reports whether decode supports codec. LZ4, which was not specified, is not LZ4_RAW.
func knownCodec(codec format.CompressionCodec) bool {
	switch codec {
	case format.Uncompressed, format.Snappy, format.Gzip, format.Zstd, format.Lz4Raw:
		return true
	}
	return false
}

// hintCodec returns a command that writes the Parquet file called name with a codec that is
// supported. It is pyarrow's, since DuckDB does not read the codec LZ4.
func hintCodec(name string) string {
	script := fmt.Sprintf("import pyarrow.parquet as q; q.write_table(q.read_table(%q), %q, compression=\"zstd\")",
		name, strings.TrimSuffix(source.Base(name), ".parquet")+"-zstd.parquet")
	return "python -c " + shell.Quote(script)
}

// decompress returns the size bytes that src decompresses to: src itself if codec is Uncompressed.
func decompress(codec format.CompressionCodec, src []byte, size int) (dst []byte, err error) {
	switch {
	case codec == format.Uncompressed:
		dst = src
	case size > 0:
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
		b := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
		_, err = b.ReadFrom(io.LimitReader(r, int64(size)+1))
		return b.Bytes(), err
	default:
		dst := make([]byte, size)
		n, err := lz4.UncompressBlock(src, dst)
		return dst[:max(0, n)], err
	}
}
