package publish

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"sync"
	"syscall"
)

// A File is one output file while it is written, from start to end and by one goroutine at a time.
type File struct {
	Count int64 // bytes written; valid while no Write is running

	disk     disk
	path     string // of the target: for messages, and to open a device or FIFO
	direct   bool   // path is a device or FIFO; the first Write opens it, as a FIFO waits for its reader
	inFolder bool   // it is made durable with its folder
	started  int64  // bytes whose writeback was started
	err      error  // the first failure, which Commit repeats

	// mu guards the rest. It is not locked during a system call that Discard might have to wait
	// for, as such a call may be stuck.
	mu     sync.Mutex
	handle *os.File // nil before a direct file is opened, and after close
	closed bool
}

// create makes the file at partial, open for writing even if its permissions forbid that. Those of
// the old file, if there is one, are inherited, so that nobody can read the new one who could not
// read the old one; the umask does not apply. Some file systems have no permissions to change.
func (f *File) create(partial string, old fs.FileInfo) (err error) {
	mode := fs.FileMode(0o666)
	if old != nil {
		mode = old.Mode().Perm()
	}
	f.handle, err = os.OpenFile(partial, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err == nil && old != nil {
		_ = f.handle.Chmod(mode)
	}
	return err
}

// After writebackStep bytes, the kernel is asked to start storing them, so that most of the work is
// done before fsync. For partSize see writeParts.
const writebackStep, partSize = 8 << 20, 128 << 10

// Write appends p. The file cannot be committed after an error, such as fs.ErrClosed after Discard.
func (f *File) Write(p []byte) (n int, err error) {
	handle, err := f.opened()
	if err == nil {
		err = f.disk("write", f.path, func() (err error) { n, err = f.writeParts(handle, p); return err })
	}
	f.Count += int64(n)
	if err != nil {
		return n, f.fail("writing", err)
	}
	if f.Count-f.started >= writebackStep && !f.direct {
		startWriteback(handle, f.started, f.Count-f.started)
		f.started = f.Count
	}
	return n, nil
}

// writeParts writes p by calls that end at multiples of partSize, as pages do, and take some 50 µs:
// after longer ones, Go's runtime watches all threads, and readers of small files are slowed down.
func (f *File) writeParts(handle *os.File, p []byte) (n int, err error) {
	for m := 0; err == nil && n < len(p); n += m {
		m, err = handle.Write(p[n:min(len(p), n+partSize-int(f.Count+int64(n))%partSize)])
	}
	return n, err
}

// fail returns err with the path, and keeps the first error.
func (f *File) fail(doing string, err error) error {
	err = failure(f.path, doing, err)
	f.err = cmp.Or(f.err, err)
	return err
}

// opened returns the handle; it opens a direct target if necessary.
func (f *File) opened() (*os.File, error) {
	f.mu.Lock()
	handle, closed := f.handle, f.closed
	f.mu.Unlock()
	switch {
	case closed:
		return nil, fs.ErrClosed
	case handle != nil:
		return handle, nil
	}
	handle, err := os.OpenFile(f.path, os.O_WRONLY|syscall.O_NOCTTY, 0)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil && f.closed { // by Discard, meanwhile
		return nil, errors.Join(fs.ErrClosed, handle.Close())
	}
	f.handle = handle
	return handle, err
}

// complete syncs the file unless it is a device or FIFO, checks its size and closes it.
func (f *File) complete() error {
	if f.err != nil {
		return f.err
	}
	handle, err := f.opened()
	if err == nil && !f.direct && !f.inFolder {
		err = f.disk("sync", f.path, handle.Sync)
	}
	if err != nil {
		return err
	}
	info, err := resultOn(f.disk, "stat", func(string) (fs.FileInfo, error) { return handle.Stat() }, f.path)
	if err == nil && !f.direct && info.Size() != f.Count {
		err = incomplete(f.Count, info.Size())
	}
	return cmp.Or(err, f.close())
}

// close closes the file once. A Write that is stuck keeps the descriptor open until it returns.
func (f *File) close() error {
	f.mu.Lock()
	handle := f.handle
	f.handle, f.closed = nil, true
	f.mu.Unlock()
	if handle == nil {
		return nil
	}
	return f.disk("close", f.path, handle.Close)
}
