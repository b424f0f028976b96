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

// A File is an open input: an *os.File, or an object in a bucket.
type File interface {
	io.Reader
	io.ReaderAt
	io.Seeker
	io.Closer
	Stat() (fs.FileInfo, error)
}

// Files opens inputs by the names that users give.
type Files interface {
	Open(name string) (File, error)
	Stat(name string) (fs.FileInfo, error)
	// ReadDir lists a folder, sorted by name. If limit > 0, it returns any limit entries.
	ReadDir(name string, limit int) ([]fs.DirEntry, error)
}

// Local are the files of this machine.
type Local struct{}

// Open opens a file.
func (Local) Open(name string) (File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err // a nil *os.File would not be a nil File
	}
	return f, nil
}

// Stat describes the file.
func (Local) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// ReadDir lists a folder.
func (Local) ReadDir(name string, limit int) ([]fs.DirEntry, error) {
	if limit <= 0 {
		return os.ReadDir(name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	entries, err := f.ReadDir(limit)
	if err == io.EOF {
		err = nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// In returns f, or Local if f is nil.
func In(f Files) Files {
	if f == nil {
		return Local{}
	}
	return f
}

// OpenFile opens a file in files, which may be nil for Local, and describes it. For a folder it
// returns an error that says what was expected instead, such as "a CSV file".
func OpenFile(files Files, name, expected string) (File, fs.FileInfo, error) {
	f, err := In(files).Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "read", Path: name, Err: errors.New("is a directory, expected " + expected)}
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// isURL reports whether name is a URL, which the functions of package path/filepath would change:
// Clean replaces "//" by "/".
func isURL(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	scheme, _, found := strings.Cut(name, "://")
	return found && len(scheme) >= 2 && strings.Trim(scheme, letters) == ""
}

// Under joins the folder dir, which may be a URL, and the name of an entry.
func Under(dir, name string) string {
	if isURL(dir) {
		return strings.TrimSuffix(dir, "/") + "/" + name
	}
	return filepath.Join(dir, name)
}

// Above returns the folder of the file name, which may be a URL.
func Above(name string) string {
	if isURL(name) {
		return name[:strings.LastIndexByte(name, '/')+1]
	}
	return filepath.Dir(name)
}

// Base returns the last element of name, which may be a URL.
func Base(name string) string {
	if isURL(name) {
		return name[strings.LastIndexByte(name, '/')+1:]
	}
	return filepath.Base(name)
}

// ReadOptions say how to read a file of a format other than IDX. The zero value uses what the file
// says.
type ReadOptions struct {
	// Name is the name of the only column, if the file does not give it; empty: "data".
	Name string
	// MaxRecordSize is the size in bytes of the largest accepted record; 0 means 16 MiB.
	MaxRecordSize int64
	// DType is the element type for files that do not record one, such as CSV and images. 0 means
	// the default of the format, which a note mentions.
	DType idx.DType
	// Shape is the shape of a record for files that do not record one. nil means the default of the
	// format, which a note mentions.
	Shape []int
	// Header reports whether the first line of text has the names of the columns. nil: this is
	// detected, or an error if it cannot be.
	Header *bool
	// Classes are the class names for files that have names in place of labels, as class folders
	// do. nil: the names are numbered in order, which a note mentions.
	Classes []string
	// Folders are the names of the class folders of all splits of a data set, which are numbered
	// together, and whether they have images. nil: only those of the input are numbered.
	Folders map[string]bool
	// Files is where the input is; nil means Local.
	Files Files
	// Like are the expected columns. Their types and shapes are used if the file records none.
	Like []Column
}

// MaxRecord returns MaxRecordSize or its default.
func (o ReadOptions) MaxRecord() int64 {
	if o.MaxRecordSize == 0 {
		return 16 << 20
	}
	return o.MaxRecordSize
}

// AdviceBytes returns the hint for a column of values of size bytes whose meaning is not recorded.
func AdviceBytes(size int) string {
	shape := fmt.Sprint(size)
	if side := int(math.Sqrt(float64(size))); side*side == size {
		shape = fmt.Sprintf("%dx%d", side, side)
	}
	return fmt.Sprintf("for unsigned bytes, give their shape: --shape %s; for another type, give --dtype too; for 128-bit integers, bfloat16 and the like, "+
		"write the file again with the column cast, as with toInt32 or toFloat32 in ClickHouse", shape)
}

// AdviceCast returns the hint to cast a column to another type with polars; format is "parquet" or
// "ipc".
func AdviceCast(format, column, to string) string {
	return fmt.Sprintf("cast it first, in polars: pl.read_%s('FILE').with_columns(pl.col(%q).cast(pl.%s)).write_%s('cast.%[1]s')", format, column, to, format)
}
