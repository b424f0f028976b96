package publish

import (
	"fmt"
	"io/fs"
	"sync"
)

// A File is one output file while it is written, from start to end and by one goroutine at a time.
type File struct {
	path  string                     // for messages
	open  func() (fileHandle, error) // a direct target's, which is opened at the first byte; nil for partials
	count int64                      // bytes written
	err   error                      // the first failure: Commit repeats it

	mu     sync.Mutex // of what follows, never held during a system call: Discard must not wait for a stuck one
	handle fileHandle // nil before open and after close
	closed bool
}

// Write appends p. After an error the file cannot be committed. It fails with fs.ErrClosed after Discard.
func (f *File) Write(p []byte) (int, error) {
	handle, err := f.opened()
	if err != nil {
		return 0, f.fail(err)
	}
	n, err := handle.Write(p)
	f.count += int64(n)
	if err != nil {
		return n, f.fail(err)
	}
	return n, nil
}

// Count returns how many bytes were written; no Write may be running.
func (f *File) Count() int64 { return f.count }

func (f *File) fail(err error) error {
	err = failure(f.path, "writing", err)
	if f.err == nil {
		f.err = err
	}
	return err
}

// opened returns the handle, opening a direct target: a FIFO without a reader blocks here.
func (f *File) opened() (fileHandle, error) {
	handle, closed := f.current()
	if closed {
		return nil, fs.ErrClosed
	}
	if handle != nil {
		return handle, nil
	}
	handle, err := f.open()
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		handle.Close()
		return nil, fs.ErrClosed
	}
	f.handle = handle
	return handle, nil
}

func (f *File) current() (fileHandle, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.handle, f.closed
}

// finish makes the bytes durable, checks that all are there and closes the file. It returns the partial's identity.
func (f *File) finish() (fs.FileInfo, error) {
	if f.err != nil {
		return nil, f.err
	}
	handle, err := f.opened()
	if err != nil {
		return nil, err
	}
	direct := f.open != nil
	if err := handle.Sync(); err != nil && !(direct && cannotSync(err)) {
		return nil, fmt.Errorf("sync: %w", bare(err))
	}
	return f.complete(handle)
}

// complete is what finish does once the bytes are durable.
func (f *File) complete(handle fileHandle) (fs.FileInfo, error) {
	info, err := handle.Stat()
	if err != nil {
		return nil, err
	}
	if f.open == nil && info.Size() != f.count {
		return nil, incomplete(f.count, info.Size())
	}
	return info, f.close()
}

// close closes the file once; a Write that is stuck meanwhile keeps the descriptor alive until it returns.
func (f *File) close() error {
	f.mu.Lock()
	handle := f.handle
	f.handle, f.closed = nil, true
	f.mu.Unlock()
	if handle == nil {
		return nil
	}
	return handle.Close()
}
