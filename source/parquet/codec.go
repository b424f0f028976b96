package parquet

import (
	"bytes"
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

// codecs decompresses pages. It may be used by many goroutines.
type codecs struct {
	zstd func() (*zstd.Decoder, error)
	free sync.Pool // *[]byte: memory of decompressed pages that nothing needs any more
}

func newCodecs() *codecs {
	c := &codecs{free: sync.Pool{New: func() any { return new([]byte) }}}
	c.zstd = sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true),
			zstd.WithDecoderMaxWindow(maxPage))
	})
	return c
}

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

// decode decompresses src to size bytes in buf, which it may enlarge. If codec is Uncompressed, it
// returns src.
func (c *codecs) decode(codec format.CompressionCodec, buf *[]byte, src []byte, size int) ([]byte, error) {
	if codec == format.Uncompressed {
		if len(src) != size {
			return nil, damaged("found a page of %d bytes, expected the %d of its header", len(src), size)
		}
		return src, nil
	}
	if size == 0 {
		return nil, nil
	}
	*buf = source.Grow(*buf, size)
	dst := *buf
	n, err := c.decompress(codec, dst, src)
	if err != nil {
		return nil, damaged("a page cannot be decompressed (%s): %v", codec, err)
	}
	if n != size {
		return nil, damaged("found a page that decompresses to %d bytes, expected %d", n, size)
	}
	return dst, nil
}

// decompress decompresses src into dst, and returns the number of decompressed bytes.
func (c *codecs) decompress(codec format.CompressionCodec, dst, src []byte) (int, error) {
	switch codec {
	case format.Zstd:
		d, err := c.zstd()
		if err != nil {
			return 0, err
		}
		out, err := d.DecodeAll(src, dst[:0:len(dst)])
		return len(out), err
	case format.Snappy:
		n, err := snappy.DecodedLen(src)
		if err != nil || n != len(dst) {
			return n, err
		}
		out, err := snappy.Decode(dst, src)
		return len(out), err
	case format.Gzip:
		r, err := gzip.NewReader(bytes.NewReader(src))
		if err != nil {
			return 0, err
		}
		n, err := io.ReadFull(r, dst)
		if err == nil {
			var one [1]byte // if there is more, the number is larger than the size
			if m, err := io.ReadFull(r, one[:]); m > 0 || err != io.EOF {
				return n + m, err
			}
		}
		return n, err
	default:
		return lz4.UncompressBlock(src, dst)
	}
}
