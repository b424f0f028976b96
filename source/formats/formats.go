package formats

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/arrow"
	"github.com/idxport/idxport/source/csv"
	"github.com/idxport/idxport/source/npy"
	"github.com/idxport/idxport/source/parquet"
	"github.com/idxport/idxport/source/png"
)

// A Format is one kind of input.
type Format struct {
	Name string
	// Text means that values are written as text: types are guessed, and NaNs have no payload.
	Text bool
	// Untyped means that the files do not record the types or shapes of their source.
	Untyped bool
	// OneColumn means that a file is one column.
	OneColumn bool
	// Images means that a file may hold images in formats such as PNG and JPEG.
	Images bool

	alias      string   // name of another output format that is read like this one
	magic      []string // how files begin, if that is unmistakable
	extensions []string
	open       func(path string, o source.ReadOptions) (source.Table, error)
}

func formats() []Format {
	return []Format{
		{Name: "parquet", Images: true, magic: []string{"PAR1"}, extensions: []string{".parquet", ".pq"},
			open: parquet.Open},
		{Name: "arrow", Images: true, alias: "arrows", magic: []string{"ARROW1\x00\x00"},
			extensions: []string{".arrow", ".feather", ".ipc", ".arrows"}, open: arrow.Open},
		{Name: "npy", magic: []string{"\x93NUMPY"}, extensions: []string{".npy"}, OneColumn: true, open: npy.Open},
		{Name: "npz", extensions: []string{".npz"}, OneColumn: true, // of one array without a name: see findArrays
			open: func(path string, o source.ReadOptions) (source.Table, error) {
				return npy.OpenArray(path, npy.Unnamed, o)
			}},
		{Name: "csv", alias: "tsv", Text: true, Untyped: true, open: csv.Open,
			extensions: []string{".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst", ".csv.xz", ".tsv.xz",
				".csv.bz2", ".tsv.bz2"}},
		{Name: "png", Untyped: true, Images: true, open: png.Open}, // a folder, without an extension
	}
}

// byName returns the format that reads the files of the output format called name.
func byName(name string) (Format, bool) {
	all := formats()
	i := slices.IndexFunc(all, func(f Format) bool { return f.Name == name || f.alias == name })
	if i < 0 {
		return Format{}, false
	}
	return all[i], true
}

// arrowStream is the beginning of an Arrow stream: the continuation marker, which precedes every
// message (Columnar.rst, "Encapsulated message format").
const arrowStream = "\xff\xff\xff\xff"

// Stdin returns the table on standard input: an Arrow stream, which is detected from its content
// and read from start to end. ok is false if r begins otherwise.
func Stdin(r *bufio.Reader) (t Table, ok bool, err error) {
	begin, err := r.Peek(len(arrowStream))
	if err != nil && err != io.EOF {
		return t, false, fault.In(source.Stdin, err)
	}
	f, _ := byName("arrow")
	t = Table{Format: f, Name: "stdin", Paths: []string{source.Stdin}, path: source.Stdin, stream: r}
	return t, string(begin) == arrowStream, nil
}

// A Table is a table that was found.
type Table struct {
	Format Format
	Name   string // of the file or folder without its extensions, or the split of shards
	Paths  []string
	path   string    // for messages
	stream io.Reader // standard input, if the table is read from that; else nil
	notes  []string  // about other files and folders that were found

	arrays  []Array         // of a .npz file
	folders map[string]bool // class folders of all splits, see source.ReadOptions.Folders
	folder  string          // the folder that was found, or that has the file that was found
}

// Path returns the file or folder of t, for messages.
func (t Table) Path() string { return t.path }

// Open opens t.
func (t Table) Open(o source.ReadOptions) (source.Table, error) {
	o.Folders = t.folders
	opened, err := t.open(o)
	if err != nil {
		return nil, err
	}
	columns := opened.Columns()
	if err := t.refuseKey(columns); err != nil && o.Columns == nil {
		return nil, errors.Join(err, opened.Close())
	}
	return source.WithColumns(opened, columns, t.notes...), nil
}

func (t Table) open(o source.ReadOptions) (source.Table, error) {
	if t.stream != nil {
		return arrow.New(t.stream, t.path, o)
	}
	switch {
	case t.arrays != nil:
		return npy.OpenArray(t.path, o.Array, o)
	case len(t.Paths) == 1:
		return t.Format.open(t.Paths[0], o)
	case t.Format.OneColumn:
		return nil, fault.New(fault.Usage, "%s of several files cannot be read as one table", t.Format.Name).In(t.path).
			WithHint("give one of the files")
	}
	return openChain(t.Format.open, t.Paths, t.path, o)
}

// Named reports whether the file at path has the extension of one of the formats.
func Named(path string) bool {
	_, ok := byExtension(path)
	return ok
}

// detect returns the format of the file at path; ok is false if it has none of the formats.
func detect(files source.Files, path string) (f Format, ok bool, err error) {
	begin, err := prefix(files, path)
	if err != nil {
		return Format{}, false, fault.In(path, err)
	}
	for _, f := range formats() {
		for _, magic := range f.magic {
			if bytes.HasPrefix(begin, []byte(magic)) {
				return f, true, nil
			}
		}
	}
	f, ok = byExtension(path)
	return f, ok, nil
}

// byExtension returns the format of the extension of path.
func byExtension(path string) (Format, bool) {
	f, _, ok := cutExtension(path)
	return f, ok
}

// stem returns the name of path without the extension of its format.
func stem(path string) string {
	_, stem, _ := cutExtension(path)
	return stem
}

// cutExtension splits the name of path at the longest extension of a format.
func cutExtension(path string) (f Format, stem string, ok bool) {
	stem = source.Base(path)
	base, lower := stem, strings.ToLower(stem)
	for _, known := range formats() {
		for _, extension := range known.extensions {
			if n := len(base) - len(extension); strings.HasSuffix(lower, extension) && n > 0 && n < len(stem) {
				f, stem, ok = known, base[:n], true
			}
		}
	}
	return f, stem, ok
}

func prefix(files source.Files, path string) ([]byte, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read-only: an error does not matter
	var begin [8]byte
	n, err := io.ReadFull(f, begin[:])
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return begin[:n], err
}
