package sources

import (
	"bufio"
	"io"
	"strings"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/arrow"
	"github.com/idxport/idxport/source/csv"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/source/npy"
	"github.com/idxport/idxport/source/parquet"
	"github.com/idxport/idxport/source/png"
)

// A Format is one kind of input.
type Format struct {
	Name       string
	Text       bool   // values are text: types are guessed, and NaNs have no payload
	Untyped    bool   // the files do not record the types or shapes of their source
	OneColumn  bool   // a file is one column
	Images     bool   // a file may hold images in formats such as PNG and JPEG
	magic      string // how files begin, if that is unmistakable
	extensions []string
	open       func(path string, o source.ReadOptions) (source.Table, error)
}

// formats has the formats by their names.
var formats = map[string]Format{
	"parquet": {Name: "parquet", Images: true, magic: "PAR1", open: parquet.Open,
		extensions: []string{".parquet", ".pq", ".parq"}},
	"arrow": {Name: "arrow", Images: true, magic: "ARROW1\x00\x00", open: arrow.Open,
		extensions: []string{".arrow", ".feather", ".ipc", ".arrows"}},
	"npy": {Name: "npy", magic: "\x93NUMPY", extensions: []string{".npy"}, OneColumn: true, open: npy.Open},
	"npz": {Name: "npz", extensions: []string{".npz"}, OneColumn: true, open: npy.OpenArray},
	"csv": {Name: "csv", Text: true, Untyped: true, open: csv.Open, extensions: []string{".csv", ".tsv",
		".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst", ".csv.xz", ".tsv.xz", ".csv.bz2", ".tsv.bz2"}},
	"png": {Name: "png", Untyped: true, Images: true, open: png.Open}, // a folder, without an extension
}

// Stdin returns the table on standard input, an Arrow stream, or none if r begins otherwise.
func Stdin(r *bufio.Reader) ([]Table, error) {
	begin, err := r.Peek(len(arrow.Continuation))
	if err == io.EOF || err == nil && string(begin) != arrow.Continuation {
		return nil, nil
	}
	f := formats["arrow"]
	f.open = func(path string, o source.ReadOptions) (source.Table, error) { return arrow.New(r, path, o) }
	return []Table{{Format: f, Name: "stdin", Paths: []string{source.Stdin}, Path: source.Stdin}},
		fault.In(source.Stdin, err)
}

// A Table is a table that was found.
type Table struct {
	Format Format
	Name   string // of the file or folder without its extensions, or the split of shards
	Paths  []string
	Path   string   // the file or folder, for messages
	Arrays []string // names of those in a .npz file; nil for one without a name, as of a .npy file

	folders  map[string]bool // class folders of all splits, see source.ReadOptions.Folders
	alone    string          // see source.ReadOptions.Alone
	beside   string          // see source.ReadOptions.Beside
	unlisted error           // unless the classes are known, because the folders may be splits
}

// Open opens t.
func (t Table) Open(o source.ReadOptions) (source.Table, error) {
	if t.unlisted != nil && o.Classes == nil {
		return nil, t.unlisted
	}
	o.Folders, o.Alone, o.Beside = t.folders, t.alone, t.beside
	if len(t.Paths) == 1 {
		return t.Format.open(t.Paths[0], o)
	}
	return openChain(t, o)
}

// Named reports whether the file at path has the extension of one of the formats.
func Named(path string) bool {
	_, _, ok := byExtension(path)
	return ok
}

// byExtension returns the format of the extension of path, and the name of path without it.
func byExtension(path string) (f Format, stem string, ok bool) {
	base := source.Base(path)
	for _, f := range formats {
		for _, extension := range f.extensions {
			if n := len(base) - len(extension); n > 0 && strings.EqualFold(base[n:], extension) {
				return f, base[:n], true
			}
		}
	}
	return Format{}, base, false
}

// inFile returns the table in the file at path, or none if it has none of the formats.
func inFile(files source.Files, path string) ([]Table, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, fault.In(path, err)
	}
	defer f.Close() // read-only: an error does not matter
	begin, err := io.ReadAll(io.LimitReader(f, 8))
	if err != nil {
		return nil, fault.In(path, err)
	}
	format, stem, ok := byExtension(path)
	for _, f := range formats {
		if f.magic != "" && strings.HasPrefix(string(begin), f.magic) {
			format, ok = f, true
		}
	}
	if !ok {
		return nil, nil
	} else if idx.HasMagic(begin) {
		return nil, fault.New(fault.Malformed, "found an IDX file, expected %s", format.Name).In(path).
			WithHint("rename it, for example to %s.idx", stem)
	}
	return []Table{{Format: format, Name: stem, Paths: []string{path}, Path: path}}, nil
}
