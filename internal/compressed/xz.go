package compressed

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/bits"
	"runtime/debug"
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

	usualXZProperty = 22      // of LZMA2: a dictionary of 8 MiB, that of the default preset (5.3.1)
	littleXZData    = 1 << 20 // bytes of data, after which most of a dictionary is still not resident
)

// idleXZ returns readers for files with large dictionaries. They are made together, before any
// other and without a collection: the runtime clears a dictionary where it kept something else
// before, and then all of it is resident, and not only what data has filled.
var idleXZ = sync.OnceValue(func() chan *xz.Reader {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	readers := make(chan *xz.Reader, 4) // images and labels of two splits
	for range cap(readers) {
		r, _ := xz.NewReader(strings.NewReader(xzHeaders), maxXZDictionary)
		_, _ = r.Read(make([]byte, 1)) // an error, as there are no data
		readers <- r
	}
	return readers
})

// An xzReader reads .xz streams (https://tukaani.org/xz/xz-file-format.txt, whose section numbers
// are given). The library, after XZ Embedded, compares the checks, the sizes, the index and the
// footer of each, and the padding.
type xzReader struct {
	*xz.Reader
	in   *xzInput
	read int64 // bytes of data
	idle bool  // the reader is one of idleXZ
}

// An xzInput passes on few bytes at a time, as the library reads ahead, and keeps the last ones.
type xzInput struct {
	*bufio.Reader
	last []byte
}

func (x *xzInput) Read(p []byte) (int, error) {
	const few, kept = 512, 64
	n, err := x.Reader.Read(p[:min(len(p), few)])
	x.last = append(x.last[max(0, len(x.last)-kept):], p[:n]...)
	return n, err
}

func openXZ(in *bufio.Reader) (io.Reader, error) {
	x := &xzReader{in: &xzInput{Reader: in}}
	var err error
	var idle chan *xz.Reader // nil has none
	if hasLargeDictionary(in) {
		idle = idleXZ()
	}
	select {
	case x.Reader = <-idle:
		x.idle, err = true, x.Reset(x.in)
	default:
		x.Reader, err = xz.NewReader(x.in, maxXZDictionary)
	}
	x.Multistream(false)
	return x, xzError(err)
}

// hasLargeDictionary reports whether the first block may have a larger dictionary than usual (3.1).
func hasLargeDictionary(in *bufio.Reader) bool {
	head, _ := in.Peek(len(xzHeaders) + 2*binary.MaxVarintLen64) // the library finds the error
	if len(head) < len(xzHeaders) {
		return false
	}
	fields := head[14:]
	for range bits.OnesCount8(head[13] & 0xc0) { // sizes
		_, n := binary.Uvarint(fields)
		fields = fields[max(n, 0):]
	}
	return len(fields) < 3 || fields[0] != 0x21 || fields[2] > usualXZProperty
}

// Read reads data, of one stream after another.
func (x *xzReader) Read(p []byte) (int, error) {
	n, err := x.Reader.Read(p)
	x.read += int64(n)
	if err != io.EOF {
		return n, xzError(err)
	}
	err = x.Reset(nil) // reads the header of the next stream
	x.Multistream(false)
	if errors.Is(err, xz.ErrBuf) && !x.endsInHeader() {
		err = xz.ErrFormat
	}
	return n, xzError(err)
}

// endsInHeader reports whether the input ends in the beginning of a stream.
func (x *xzReader) endsInHeader() bool {
	rest := x.in.last // from a footer on, or from zeros after one
	rest = bytes.TrimLeft(rest[bytes.LastIndex(rest, []byte("YZ"))+2:], "\x00")
	return strings.HasPrefix(xzMagic, string(rest[:min(len(rest), len(xzMagic))]))
}

// Close keeps the reader for another file, unless its dictionary is resident.
func (x *xzReader) Close() error {
	if x.idle && x.read <= littleXZData {
		_ = x.Reset(strings.NewReader("")) // without references to this file
		idleXZ() <- x.Reader
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
