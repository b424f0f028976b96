package publish

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"
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

// A Stream is a file of a Folder that is written piece by piece, by one goroutine at a time.
type Stream struct {
	class  *Class
	name   string
	file   *File
	digest hash.Hash // nil once it is closed: there may be 100,000 streams, and some hashes take more than a kilobyte
	sum    []byte    // of digest, set by Close
}

// Create begins the file name in c, which must be new and a plain base name. Under PartsMark and CardMark it is a name to be completed: see [Mark].
// After an error the folder cannot be committed.
func (c *Class) Create(name string) (*Stream, error) {
	err := c.checkFile(name)
	var handle fileHandle
	if err == nil {
		handle, err = c.folder.handle.createFile(c.prefix + name)
	}
	if err != nil {
		return nil, c.fail(failure(c.path, "creating "+c.name+"/"+name, err))
	}
	f := &Stream{class: c, name: name, file: &File{path: c.path, handle: handle}, digest: sha256.New()}
	if c.folder.mark == PartsMark {
		f.digest = xxh3.New()
	}
	c.folder.mu.Lock()
	defer c.folder.mu.Unlock()
	c.folder.streams = append(c.folder.streams, f)
	if c.folder.closed { // by Discard, meanwhile
		_ = f.file.close()
	}
	return f, nil
}

// Write appends p.
func (f *Stream) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	if n > 0 { // so it is not closed
		f.digest.Write(p[:n])
	}
	if err != nil {
		return n, f.class.fail(err)
	}
	return n, nil
}

// Name is what the file is called in its class: the name it was created with or, once Commit has returned, the name that the mark wants.
func (f *Stream) Name() string { return f.name }

// Count returns how many bytes were written; no Write may be running.
func (f *Stream) Count() int64 { return f.file.Count() }

// Close completes the file. It becomes durable with its folder.
func (f *Stream) Close() error {
	handle, err := f.file.opened()
	if err == nil {
		_, err = f.file.complete(handle)
	}
	if err != nil {
		return f.class.fail(failure(f.class.path, "completing "+f.name, err))
	}
	f.sum, f.digest = f.digest.Sum(nil), nil
	return nil
}

var errOpenStream = errors.New("a file in it is not complete")

// nameStreams gives the streams the names that the mark wants, and counts them.
func (d *Folder) nameStreams() error {
	if slices.ContainsFunc(d.streams, func(f *Stream) bool { return f.sum == nil }) {
		return errOpenStream
	}
	names := d.mark.names(d.streams)
	for i, f := range d.streams {
		if names[i] != f.name {
			if err := d.handle.rename(f.class.prefix+f.name, f.class.prefix+names[i]); err != nil {
				return err
			}
			f.name = names[i]
		}
		f.class.count(f.name, f.file.count, f.sum)
	}
	return nil
}
