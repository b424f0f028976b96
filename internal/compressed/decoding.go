package compressed

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"github.com/idxport/idxport/internal/fault"
)

// A decoding decompresses one input. It turns whatever a decoder returns, including panics, into
// the errors that this package promises.
type decoding struct {
	format
	in  *input
	buf *bufio.Reader // of in
	out io.Reader     // nil before the first fill
}

// fill decodes until p is full or an error ends the data. The first call opens the decoder, as that
// may block or fail like any read.
func (d *decoding) fill(p []byte) (n int, err error) {
	defer func() {
		switch v := recover(); {
		case v == nil:
		case d.in.reading.Load():
			err = fmt.Errorf("reading %s input: panic: %v", d.name, v)
		default:
			err = d.errorAt(corrupt("panic in the decoder: %v", v))
		}
	}()
	if d.out == nil {
		if d.out, err = d.open(d.buf); err != nil {
			return 0, d.classify(err)
		}
	}
	for n < len(p) && err == nil {
		var k int
		k, err = d.out.Read(p[n:])
		n += k
	}
	if err != nil {
		err = d.classify(err)
	}
	return n, err
}

// classify translates a decoder's error. If the decoder has consumed everything up to a failed read
// of the input, it returns the error of that read.
func (d *decoding) classify(err error) error {
	ended := d.in.delivered
	if ended != nil && ended != io.EOF && d.buf.Buffered() == 0 {
		return ended
	}
	var known *fault.Error
	switch {
	case err == io.EOF:
		return err
	case errors.As(err, &known):
		return d.errorAt(known)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return d.errorAt(unsupported("a window of more than %d MiB", maxZstdWindow>>20))
	case errors.Is(err, zstd.ErrUnknownDictionary):
		return d.errorAt(unsupported("%v", err))
	case ended == io.EOF:
		return d.errorAt(fault.New(fault.Truncated, "the data ends too early"))
	}
	return d.errorAt(corrupt("%v", err))
}

// errorAt returns an error like e whose message also names the format and the number of compressed
// bytes that the decoder has taken, of xz up to 512 in advance. That number is not the Offset of
// the error, which counts decompressed bytes.
func (d *decoding) errorAt(e *fault.Error) error {
	offset := d.in.taken.Load() - int64(d.buf.Buffered())
	located := fault.New(e.Kind, "%s stream, at compressed byte %d: %s", d.name, offset, e.Msg).Because(e.Err)
	switch e.Kind {
	case fault.Truncated:
		return located.WithHint("the file is incomplete: download or write it again")
	case fault.Unsupported:
		return located.WithHint("decompress it with the %s program first", d.name)
	default:
		return located.WithHint("the file is damaged: download or write it again")
	}
}

// corrupt returns the error for a wrong checksum, invalid data, or junk after the last member.
func corrupt(format string, args ...any) *fault.Error {
	return fault.New(fault.Malformed, "corrupt data: "+format, args...)
}

// ErrExtra is the cause of the error for other data after complete gzip or xz streams.
var ErrExtra = errors.New("extra data")

// unsupported returns the error for data that may be valid but needs a feature, or an amount of
// memory, that this package does not provide.
func unsupported(format string, args ...any) *fault.Error {
	return fault.New(fault.Unsupported, "not supported: "+format, args...)
}

func (d *decoding) close() {
	if c, ok := d.out.(io.Closer); ok {
		c.Close() // its error repeats that of Read
	}
}

// noEOF returns io.ErrUnexpectedEOF if err is io.EOF, and otherwise err.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// An input counts the bytes taken from r, remembers how r ended, and can be closed while r blocks.
type input struct {
	r     io.Reader
	taken atomic.Int64 // bytes

	// Used only by the reading goroutine.
	pending   error // came with data; the next Read returns it
	delivered error // returned by Read; r is not used again

	reading atomic.Bool // a Read of r is in progress
	closed  atomic.Bool // no further Read may begin
}

// Read reads into p, which is not empty. It returns data or an error, and repeats its last error.
func (in *input) Read(p []byte) (int, error) {
	for try := 0; in.pending == nil && try < 100; try++ { // reads that return neither data nor an error
		n, err := in.readUnlessClosed(p)
		in.taken.Add(int64(n))
		in.pending = err
		if n > 0 {
			return n, nil
		}
	}
	in.pending = cmp.Or(in.pending, io.ErrNoProgress)
	in.delivered = in.pending
	return 0, in.delivered
}

// readUnlessClosed reads from r, unless the input is closed. If close is called meanwhile, either
// readUnlessClosed does not read, or close reports that it is reading.
func (in *input) readUnlessClosed(p []byte) (n int, err error) {
	if in.reading.Store(true); in.closed.Load() {
		err = fs.ErrClosed
	} else {
		n, err = in.r.Read(p) // after a panic, reading stays true
	}
	in.reading.Store(false)
	return n, err
}

// close forbids further reads of r, and reports whether one is in progress.
func (in *input) close() (reading bool) {
	in.closed.Store(true)
	return in.reading.Load()
}
