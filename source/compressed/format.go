package compressed

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/zstd"
)

// A Format is a way of compressing a stream.
type Format int

// The formats that [Detect] distinguishes. Plain is everything else.
const (
	Plain Format = iota
	Gzip
	Zstd
	XZ
	Bzip2
)

// String returns the format's name: "none", "gzip", "zstd", "xz" or "bzip2".
func (f Format) String() string {
	for _, info := range knownFormats() {
		if info.format == f {
			return info.name
		}
	}
	return "none"
}

// magicLen is the number of bytes from which a format is detected.
const magicLen = 6

// A formatInfo describes one compressed format.
type formatInfo struct {
	format Format
	name   string

	// match reports whether prefix, which has at most magicLen bytes, begins like a stream of the
	// format.
	match func(prefix []byte) bool

	// open starts decoding at the first byte of in. The returned reader, which may be an io.Closer,
	// ends with io.EOF only if the input ended where the format allows it. If it takes bytes from
	// in before it decodes them, it has a method unread() int that returns their number. Its errors
	// are interpreted by [decoding.classify]. It may use other cores while wanted returns true,
	// which means that a caller waits for data.
	open func(in *bufio.Reader, wanted func() bool) (io.Reader, error)
}

func knownFormats() []formatInfo {
	return []formatInfo{
		{Gzip, "gzip", startsWith(gzipMagic), openGzip},
		{Zstd, "zstd", isZstd, openZstd},
		{XZ, "xz", startsWith(xzMagic), openXZ},
		{Bzip2, "bzip2", isBzip2, openBzip2},
	}
}

// Detect returns the format of a stream that begins with prefix, of which it needs the first 6
// bytes, or all if there are fewer.
func Detect(prefix []byte) Format {
	info, _ := infoFor(prefix)
	return info.format
}

// infoFor returns the formatInfo of a stream that begins with prefix; false means plain data.
func infoFor(prefix []byte) (formatInfo, bool) {
	for _, info := range knownFormats() {
		if info.match(prefix) {
			return info, true
		}
	}
	return formatInfo{}, false
}

func startsWith(magic string) func([]byte) bool {
	return func(prefix []byte) bool { return bytes.HasPrefix(prefix, []byte(magic)) }
}

const (
	zstdMagic = "\x28\xb5\x2f\xfd"

	// maxZstdWindow is the largest window that the zstd program accepts by default.
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

// newZstdDecoder returns the library's decoder of an input, which may be nil if Reset is called
// before Read.
func newZstdDecoder(in io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(in,
		zstd.WithDecoderConcurrency(1), // no goroutines: this package has one already
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxZstdWindow))
}

// isBzip2 accepts "BZh", a level, and the start of the magic number of a block or of the end
// (0x314159265359, 0x177245385090): three letters alone would also match text.
func isBzip2(prefix []byte) bool {
	if len(prefix) < magicLen || !bytes.HasPrefix(prefix, []byte("BZh")) {
		return false
	}
	level, next := prefix[3], string(prefix[4:magicLen])
	return '1' <= level && level <= '9' && (next == "\x31\x41" || next == "\x17\x72")
}

// openBzip2 uses the standard library's decoder, which reads several streams and verifies all
// checksums.
func openBzip2(in *bufio.Reader, _ func() bool) (io.Reader, error) { return bzip2.NewReader(in), nil }
