package compressed

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/therootcompany/xz"
)

const (
	xzMagic = "\xfd7zXZ\x00"

	// maxXZDictionary is the dictionary of the highest preset, xz -9.
	maxXZDictionary = 64 << 20

	// xzHeaders are those of a stream and of a block with a dictionary of maxXZDictionary.
	xzHeaders = xzMagic + "\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x1c\x00\x00\x00\x10\xcf\x58\xcc"
)

// idleXZ returns the readers that are not in use, each of which has a dictionary for the largest
// files. They are made together, before any other: the runtime clears a dictionary where it kept
// something else before, and then all of it is resident, not only what data has filled.
var idleXZ = sync.OnceValue(func() chan *xz.Reader {
	readers := make(chan *xz.Reader, 4) // images and labels of two splits
	for range cap(readers) {
		r, _ := xz.NewReader(strings.NewReader(xzHeaders), maxXZDictionary)
		_, _ = r.Read(make([]byte, 1)) // an error, as there are no data
		readers <- r
	}
	return readers
})

// An xzReader reads .xz streams (https://tukaani.org/xz/xz-file-format.txt). The library, after XZ
// Embedded, compares the checks, the sizes, the index and the footer of each, and the padding.
type xzReader struct{ *xz.Reader }

func openXZ(in *bufio.Reader) (io.Reader, error) {
	select {
	case r := <-idleXZ():
		return xzReader{r}, xzError(r.Reset(in))
	default:
		r, err := xz.NewReader(in, maxXZDictionary)
		return xzReader{r}, xzError(err)
	}
}

func (r xzReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	return n, xzError(err)
}

// Close keeps the reader for another file.
func (r xzReader) Close() error {
	select {
	case idleXZ() <- r.Reader:
	default:
	}
	return nil
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
