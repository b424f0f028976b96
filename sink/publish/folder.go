package publish

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
)

// A Folder is one output folder while many goroutines fill it, with files and with subfolders of
// files.
type Folder struct {
	disk    disk
	path    string   // for messages
	root    *os.Root // no name of a subfolder can lead out of it
	self    *os.File // opened before the first write: syncfs reports the errors since then
	mark    Mark
	listing []byte // see Listing
	card    []byte // for CardMark: the text for people

	mu         sync.Mutex // guards the rest
	subfolders map[string]*Subfolder
	streams    []*Stream
	closed     bool
}

// A Subfolder is a folder in a Folder, or the Folder itself.
type Subfolder struct {
	folder *Folder
	name   string // "." for the folder itself
	prefix string // of paths in it: "" or "name/"

	mu     sync.Mutex // guards the rest
	totals totals
	err    error // the first failure, which Commit repeats
}

// openFolder opens the folder at partial, which was made for a target, and gives it the permissions
// of replaced, if that is not nil. The caller must close the folder, even after an error.
func openFolder(d disk, target string, mark Mark, partial string, replaced fs.FileInfo) (*Folder, error) {
	f := &Folder{disk: d, path: target, mark: mark, subfolders: map[string]*Subfolder{}}
	return f, d.do("openFolder", partial, func() (err error) {
		if f.root, err = os.OpenRoot(partial); err != nil {
			return err
		}
		f.self, err = f.root.Open(".")
		if err == nil && replaced != nil {
			err = setMode(f.self, folderMode(replaced))
		}
		return err
	})
}

// Subfolder returns the subfolder with the given name, which the first call makes; "" is the folder
// itself. It fails with fs.ErrInvalid if the name is that of the mark, or is not plain. A plain
// name is valid UTF-8, has no separator of any system, and is local on this one (see
// [filepath.IsLocal]).
func (d *Folder) Subfolder(name string) (*Subfolder, error) {
	if name != "" {
		if err := d.mark.checkName(name, true); err != nil {
			return nil, Failure(d.path, "naming a folder in it", err)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.subfolders[name]; s != nil {
		return s, nil
	}
	if d.closed {
		return nil, fs.ErrClosed
	}
	s := &Subfolder{folder: d, name: "."}
	if name != "" {
		s.name, s.prefix = name, name+"/"
		if err := d.disk.do("makeSubfolder", name, func() error { return d.root.Mkdir(name, 0o777) }); err != nil {
			return nil, Failure(d.path, "making folder "+name, err)
		}
	}
	d.subfolders[name] = s
	return s, nil
}

// checkName refuses names that are not plain file names (see [Folder.Subfolder]) and, at the top of
// a folder, the name of the mark.
func (mark Mark) checkName(name string, top bool) error {
	switch {
	case name == "." || !filepath.IsLocal(name) || strings.ContainsAny(name, `/\`+"\x00") || !utf8.ValidString(name):
		return fmt.Errorf("%w: %q is not a plain file name", fs.ErrInvalid, name)
	case top && name == mark.file():
		return fmt.Errorf("%w: %s is reserved for the folder itself", fs.ErrInvalid, name)
	}
	return nil
}

// SetCard sets the text of README.md for a folder with CardMark. It must end with a newline.
func (d *Folder) SetCard(text []byte) { d.card = text }

// Totals returns the number of files written to the folder and its subfolders, and their bytes. The
// mark does not count, nor do streams before [Set.Complete].
func (d *Folder) Totals() (files, bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.subfolders {
		s.mu.Lock()
		files, bytes = files+s.totals.files, bytes+s.totals.bytes
		s.mu.Unlock()
	}
	return files, bytes
}

// Listing returns the content of the mark or, for PartsMark, the names and sizes of the parts. It
// is nil before [Set.Complete].
func (d *Folder) Listing() []byte { return d.listing }

// WriteFile makes a file that holds data. The name must be new, and a plain file name (see
// [Folder.Subfolder]). WriteFile may be called by many goroutines at once. After an error the
// folder cannot be committed.
func (s *Subfolder) WriteFile(name string, data []byte) error {
	err := s.folder.mark.checkName(name, s.name == ".")
	if err == nil {
		err = s.folder.writeFile(s.prefix+name, data)
	}
	if err != nil {
		return s.fail("writing "+s.name+"/"+name, err)
	}
	digest := sha256.Sum256(data)
	s.count(name, int64(len(data)), digest[:])
	return nil
}

func (d *Folder) writeFile(path string, data []byte) error {
	return d.disk.do("writeFile", path, func() error { return writeFile(d.self, d.root, path, data) })
}

// count adds a complete file of size bytes to the totals.
func (s *Subfolder) count(name string, size int64, digest []byte) {
	content, listed := contentTerm(s.name, name, digest), nameTerm(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.totals.files++
	s.totals.bytes += size
	s.totals.content.add(content)
	s.totals.names.add(listed)
}

func (s *Subfolder) fail(doing string, err error) error {
	err = Failure(s.folder.path, doing, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	return err
}

// A Stream is a file of a Folder that is written piece by piece, by one goroutine at a time.
type Stream struct {
	File
	subfolder *Subfolder
	name      string
	digest    hash.Hash // nil after Close, as 100,000 hashes may take more than 100 MB
	sum       []byte    // the result of digest, set by Close
}

// Create starts a file. The name must be new, and a plain file name (see [Folder.Subfolder]); with
// PartsMark and CardMark [Set.Complete] then adds the hash or the number of shards to it (see
// [Mark]). After an error the folder cannot be committed.
func (s *Subfolder) Create(name string) (*Stream, error) {
	d, path := s.folder, s.prefix+name
	err := d.mark.checkName(name, s.name == ".")
	f := &Stream{File: File{disk: d.disk, path: d.path}, subfolder: s, name: name, digest: sha256.New()}
	if err == nil {
		f.handle, err = doValue(d.disk, "createStream", path, func() (*os.File, error) {
			return d.root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		})
	}
	if err != nil {
		return nil, s.fail("creating "+s.name+"/"+name, err)
	}
	if d.mark == PartsMark {
		f.digest = xxh3.New()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.streams = append(d.streams, f)
	if d.closed { // by Discard, meanwhile
		_ = f.File.close()
	}
	return f, nil
}

// Write appends p.
func (f *Stream) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	if n > 0 { // else the stream may be closed
		f.digest.Write(p[:n])
	}
	if err != nil {
		err = f.subfolder.fail("", err)
	}
	return n, err
}

// Name returns the name in the subfolder: the one given to Create, or after [Set.Complete] the
// final one.
func (f *Stream) Name() string { return f.name }

// Close completes the file. It becomes durable with its folder.
func (f *Stream) Close() error {
	handle, err := f.opened()
	if err == nil {
		_, err = f.checkAndClose(handle)
	}
	if err != nil {
		return f.subfolder.fail("completing "+f.name, err)
	}
	f.sum, f.digest = f.digest.Sum(nil), nil
	return nil
}

// complete renames the streams, writes the mark, makes everything durable and closes the folder.
func (d *Folder) complete() error {
	if _, err := d.Subfolder(""); err != nil { // every manifest has it
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.nameStreams(); err != nil {
		return err
	}
	m := &manifest{Format: manifestFormat, Version: manifestVersion, Subfolders: map[string]subfolderRecord{}}
	for _, s := range d.subfolders {
		if s.err != nil {
			return s.err
		}
		m.add(s.name, s.totals)
	}
	d.listing = d.mark.text(m, d.card)
	if err := d.writeFile(d.mark.file(), d.listing); err != nil {
		return fmt.Errorf("%s: %w", d.mark.file(), bare(err))
	}
	if d.mark == PartsMark { // the hashes are in the names
		var parts []string
		for _, f := range d.streams {
			parts = append(parts, fmt.Sprintf("%s %d\n", f.name, f.count))
		}
		slices.Sort(parts)
		d.listing = []byte(strings.Join(parts, ""))
	}
	sync := func() error { return syncTree(d.self, d.root) }
	if err := d.disk.do("syncTree", d.path, sync); err != nil {
		return fmt.Errorf("sync: %w", bare(err))
	}
	return d.closeLocked()
}

var errOpenStream = errors.New("a file in it is not complete")

// nameStreams gives the streams their final names, and adds them to the totals. It repeats a rename
// that a signal interrupted, as happens on network file systems; [os.Root.Rename] does not.
func (d *Folder) nameStreams() error {
	if slices.ContainsFunc(d.streams, func(f *Stream) bool { return f.sum == nil }) {
		return errOpenStream
	}
	for i, name := range d.mark.names(d.streams) {
		f := d.streams[i]
		if from, to := f.subfolder.prefix+f.name, f.subfolder.prefix+name; from != to {
			rename := func() error { return ignoringEINTR(func() error { return d.root.Rename(from, to) }) }
			if err := d.disk.do("renameStream", from, rename); err != nil {
				return err
			}
			f.name = name
		}
		f.subfolder.count(f.name, f.File.count, f.sum)
	}
	return nil
}

// names returns the final names of all streams of a folder.
func (mark Mark) names(all []*Stream) []string {
	// A name such as part-00000.csv.gz ends with a number, 00000, and extensions, .csv.gz. The part
	// before the number may have dots, too. Shards of one split have the same name before the
	// number.
	numberStart := func(f *Stream) int { return strings.LastIndexByte(f.name, '-') + 1 }
	shards := map[string]int{}
	for _, f := range all {
		shards[f.subfolder.prefix+f.name[:numberStart(f)]]++
	}
	names := make([]string, len(all))
	for i, f := range all {
		start, stem, ext := numberStart(f), f.name, ""
		if dot := strings.IndexByte(f.name[start:], '.'); dot >= 0 {
			stem, ext = f.name[:start+dot], f.name[start+dot:]
		}
		switch mark {
		case PartsMark:
			names[i] = stem + "-" + hex.EncodeToString(f.sum) + ext
		case CardMark:
			names[i] = fmt.Sprintf("%s-of-%05d%s", stem, shards[f.subfolder.prefix+f.name[:start]], ext)
		default:
			names[i] = f.name
		}
	}
	return names
}

// close closes all descriptors, once. A WriteFile that is stuck keeps its own open until it
// returns.
func (d *Folder) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.closeLocked()
}

func (d *Folder) closeLocked() error {
	if d.closed || d.root == nil {
		return nil
	}
	d.closed = true
	var errs []error
	for _, f := range d.streams {
		errs = append(errs, f.close())
	}
	errs = append(errs, d.disk.do("closeFolder", d.path, func() error {
		return errors.Join(d.self.Close(), d.root.Close())
	}))
	return errors.Join(errs...)
}
