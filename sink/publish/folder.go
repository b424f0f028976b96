package publish

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
)

// A Folder is one output folder while it is filled: files, and class folders of files, from many goroutines at once.
type Folder struct {
	path   string // for messages
	mark   Mark
	handle folderHandle
	sealed []byte // the mark, set by Commit
	card   []byte // of CardMark: the text for people

	mu      sync.Mutex // of what follows
	classes map[string]*Class
	streams []*Stream
	closed  bool
}

// A Class is a subfolder of a Folder, or the Folder itself.
type Class struct {
	folder *Folder
	path   string // the folder's, for messages
	name   string // "." for the folder itself
	prefix string // of names in it: "" or "class/"

	mu    sync.Mutex // of what follows
	tally tally
	err   error // the first failure: Commit repeats it
}

func newFolder(t Target, handle folderHandle) *Folder {
	return &Folder{path: t.Path, mark: t.Mark, handle: handle, classes: map[string]*Class{}}
}

// Class returns the subfolder name, which is made when it is first asked for; "" is the folder itself. A name must be one that every
// system takes as a plain name.
func (d *Folder) Class(name string) (*Class, error) {
	if name != "" {
		if err := checkName(name); err != nil {
			return nil, failure(d.path, "naming a folder in it", err)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.classes[name]; c != nil {
		return c, nil
	}
	if d.closed {
		return nil, fs.ErrClosed
	}
	if name == d.mark.file() {
		return nil, failure(d.path, "naming a folder in it", d.mark.reserved())
	}
	c := &Class{folder: d, path: d.path, name: "."}
	if name != "" {
		c.name, c.prefix = name, name+"/"
		if err := d.handle.makeDir(name); err != nil {
			return nil, failure(d.path, "making folder "+name, err)
		}
	}
	d.classes[name] = c
	return c, nil
}

// SetCard gives the text of the folder's README.md, which ends with an end of line.
func (d *Folder) SetCard(text []byte) { d.card = text }

// Totals returns how many files were written to the folder, in all its classes, and their bytes; the mark does not count, nor a
// stream that is not closed.
func (d *Folder) Totals() (files, bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.classes {
		c.mu.Lock()
		files, bytes = files+c.tally.files, bytes+c.tally.bytes
		c.mu.Unlock()
	}
	return files, bytes
}

// Sealed returns the folder's mark as Commit wrote it, the names of the parts for PartsMark; nil before that.
func (d *Folder) Sealed() []byte { return d.sealed }

// checkName refuses what is no plain base name on some system.
func checkName(name string) error {
	plain := name != "." && filepath.IsLocal(name) && !strings.ContainsAny(name, `/\`+"\x00") && utf8.ValidString(name)
	if !plain {
		return fmt.Errorf("%w: %q is not a plain file name", fs.ErrInvalid, name)
	}
	return nil
}

// WriteFile makes the file name, which must be new and a plain base name, with data in it. It is called by many goroutines at once. After
// an error the folder cannot be committed.
func (c *Class) WriteFile(name string, data []byte) error {
	err := c.checkFile(name)
	if err == nil {
		err = c.folder.handle.writeFile(c.prefix+name, data)
	}
	if err != nil {
		return c.fail(failure(c.path, "writing "+c.name+"/"+name, err))
	}
	digest := sha256.Sum256(data)
	c.count(name, int64(len(data)), digest[:])
	return nil
}

// checkFile refuses names that a file in c cannot have.
func (c *Class) checkFile(name string) error {
	if mark := c.folder.mark; c.name == "." && name == mark.file() {
		return mark.reserved()
	}
	return checkName(name)
}

// count adds a complete file, of size bytes, to the tally.
func (c *Class) count(name string, size int64, digest []byte) {
	content, listed := contentTerm(c.name, name, digest), nameTerm(name)
	c.mu.Lock()
	c.tally.add(size, content, listed)
	c.mu.Unlock()
}

func (c *Class) fail(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
	return err
}

// finish names the streamed files, writes the mark, makes everything durable and closes the folder.
func (d *Folder) finish() error {
	if _, err := d.Class(""); err != nil { // it is in every manifest
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.nameStreams(); err != nil {
		return err
	}
	tallies := map[string]tally{}
	for _, c := range d.classes {
		if c.err != nil {
			return c.err
		}
		tallies[c.name] = c.tally
	}
	text := d.mark.text(newManifest(tallies), d.card)
	if err := d.handle.writeFile(d.mark.file(), text); err != nil {
		return fmt.Errorf("%s: %w", d.mark.file(), bare(err))
	}
	if d.sealed = text; d.mark == PartsMark {
		var lines []string
		for _, f := range d.streams {
			lines = append(lines, partLine(f.name, f.file.count))
		}
		d.sealed = sealParts(lines)
	}
	if err := d.handle.sync(); err != nil {
		return fmt.Errorf("sync: %w", bare(err))
	}
	return d.closeLocked()
}

// close lets go of all descriptors, once; a WriteFile that is stuck meanwhile keeps its own alive until it returns.
func (d *Folder) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.closeLocked()
}

func (d *Folder) closeLocked() error {
	if d.closed {
		return nil
	}
	d.closed = true
	var errs []error
	for _, f := range d.streams {
		errs = append(errs, f.file.close())
	}
	errs = append(errs, d.handle.Close())
	return errors.Join(errs...)
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
