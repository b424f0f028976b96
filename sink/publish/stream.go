package publish

import (
	"crypto/sha256"
	"errors"
	"hash"
	"path"
	"slices"

	"github.com/zeebo/xxh3"
)

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
		handle, err = c.folder.handle.createFile(path.Join(c.name, name))
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
			if err := d.handle.rename(path.Join(f.class.name, f.name), path.Join(f.class.name, names[i])); err != nil {
				return err
			}
			f.name = names[i]
		}
		f.class.count(f.name, f.file.count, f.sum)
	}
	return nil
}
