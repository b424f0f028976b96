package compressed

import (
	"bufio"
	"compress/bzip2"
	"io"
	"strings"
)

// Plain is the format of data that is not compressed; others are "gzip", "zstd", "xz" and "bzip2".
const Plain = "none"

// magicLen is the number of bytes from which a format is detected.
const magicLen = 6

// A format is a way of compressing a stream.
type format struct {
	name string

	// open starts decoding at the first byte of in. The returned reader, which may be an io.Closer,
	// ends with io.EOF only if the input ended where the format allows it. Its errors are
	// interpreted by [Reader.classify].
	open func(in *bufio.Reader) (io.Reader, error)
}

// formatOf returns the format of a stream that begins with prefix; open is nil for plain data.
func formatOf(prefix []byte) format {
	head := (string(prefix) + "      ")[:magicLen] // no magic number has spaces
	begins := func(magic string) bool { return strings.HasPrefix(head, magic) }
	switch {
	case begins(gzipMagic):
		return format{"gzip", openGzip}
	case begins("\x28\xb5\x2f\xfd"), head[0]>>4 == 5 && head[1:4] == "\x2a\x4d\x18": // skippable: RFC 8878, 3.1.2
		return format{"zstd", openZstd}
	case begins(xzMagic):
		return format{"xz", openXZ}
	// A level follows, and the start of the magic number of a block or of the end (0x314159265359,
	// 0x177245385090): three letters alone would also match text. The standard library's decoder
	// reads several streams and verifies all checksums.
	case begins("BZh") && '1' <= head[3] && head[3] <= '9' && (head[4:] == "\x31\x41" || head[4:] == "\x17\x72"):
		return format{"bzip2", func(in *bufio.Reader) (io.Reader, error) { return bzip2.NewReader(in), nil }}
	}
	return format{name: Plain}
}

// Detect returns the name of the format of a stream that begins with prefix, of which it needs the
// first 6 bytes, or all if there are fewer.
func Detect(prefix []byte) string { return formatOf(prefix).name }
