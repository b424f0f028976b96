package publish

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/idxport/idxport/internal/text"
)

// A Target is one output.
type Target struct {
	Path   string
	Folder bool // a folder of files, published as one; otherwise a file
	Kind   Kind // of a folder
	// Key is 16 hexadecimal digits for the inputs and options (see [UpToDate]), or empty.
	Key string
}

// A Kind says what a folder holds besides the files written to it, and how its streams are named.
type Kind int

const (
	// Plain is a folder with nothing else, for images.
	Plain Kind = iota
	// Parts has the empty file _SUCCESS, as the folders of Spark and Hadoop. A stream gets a hash
	// of its content: part-00000.parquet becomes part-00000-0123456789abcdef.parquet. So a reader
	// that has listed an old folder never finds a new part under one of its names.
	Parts
	// Hub has README.md, the text of [Folder.Card]. Streams are shards: train-00000.parquet
	// becomes train-00000-of-00002.parquet beside train-00001.parquet.
	Hub
)

// An output is the state of one target.
type output struct {
	target   Target
	real     string      // its path, absolute and without symbolic links; if direct, target.Path
	direct   bool        // a device, FIFO or socket; sockets are refused
	info     fs.FileInfo // of the existing file or folder, or nil
	occupied bool        // something exists there, other than an empty folder where a folder is to be published

	content interface { // a *File or *Folder
		create(partial string, old fs.FileInfo) error // with the permissions of old, if not nil
		complete() error
		close() error
	}
	lock    *os.File // nil if the file system has no locks
	partial string   // the path that Discard removes, or ""
	record  string   // the path of a record that Discard removes, or ""
	stale   []string // what Commit deletes: records from before the run, and the replaced folder
}

// locate finds the place of a target.
func locate(t Target) (*output, error) {
	if err := refuseNames(t.Path); err != nil {
		return nil, err
	}
	followed, statErr := os.Stat(t.Path)
	if statErr == nil && followed.Mode()&(fs.ModeDevice|fs.ModeCharDevice|fs.ModeNamedPipe|fs.ModeSocket) != 0 {
		return &output{target: t, real: t.Path, info: followed, direct: true}, nil
	}
	out := &output{target: t}
	full, err := absolute(t.Path)
	if err == nil {
		out.real, err = follow(full)
	}
	if err == nil {
		out.info, err = system.lstat(out.real)
	}
	dir := filepath.Dir(full) // of /dev/stdout, /dev/fd/1, /proc/self/fd/1
	isOpen := (dir == "/dev" || dir == "/dev/fd" || strings.HasPrefix(dir, "/proc/")) && out.real != full
	switch {
	case errors.Is(statErr, syscall.ELOOP):
		return nil, statErr
	case errors.Is(err, fs.ErrNotExist): // not even the root exists
		return nil, refusal("the current folder or the drive does not exist", "name an existing folder")
	case err == nil && statErr == nil && (out.info == nil || isOpen):
		return nil, refusal("it leads to a file that is open, or was deleted", "name a file, or write to -")
	}
	return out, err
}

// absolute joins path to the current folder. Unlike filepath.Abs it keeps "..", except on Windows:
// after a symbolic link, ".." is the parent of the folder that the link leads to.
func absolute(path string) (string, error) {
	if runtime.GOOS == "windows" {
		return filepath.Abs(path)
	}
	if filepath.IsAbs(path) {
		return path, nil
	}
	work, err := os.Getwd()
	return work + string(filepath.Separator) + path, err
}

// follow resolves the symbolic links of a path whose last elements need not exist.
func follow(path string) (string, error) {
	for range 40 { // as many links as Linux follows: one to gone/../itself has no end
		real, err := filepath.EvalSymlinks(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return real, err
		}
		dir, base := filepath.Split(strings.TrimRight(path, string(filepath.Separator)))
		if dir == "" || base == "" {
			return "", fs.ErrNotExist
		}
		if dir, err = follow(dir); err != nil {
			return "", err
		}
		if _, err := os.Lstat(dir); err != nil && filepath.Dir(dir) == dir { // there is no such drive
			return "", fs.ErrNotExist
		}
		real = filepath.Join(dir, base)
		link, err := os.Readlink(real)
		if err != nil { // nothing exists there
			return real, nil
		}
		if path = link; !filepath.IsAbs(link) {
			path = dir + string(filepath.Separator) + link
		}
	}
	return "", syscall.ELOOP
}

// inspect looks at the target again.
func (out *output) inspect(d disk) (err error) {
	out.info, err = d.lstat(out.real)
	out.occupied = out.info != nil
	if out.occupied && out.target.Folder && out.info.IsDir() {
		entries, listErr := resultOn(d, "readDir", os.ReadDir, out.real)
		err, out.occupied = listErr, listErr != nil || len(entries) > 0
	}
	return err
}

// The parts of hidden names after the name of the target, and the limit; see the package comment.
const (
	lockSuffix    = ".idxport"
	hiddenInfix   = ".idxport-"
	partialSuffix = ".partial"
	oldSuffix     = ".old"
	recordSuffix  = ".made"
	maxName       = 255 // bytes, the limit of file systems
)

// beside returns the path of the hidden name .<base><tail> beside the target. If the name is too
// long, a hash of base replaces base.
func (out *output) beside(tail string) string {
	dir, base := filepath.Split(out.real)
	if len("."+base+tail) > maxName {
		base = fmt.Sprintf("%x", sha256.Sum256([]byte(base)))
	}
	return dir + "." + base + tail
}

// newHidden returns a new hidden path beside the target. Its 64 random bits make it different for
// each run, even on file systems without locks.
func (out *output) newHidden(suffix string) string {
	return out.beside(fmt.Sprintf("%s%016x%s", hiddenInfix, rand.Uint64(), suffix))
}

// A record is one beside a target, see the package comment.
type record struct{ path, listing, key, content string }

var hiddenTail = text.Pattern(`\.idxport-([0-9a-f]{16})(?:\.(?:partial|old)|-([0-9a-f]{16})-([0-9a-f]{16})\.made)$`)

// siblings returns the records beside the target, and the paths of what killed runs left.
func (out *output) siblings(d disk) (records []record, left []string, err error) {
	dir, _ := filepath.Split(out.real)
	entries, err := resultOn(d, "readDir", os.ReadDir, dir)
	for _, entry := range entries {
		path := dir + entry.Name()
		m := hiddenTail().FindStringSubmatch(path)
		switch {
		case m == nil || path != out.beside(m[0]):
		case m[2] != "":
			records = append(records, record{path, m[1], m[2], m[3]})
		default:
			left = append(left, path)
		}
	}
	return records, left, err
}

// refuseNames refuses, on Windows, a path with a name that it cannot store, but not the output NUL.
func refuseNames(path string) error {
	names := strings.Split(filepath.ToSlash(path[len(filepath.VolumeName(path)):]), "/")
	for i, name := range names {
		if runtime.GOOS == "windows" && !text.Storable(name) && !(i == len(names)-1 && strings.EqualFold(name, "nul")) {
			return refusal(fmt.Sprintf("Windows cannot store the name %q", name),
				`leave out <>:"|?*, dots and spaces at its end, devices, and more than 255 characters`)
		}
	}
	return nil
}

// refuse refuses what Options.Overwrite does not allow either, as a target that is, contains or is
// inside an input, whatever its spelling, or another output; others are those before it.
func (out *output) refuse(inputs []string, others []*output) error {
	folder, isDir := out.target.Folder, out.info != nil && out.info.IsDir()
	const overlaps = "it is, contains or is inside the "
	for _, input := range inputs {
		real, _ := filepath.EvalSymlinks(input) // "" after an error, where nothing is
		info, err := os.Stat(real)
		if err == nil && !out.direct && (isAbove(out.info, real) || info.IsDir() && isAbove(info, out.real)) {
			return refusal(overlaps+"input "+input, "name a new file or folder outside it")
		}
	}
	switch {
	case out.direct && (folder || out.info.Mode()&fs.ModeSocket != 0):
		return refusal("it is a device, FIFO or socket", "name a new file or folder")
	case out.direct:
		return nil
	case isDir && !folder:
		return refusal("it is a folder, expected a file", "delete it, or choose another name")
	case folder && out.info != nil && !isDir:
		return refusal("it is a file, expected a folder", "delete it, or choose another name")
	case isDir && isAbove(out.info, "."):
		return refusal("it is the current folder, or contains it", "name a new folder inside it")
	}
	isIn := func(a, b *output) bool {
		return a.real == b.real || strings.HasPrefix(a.real, b.real+string(filepath.Separator))
	}
	for _, other := range others {
		if os.SameFile(out.info, other.info) || isIn(out, other) || isIn(other, out) {
			return refusal(overlaps+"output "+other.target.Path, "give every output a place of its own")
		}
	}
	// Programs that read all files below a folder take a table and shards beside it for one.
	above := filepath.Dir(out.real)
	parts, _ := fs.Glob(os.DirFS(above), "part-*-"+strings.Repeat("[0-9a-f]", 16)+".*")
	shards, _ := fs.Glob(os.DirFS(above), "*-?????-of-?????"+filepath.Ext(out.real))
	below, _ := fs.Glob(os.DirFS(above), "data/*-?????-of-?????"+filepath.Ext(out.real))
	isMade := func(hub string) bool { made, _, _ := (&output{real: hub}).siblings(system); return made != nil }
	if parts != nil || below != nil && isMade(above) || shards != nil && isMade(filepath.Dir(above)) {
		return refusal("its folder has part files or shards: programs read all in it as one", "use another folder")
	}
	return nil
}

// isAbove reports whether info describes the file or folder at path, or a folder above it.
func isAbove(info fs.FileInfo, path string) bool {
	path, err := filepath.Abs(path)
	for last := ""; err == nil && path != last; last, path = path, filepath.Dir(path) {
		if found, _ := os.Stat(path); os.SameFile(info, found) { // found is nil after an error
			return true
		}
	}
	return false
}
