package compressed

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"github.com/idxport/idxport/internal/fault"
)

// inputBuffer is the size of the buffer for the input.
const inputBuffer = 64 << 10

// A Reader reads the decompressed bytes of its input. It is for one goroutine, except that Close
// may be called at any time from others. It turns whatever a decoder returns, including panics,
// into the errors that this package promises.
type Reader struct {
	format format
	closed atomic.Bool

	mu  sync.Mutex // held by Read, which may block; guards the rest
	in  *input
	buf *bufio.Reader // of in
	out io.Reader     // the decoder, nil before the first Read and for plain data
	err error         // of the decoder, returned after the data before it
}

// NewReader detects the format from the first 6 bytes of r and returns a Reader of the decompressed
// data. An empty input is plain. Read reports all errors, also those of reading r.
func NewReader(r io.Reader) *Reader {
	in := &input{r: r}
	buf := bufio.NewReaderSize(in, inputBuffer)
	prefix, _ := buf.Peek(magicLen) // in repeats an error
	return &Reader{format: formatOf(prefix), in: in, buf: buf}
}

// Format returns the name of the detected format.
func (r *Reader) Format() string { return r.format.name }

// Read reads decompressed data. All data decoded before an error comes first, then the error:
// io.EOF after valid trailers, a [fault.Error] for bad data, the input's own error, unchanged, if
// reading it failed, and fs.ErrClosed after Close. It never returns 0 bytes without an error.
func (r *Reader) Read(p []byte) (n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case len(p) == 0:
		return 0, nil
	case r.closed.Load():
		return 0, fs.ErrClosed
	case r.format.open == nil:
		return r.buf.Read(p)
	}
	for n == 0 && r.err == nil {
		n, r.err = r.decode(p)
	}
	if n > 0 {
		return n, nil
	}
	return 0, r.err
}

// Close ends the decompression. It does not close the input, and always returns nil. It does not
// wait for a Read in progress, which may be of a pipe without a writer: the garbage collector then
// gets the decoder.
func (r *Reader) Close() error {
	r.closed.Store(true)
	if r.mu.TryLock() {
		if c, ok := r.out.(io.Closer); ok {
			c.Close() // its error repeats that of Read
		}
		r.out = nil
		r.mu.Unlock()
	}
	return nil
}

// decode reads from the decoder. It opens it first, as that may block or fail like any read.
func (r *Reader) decode(p []byte) (n int, err error) {
	defer func() { err = r.classify(err) }()
	defer fault.Recovered(&err)
	if r.out == nil {
		r.out, err = r.format.open(r.buf)
	}
	if err == nil {
		n, err = r.out.Read(p)
	}
	return n, err
}

// classify translates a decoder's error. If the decoder has consumed everything up to a failed read
// of the input, it returns the error of that read.
func (r *Reader) classify(err error) error {
	ended := r.in.delivered
	var known *fault.Error
	switch {
	case err == nil:
		return nil
	case ended != nil && ended != io.EOF && r.buf.Buffered() == 0:
		return ended
	case err == io.EOF:
		return err
	case errors.As(err, &known):
		return r.errorAt(known)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return r.errorAt(unsupported("a window of more than %d MiB", maxZstdWindow>>20))
	case errors.Is(err, zstd.ErrUnknownDictionary):
		return r.errorAt(unsupported("%v", err))
	case ended == io.EOF:
		return r.errorAt(fault.New(fault.Truncated, "the data ends too early"))
	}
	return r.errorAt(corrupt("%v", err))
}

// errorAt returns an error like e whose message also names the format and the number of compressed
// bytes that the decoder has taken, of xz up to 512 in advance. That number is not the Offset of
// the error, which counts decompressed bytes.
func (r *Reader) errorAt(e *fault.Error) error {
	offset := r.in.taken - int64(r.buf.Buffered())
	located := fault.New(e.Kind, "%s stream, at compressed byte %d: %s", r.format.name, offset, e.Msg).Because(e.Err)
	switch e.Kind {
	case fault.Truncated:
		return located.WithHint("the file is incomplete: download or write it again")
	case fault.Unsupported:
		return located.WithHint("decompress it with the %s program first", r.format.name)
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

// An input counts the bytes taken from r, and remembers how r ended.
type input struct {
	r         io.Reader
	taken     int64 // bytes
	pending   error // came with data; the next Read returns it
	delivered error // returned by Read; r is not used again
}

// Read reads into p, which is not empty. It returns data or an error, and repeats its last error.
func (in *input) Read(p []byte) (n int, err error) {
	for try := 0; in.pending == nil && try < 100; try++ { // reads that return neither data nor an error
		n, in.pending = in.r.Read(p)
		in.taken += int64(n)
		if n > 0 {
			return n, nil
		}
	}
	in.pending = cmp.Or(in.pending, io.ErrNoProgress)
	in.delivered = in.pending
	return 0, in.delivered
}
