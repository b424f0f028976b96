package publish

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxOpenClasses is how many class folders keep a descriptor; those beyond it are reached by a longer path.
const maxOpenClasses = 256

// A Folder is one output folder while it is filled: files, and class folders of files, from many goroutines at once.
type Folder struct {
	path     string // for messages
	handle   folderHandle
	manifest []byte // set by Commit

	mu      sync.Mutex // of what follows
	classes map[string]*Class
	open    []*Class
	closed  bool
}

// A Class is a subfolder of a Folder, or the Folder itself.
type Class struct {
	path   string // the folder's, for messages
	name   string // "." for the folder itself
	handle classHandle

	mu    sync.Mutex // of what follows
	tally tally
	err   error // the first failure: Commit repeats it
}

func newFolder(path string, handle folderHandle) *Folder {
	return &Folder{path: path, handle: handle, classes: map[string]*Class{}}
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
	if name == manifestName {
		return nil, failure(d.path, "naming a folder in it", errReserved)
	}
	handle, err := d.handle.class(name, name != "", len(d.open) < maxOpenClasses)
	if err != nil {
		return nil, failure(d.path, "making folder "+name, err)
	}
	c := &Class{path: d.path, name: name, handle: handle}
	if name == "" {
		c.name = "."
	}
	d.classes[name] = c
	d.open = append(d.open, c)
	return c, nil
}

var errReserved = fmt.Errorf("%w: %s is the manifest's name", fs.ErrInvalid, manifestName)

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
	err := checkName(name)
	if err == nil && c.name == "." && name == manifestName {
		err = errReserved
	}
	if err == nil {
		err = c.handle.writeFile(name, data)
	}
	if err != nil {
		return c.fail(failure(c.path, "writing "+c.name+"/"+name, err))
	}
	content, listed := contentTerm(c.name, name, data), nameTerm(name)
	c.mu.Lock()
	c.tally.add(int64(len(data)), content, listed)
	c.mu.Unlock()
	return nil
}

func (c *Class) fail(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
	return err
}

// finish writes the manifest, makes everything durable and closes the folder. It returns the manifest's bytes.
func (d *Folder) finish() ([]byte, error) {
	root, err := d.Class("")
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	tallies := map[string]tally{}
	for _, c := range d.classes {
		if c.err != nil {
			return nil, c.err
		}
		tallies[c.name] = c.tally
	}
	text := newManifest(tallies).encode()
	if err := root.handle.writeFile(manifestName, text); err != nil {
		return nil, fmt.Errorf("%s: %w", manifestName, bare(err))
	}
	if err := d.handle.sync(); err != nil {
		return nil, fmt.Errorf("sync: %w", bare(err))
	}
	return text, d.closeLocked()
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
	for _, c := range d.open {
		errs = append(errs, c.handle.Close())
	}
	errs = append(errs, d.handle.Close())
	return errors.Join(errs...)
}
