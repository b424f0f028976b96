package parquet

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/idxport/idxport/source"
)

// Limits of a page, in bytes. Its compressed size is limited by the file. Decompressed, a page may
// have up to largePage bytes, or up to maxRatio times its compressed size, and at most maxPage. A
// page that expands further is refused as a bomb.
const (
	maxPage   = min(1<<30, math.MaxInt/8) // an int can count its bits
	largePage = 64 << 20
	maxRatio  = 4096
)

// checkPageSize refuses a page of size bytes whose header gives an impossible decompressed size.
func checkPageSize(size, uncompressed int) error {
	if uncompressed < 0 || uncompressed > maxPage || uncompressed > largePage && uncompressed/maxRatio > size {
		return damaged("found a page of %d bytes that decompresses to %d, expected at most %d", size, uncompressed, min(maxPage, max(largePage, maxRatio*min(size, maxPage/maxRatio))))
	}
	return nil
}

// codecs decompresses pages. It may be used by many goroutines.
type codecs struct {
	zstd func() (*zstd.Decoder, error)
}

func newCodecs() *codecs {
	return &codecs{zstd: sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxWindow(maxPage))
	})}
}

// knownCodec reports whether decode supports codec.
func knownCodec(codec format.CompressionCodec) bool {
	switch codec {
	case format.Brotli:
		return readsBrotli
	case format.Uncompressed, format.Snappy, format.Gzip, format.Lz4, format.Zstd, format.Lz4Raw:
		return true
	}
	return false
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
		return readExactly(r, dst)
	case format.Brotli:
		return readExactly(newBrotliReader(bytes.NewReader(src)), dst)
	case format.Lz4Raw:
		return lz4.UncompressBlock(src, dst)
	default:
		return hadoopLZ4(dst, src)
	}
}

// readExactly fills dst from r. If r has more data, it returns a number greater than len(dst).
func readExactly(r io.Reader, dst []byte) (int, error) {
	n, err := io.ReadFull(r, dst)
	if err != nil {
		return n, err
	}
	var one [1]byte
	if m, err := io.ReadFull(r, one[:]); m > 0 || err != io.EOF {
		return n + m, err
	}
	return n, nil
}

// hadoopLZ4 decompresses the deprecated codec LZ4, which was not specified: data is either Hadoop's
// frames, each a block after its two sizes (big-endian), or a single block.
func hadoopLZ4(dst, src []byte) (int, error) {
	done, rest := 0, src
	for len(rest) >= 8 {
		size, compressed := int64(binary.BigEndian.Uint32(rest)), int64(binary.BigEndian.Uint32(rest[4:]))
		if size > int64(len(dst)-done) || compressed > int64(len(rest)-8) {
			break
		}
		n, err := lz4.UncompressBlock(rest[8:8+compressed], dst[done:done+int(size)])
		if err != nil || int64(n) != size {
			break
		}
		done, rest = done+n, rest[8+compressed:]
	}
	if len(rest) == 0 {
		return done, nil
	}
	return lz4.UncompressBlock(src, dst)
}
