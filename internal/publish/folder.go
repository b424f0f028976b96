package publish

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"
)

// marks are the files that a folder has besides those that are written to it.
var marks = map[Kind]string{Parts: "_SUCCESS", Hub: "README.md"}

// A Folder is one output folder while many goroutines fill it with files and subfolders of files.
type Folder struct {
	Card []byte // the text of README.md, for the kind Hub
	// Files and Bytes are of what was written, without _SUCCESS and README.md; [Set.Complete] adds
	// the streams. They are valid while no write is running.
	Files, Bytes int64

	disk disk
	path string   // for messages
	root *os.Root // no name of a subfolder can lead out of it
	self *os.File // opened before the first write: syncfs reports the errors since then
	kind Kind

	mu         sync.Mutex      // guards the rest, Files and Bytes
	subfolders map[string]bool // those that are made
	streams    []*Stream
	listing    uint64 // of its files and subfolders, see list
	err        error  // the first failure, which Commit repeats
	closed     bool
}

// create makes the folder at partial, as File.create does; its owner can always fill and delete it.
// It must be closed, even after an error.
func (d *Folder) create(partial string, old fs.FileInfo) (err error) {
	mode := fs.FileMode(0o777)
	if old != nil {
		mode = old.Mode()&(fs.ModePerm|fs.ModeSetgid|fs.ModeSticky) | 0o700
	}
	d.subfolders = map[string]bool{}
	if err = os.Mkdir(partial, mode.Perm()); err == nil {
		d.root, err = os.OpenRoot(partial)
	}
	if err == nil {
		d.self, err = d.root.Open(".")
	}
	if err == nil && old != nil {
		_ = d.self.Chmod(mode)
	}
	return err
}

// add calls effect, which makes file, a path as WriteFile has it, in a subfolder made if it is new.
func (d *Folder) add(operation, file string, effect func() error) error {
	names := strings.Split(file, "/")
	isPlain := func(name string) bool {
		return name != "." && fs.ValidPath(name) && filepath.IsLocal(name) && !strings.ContainsAny(name, "\\\x00")
	}
	if last := len(names) - 1; last > 1 || !isPlain(names[0]) || !isPlain(names[last]) {
		return fmt.Errorf("%w: %q is not a plain file name", fs.ErrInvalid, file)
	}
	if len(names) > 1 {
		if err := d.makeSubfolder(names[0]); err != nil {
			return failure(d.path, "making folder "+names[0], err)
		}
	}
	return d.disk(operation, file, effect)
}

func (d *Folder) makeSubfolder(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.subfolders[name] {
		return nil
	}
	err := d.disk("makeSubfolder", name, func() error { return d.root.Mkdir(name, 0o777) })
	if err == nil {
		d.subfolders[name] = true
		d.listing += term(name+"/", 0)
	}
	return err
}

// WriteFile makes a file that holds data. Its path must be new: a name, or that of a subfolder, a
// slash and a name. It fails with fs.ErrInvalid if a name is not plain. A plain name is valid
// UTF-8, has no separator of any system, and is local on this one (see [filepath.IsLocal]). Many
// goroutines may call it. After an error the folder cannot be committed.
func (d *Folder) WriteFile(path string, data []byte) error {
	if err := d.writeFile(path, data); err != nil {
		return d.fail("writing "+path, err)
	}
	d.count(path, int64(len(data)))
	return nil
}

func (d *Folder) writeFile(path string, data []byte) error {
	return d.add("writeFile", path, func() error { return writeFile(d.self, d.root, path, data) })
}

// count adds a complete file of size bytes to the totals.
func (d *Folder) count(path string, size int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Files++
	d.Bytes += size
	d.listing += term(path, size)
}

// fail returns err with the path of the folder, and keeps the first error.
func (d *Folder) fail(doing string, err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err = failure(d.path, doing, err)
	d.err = cmp.Or(d.err, err)
	return err
}

// A Stream is a file of a Folder that is written piece by piece, by one goroutine at a time. After
// an error the folder cannot be committed.
type Stream struct {
	File
	Name   string       // path in the folder, that of Create or, after [Set.Complete], the final one
	digest *xxh3.Hasher // nil after Close, as 100,000 hashes may take more than 100 MB
	sum    []byte       // the result of digest, set by Close
}

// Create starts a file at a path like those of [Folder.WriteFile]. [Set.Complete] may add to it
// (see [Kind]). After an error the folder cannot be committed.
func (d *Folder) Create(path string) (*Stream, error) {
	f := &Stream{File: File{disk: d.disk, path: d.path, inFolder: true}, Name: path, digest: xxh3.New()}
	err := d.add("createStream", path, func() (err error) {
		f.handle, err = d.root.OpenFile(f.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		return err
	})
	if err != nil {
		return nil, d.fail("creating "+path, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.streams = append(d.streams, f)
	return f, nil
}

// Write appends p.
func (f *Stream) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	if n > 0 { // else the stream may be closed
		f.digest.Write(p[:n])
	}
	return n, err
}

// Close completes the file. It becomes durable with its folder.
func (f *Stream) Close() error {
	if err := f.complete(); err != nil {
		return f.fail("completing "+f.Name, err)
	}
	f.sum, f.digest = f.digest.Sum(nil), nil
	return nil
}

// complete renames the streams, adds what the kind has, makes everything durable and closes the
// folder. All writes have returned.
func (d *Folder) complete() error {
	if err := cmp.Or(d.err, d.nameStreams()); err != nil {
		return err
	}
	if mark := marks[d.kind]; mark != "" {
		if err := d.writeFile(mark, d.Card); err != nil {
			return fmt.Errorf("%s: %w", mark, err)
		}
		d.listing += term(mark, int64(len(d.Card)))
	}
	if err := d.disk("syncTree", d.path, func() error { return syncTree(d.self, d.root) }); err != nil {
		return err
	}
	return d.close()
}

// nameStreams gives the streams their final names, and adds them to the totals. A name such as
// train-00000.csv.gz ends with a number, 00000, and extensions, .csv.gz. What is before the number,
// which may have dots, too, is the same for all shards of a split.
func (d *Folder) nameStreams() error {
	shards := map[string]int{}
	for _, f := range d.streams {
		if f.err != nil || f.sum == nil {
			return cmp.Or(f.err, errors.New("a file in it is not complete"))
		}
		shards[f.split()]++
	}
	for _, f := range d.streams {
		end := len(f.split()) + strings.IndexByte(f.Name[len(f.split()):]+".", '.') // of the number
		name := f.Name
		switch d.kind {
		case Parts:
			name = fmt.Sprintf("%s-%x%s", name[:end], f.sum, name[end:])
		case Hub:
			name = fmt.Sprintf("%s-of-%05d%s", name[:end], shards[f.split()], name[end:])
		}
		if name != f.Name { // os.Root.Rename does not repeat a rename that a signal interrupted
			rename := func() error { return ignoringEINTR(func() error { return d.root.Rename(f.Name, name) }) }
			if err := d.disk("renameStream", f.Name, rename); err != nil {
				return err
			}
			f.Name = name
		}
		d.count(name, f.File.Count)
	}
	return nil
}

// split returns what is before the number in the name.
func (f *Stream) split() string { return f.Name[:strings.LastIndexAny(f.Name, "-/")+1] }

// close closes all descriptors, once. A WriteFile that is stuck keeps its own until it returns.
func (d *Folder) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || d.root == nil {
		return nil
	}
	d.closed = true
	for _, f := range d.streams {
		_ = f.close() // of a stream that was not completed
	}
	return d.disk("closeFolder", d.path, func() error { return errors.Join(d.self.Close(), d.root.Close()) })
}
