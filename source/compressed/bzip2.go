package compressed

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"io"
)

// isBzip2 accepts "BZh", a level and the start of a block's or of the end's magic number (0x314159265359, 0x177245385090):
// three letters alone would also match text.
func isBzip2(prefix []byte) bool {
	if len(prefix) < magicLen || !bytes.HasPrefix(prefix, []byte("BZh")) {
		return false
	}
	level, next := prefix[3], string(prefix[4:magicLen])
	return '1' <= level && level <= '9' && (next == "\x31\x41" || next == "\x17\x72")
}

// openBzip2 uses the standard library's decoder, which reads joined streams and checks all sums.
func openBzip2(in *bufio.Reader, _ func() bool) (io.Reader, error) { return bzip2.NewReader(in), nil }
