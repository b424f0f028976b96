package source

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A File is an open input: a file of this machine, which is an *os.File, or an object elsewhere.
type File interface {
	io.Reader
	io.ReaderAt
	io.Seeker
	io.Closer
	// Stat is what the file is now.
	Stat() (fs.FileInfo, error)
}

// Files is where inputs are, by the names that users give.
type Files interface {
	Open(name string) (File, error)
	Stat(name string) (fs.FileInfo, error)
	// ReadDir lists a folder in the order of names; if most > 0, no more entries than that, whichever come first.
	ReadDir(name string, most int) ([]fs.DirEntry, error)
}

// Local is the files of this machine.
type Local struct{}

// Open opens a file.
func (Local) Open(name string) (File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err // not a nil *os.File, which is no nil File
	}
	return f, nil
}

// Stat tells what name is.
func (Local) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// ReadDir lists a folder.
func (Local) ReadDir(name string, most int) ([]fs.DirEntry, error) {
	if most <= 0 {
		return os.ReadDir(name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	entries, err := f.ReadDir(most)
	if err == io.EOF {
		err = nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// In is f, or Local if that is nil.
func In(f Files) Files {
	if f == nil {
		return Local{}
	}
	return f
}

// url matches a name that is no path: Clean, which Join and Dir of package filepath call, would take a slash of its two away.
var url = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]{2,}://`) })

// Under is the entry called name of the folder dir, which may be a URL.
func Under(dir, name string) string {
	if url().MatchString(dir) {
		return strings.TrimSuffix(dir, "/") + "/" + name
	}
	return filepath.Join(dir, name)
}

// Above is the folder that holds the file called name, which may be a URL.
func Above(name string) string {
	if url().MatchString(name) {
		return name[:strings.LastIndexByte(name, '/')+1]
	}
	return filepath.Dir(name)
}

// Base is the last element of name, which may be a URL.
func Base(name string) string {
	if url().MatchString(name) {
		return name[strings.LastIndexByte(name, '/')+1:]
	}
	return filepath.Base(name)
}
