package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idxport/idxport/source/idx"
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

// OpenFile opens the file called name in files, which may be nil, and tells what it is. A folder is
// an error, which says that kind was expected, such as "a CSV file".
func OpenFile(files Files, name, kind string) (File, fs.FileInfo, error) {
	f, err := In(files).Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "read", Path: name, Err: errors.New("is a directory, expected " + kind)}
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// isURL reports whether name is no path: Clean, which Join and Dir of package filepath call, would
// take a slash of its two away.
func isURL(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	scheme, _, found := strings.Cut(name, "://")
	return found && len(scheme) >= 2 && strings.Trim(scheme, letters) == ""
}

// Under is the entry called name of the folder dir, which may be a URL.
func Under(dir, name string) string {
	if isURL(dir) {
		return strings.TrimSuffix(dir, "/") + "/" + name
	}
	return filepath.Join(dir, name)
}

// Above is the folder that holds the file called name, which may be a URL.
func Above(name string) string {
	if isURL(name) {
		return name[:strings.LastIndexByte(name, '/')+1]
	}
	return filepath.Dir(name)
}

// Base is the last element of name, which may be a URL.
func Base(name string) string {
	if isURL(name) {
		return name[strings.LastIndexByte(name, '/')+1:]
	}
	return filepath.Base(name)
}

// ReadOptions say how a file of another format than IDX is read. The zero value takes what the file tells.
type ReadOptions struct {
	// Name is that of the only column, where the file does not tell it; empty: "data".
	Name string
	// MaxRecordSize is the most bytes of a record; 0 means 16 MiB.
	MaxRecordSize int64
	// DType is the type of elements where the file cannot tell: in text, and in images. 0: the default of the format, which is said in a note.
	DType idx.DType
	// Shape is the shape of a record where the file cannot tell; nil: the default of the format, which is said in a note.
	Shape []int
	// Header reports whether the first line of text names the columns; nil: that is found out, or is
	// an error where it cannot be.
	Header *bool
	// Classes are the names of labels, where a file tells names in place of labels, as class folders do. nil: such names are numbered in their order,
	// which is said in a note.
	Classes []string
	// Folders are the names of the class folders of all splits of a data set, which are then counted together, and whether they have images. nil: those that
	// are there are counted.
	Folders map[string]bool
	// Files is where the file is; nil: Local.
	Files Files
	// Like are the columns that the file is expected to have, of whose types and shapes it is then taken to be where it cannot tell.
	Like []Column
}

// MaxRecord is MaxRecordSize or its default.
func (o ReadOptions) MaxRecord() int64 {
	if o.MaxRecordSize == 0 {
		return 16 << 20
	}
	return o.MaxRecordSize
}

// AdviceBytes is what to do about a column of values of size bytes of which nothing tells what they are.
func AdviceBytes(size int) string {
	shape := fmt.Sprint(size)
	if side := int(math.Sqrt(float64(size))); side*side == size {
		shape = fmt.Sprintf("%dx%d", side, side)
	}
	return fmt.Sprintf("if they are unsigned bytes, give their shape: --shape %s; if elements of another type, --dtype too; if integers of 128 bits, bfloat16 or the like, "+
		"write the file again with the column cast, in ClickHouse by toInt32 or toFloat32", shape)
}

// AdviceCast is how polars makes a file whose column is of its type to, of one in the format ("parquet", "ipc").
func AdviceCast(format, column, to string) string {
	return fmt.Sprintf("cast it first, in polars: pl.read_%s('FILE').with_columns(pl.col(%q).cast(pl.%s)).write_%s('cast.%[1]s')", format, column, to, format)
}
