package compressed

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	zstdMagic = "\x28\xb5\x2f\xfd"

	// maxZstdWindow is what the zstd program accepts without being told otherwise.
	maxZstdWindow = 128 << 20
)

// isZstd accepts a frame or a skippable frame, 0x184D2A50 to 0x184D2A5F (RFC 8878, 3.1.2).
func isZstd(prefix []byte) bool {
	if bytes.HasPrefix(prefix, []byte(zstdMagic)) {
		return true
	}
	return len(prefix) >= 4 && binary.LittleEndian.Uint32(prefix)&^0xf == 0x184D2A50
}

func openZstd(in *bufio.Reader, _ func() bool) (io.Reader, error) {
	d, err := newZstdDecoder(in)
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

// newZstdDecoder returns the library's decoder of in, which may be nil until it is reset.
func newZstdDecoder(in io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(in,
		zstd.WithDecoderConcurrency(1), // no goroutines: this package has one already
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxZstdWindow))
}
