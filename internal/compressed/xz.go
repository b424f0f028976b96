package compressed

import (
	"bufio"
	"errors"
	"io"

	"github.com/therootcompany/xz"
)

const (
	xzMagic = "\xfd7zXZ\x00"

	// maxXZDictionary is the dictionary of the highest preset, xz -9.
	maxXZDictionary = 64 << 20
)

// An xzReader reads .xz streams (https://tukaani.org/xz/xz-file-format.txt). The library, after XZ
// Embedded, compares the checks, the sizes, the index and the footer of each, and the padding.
type xzReader struct{ *xz.Reader }

func openXZ(in *bufio.Reader) (io.Reader, error) {
	r, err := xz.NewReader(in, maxXZDictionary)
	return xzReader{r}, xzError(err)
}

func (r xzReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	return n, xzError(err)
}

// xzError returns the error for one of the library's. That of a wrong magic number is about what
// follows a stream, as the input begins with the right one.
func xzError(err error) error {
	switch {
	case errors.Is(err, xz.ErrFormat):
		return corrupt("extra data after the last stream").Because(ErrExtra)
	case errors.Is(err, xz.ErrMemlimit):
		return unsupported("a dictionary of more than %d MiB", maxXZDictionary>>20)
	case errors.Is(err, xz.ErrOptions), errors.Is(err, xz.ErrUnsupportedCheck):
		return unsupported("%v", err)
	}
	return err
}
