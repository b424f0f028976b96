package compressed

import (
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
)

// maxEmptyReads is how many reads in a row may bring neither a byte nor an error.
const maxEmptyReads = 100

// An input counts the bytes taken from r, remembers how r ended, and can be closed while r's Read blocks.
type input struct {
	r      io.Reader
	prefix []byte       // read to recognise the format, delivered first
	taken  atomic.Int64 // bytes, the prefix included

	// For the reading goroutine alone.
	pending   error // came along with data: for the next Read
	delivered error // the error that Read returned, after which r is not used again

	mu      sync.Mutex
	reading bool // a Read of r is under way
	closed  bool // no other may begin
}

// peek reads the first n bytes into prefix, or all if there are fewer.
func (in *input) peek(n int) error {
	prefix := make([]byte, n)
	got := 0
	for got < n {
		k, err := in.Read(prefix[got:])
		got += k
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	in.prefix = prefix[:got]
	in.delivered = nil // an end that only the look ahead has met
	return nil
}

// Read reads into p, which must not be empty. It returns data or an error, never both, and the same error for ever.
func (in *input) Read(p []byte) (int, error) {
	if len(in.prefix) > 0 && !in.isClosed() {
		n := copy(p, in.prefix)
		in.prefix = in.prefix[n:]
		return n, nil
	}
	for range maxEmptyReads {
		if in.pending != nil {
			break
		}
		n, err := in.readOnce(p)
		in.taken.Add(int64(n))
		in.pending = err
		if n > 0 {
			return n, nil
		}
	}
	if in.pending == nil {
		in.pending = io.ErrNoProgress
	}
	in.delivered = in.pending
	return 0, in.delivered
}

// readOnce reads from r, unless the input is closed.
func (in *input) readOnce(p []byte) (int, error) {
	in.mu.Lock()
	if in.closed {
		in.mu.Unlock()
		return 0, fs.ErrClosed
	}
	in.reading = true
	in.mu.Unlock()

	n, err := in.r.Read(p)

	in.mu.Lock()
	in.reading = false
	in.mu.Unlock()
	return n, err
}

// close forbids further reads of r, and reports whether one is under way.
func (in *input) close() (reading bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed = true
	return in.reading
}

func (in *input) isReading() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.reading
}

func (in *input) isClosed() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.closed
}

// exhausted reports whether a byte was asked for after the last one.
func (in *input) exhausted() bool { return in.delivered == io.EOF }

// failure returns the error of r that ended the reading, nil if it was none or a regular end.
func (in *input) failure() error {
	if in.exhausted() {
		return nil
	}
	return in.delivered
}
