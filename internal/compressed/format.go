package compressed

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"io"
)

// Plain is the format of data that is not compressed; others are "gzip", "zstd", "xz" and "bzip2".
const Plain = "none"

// magicLen is the number of bytes from which a format is detected.
const magicLen = 6

// A format is a way of compressing a stream.
type format struct {
	name string

	// match reports whether prefix, of at most magicLen bytes, begins like a stream of the format.
	match func(prefix []byte) bool

	// open starts decoding at the first byte of in. The returned reader, which may be an io.Closer,
	// ends with io.EOF only if the input ended where the format allows it. Its errors are
	// interpreted by [Reader.classify].
	open func(in *bufio.Reader) (io.Reader, error)
}

// formatOf returns the format of a stream that begins with prefix; open is nil for plain data.
func formatOf(prefix []byte) format {
	for _, f := range []format{
		{"gzip", startsWith(gzipMagic), openGzip},
		{"zstd", isZstd, openZstd},
		{"xz", startsWith(xzMagic), openXZ},
		// The standard library's decoder reads several streams and verifies all checksums.
		{"bzip2", isBzip2, func(in *bufio.Reader) (io.Reader, error) { return bzip2.NewReader(in), nil }},
	} {
		if f.match(prefix) {
			return f
		}
	}
	return format{name: Plain}
}

// Detect returns the name of the format of a stream that begins with prefix, of which it needs the
// first 6 bytes, or all if there are fewer.
func Detect(prefix []byte) string { return formatOf(prefix).name }

func startsWith(magic string) func([]byte) bool {
	return func(prefix []byte) bool { return bytes.HasPrefix(prefix, []byte(magic)) }
}

// isZstd accepts a frame or a skippable frame, 0x184D2A50 to 0x184D2A5F (RFC 8878, 3.1.2).
func isZstd(prefix []byte) bool {
	if len(prefix) < 4 {
		return false
	}
	magic := binary.LittleEndian.Uint32(prefix)
	return magic == 0xFD2FB528 || magic&^0xf == 0x184D2A50
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
