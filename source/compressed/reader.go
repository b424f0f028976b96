package compressed

import "io"

// A Reader reads the decompressed bytes of its input. It is for one goroutine, except that Close may be called from
// others at any time.
type Reader struct {
	format Format
	in     *input
	ahead  *ahead // nil for plain data
}

// SetBusy tells that the cores have other work, so that the Reader should not use them too; by default it may.
func (r *Reader) SetBusy(busy bool) {
	if r.ahead != nil {
		r.ahead.busy.Store(busy)
	}
}

// NewReader looks at the first bytes of r, at most 6, and returns a Reader of the decompressed data. It blocks until they
// have come. An empty input is plain. The error is that of reading r; bad data is reported by Read.
//
// For compressed data the Reader takes r over: a goroutine reads it, ahead of what was asked for.
func NewReader(r io.Reader) (*Reader, error) {
	in := &input{r: r}
	if err := in.peek(magicLen); err != nil {
		return nil, err
	}
	d, ok := decoderFor(in.prefix)
	if !ok {
		return &Reader{format: Plain, in: in}, nil
	}
	return &Reader{format: d.format, in: in, ahead: startAhead(newDecoding(d, in))}, nil
}

// Format returns the format that was recognised.
func (r *Reader) Format() Format { return r.format }

// Read reads decompressed data. All that was decoded before an error comes first, then the error:
// io.EOF after good trailers, a [fault.Error] for bad data, the input's own error, unchanged, if
// reading that failed, and fs.ErrClosed after Close. Plain data is read into p by the input itself,
// but for the first 6 bytes.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if r.ahead == nil {
		return r.in.Read(p)
	}
	return r.ahead.read(p)
}

// Close stops the decompression and waits for its goroutine. It does not close the input, and it always returns nil. A
// Read of the input that blocks (a pipe without a writer) cannot be interrupted from here: Close then returns after a grace
// period of 100 ms, and the goroutine ends without another use of the input as soon as that Read returns, which closing the
// input usually brings about.
func (r *Reader) Close() error {
	reading := r.in.close()
	if r.ahead != nil {
		r.ahead.close(reading)
	}
	return nil
}
