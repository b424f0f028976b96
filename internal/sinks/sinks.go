package sinks

import (
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/layout"
	"github.com/idxport/idxport/internal/publish"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/arrow"
	"github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/sink/idx"
	"github.com/idxport/idxport/sink/parquet"
	"github.com/idxport/idxport/sink/png"
	"github.com/idxport/idxport/sink/tar"
)

// A Format is one kind of output.
type Format struct {
	Name         string        // as in --to
	Title        string        // one line for `idxport formats`
	Extension    string        // of its files, with the dot; empty for folders
	Aliases      []string      // other extensions of its files
	Folder       bool          // an output is a folder of files
	OneColumn    bool          // an output holds one column
	IsIDX        bool          // an output is an IDX file
	Images       bool          // records become images
	Splittable   bool          // an output can be split into many files: its sink is a sink.Splitter
	WriteOnly    bool          // idxport cannot read outputs back
	Beside       bool          // an output only accompanies others, see ClassNames
	Text         bool          // an output can be shown on a terminal
	ClassColumn  bool          // tables may have a column of class names, schema.Classes
	Compressible bool          // whole files can be compressed, with the extension .gz or .zst
	Codecs       []string      // compressions inside the format, the default first; nil if it has none
	Layouts      []sink.Layout // ways to hold a table, the default first; nil if there is only one

	stream bool // sink.Options.Stream
	comma  byte // sink.Options.Comma
	open   opener
}

// An opener is the function behind Format.Open.
type opener func(w io.Writer, folder *publish.Folder, s *schema.Schema, o sink.Options) (sink.Sink, error)

// All returns the formats in the order in which they are listed to users.
func All() []Format {
	tables, texts := layout.Layouts(), csv.Layouts()
	return []Format{
		{Name: "parquet", Title: "Apache Parquet", Extension: ".parquet", Aliases: []string{".pq"},
			Codecs: parquet.Codecs(), Layouts: tables, Splittable: true, ClassColumn: true, open: stream(parquet.New)},
		{Name: "arrow", Title: "Arrow IPC file (Feather V2)", Extension: ".arrow",
			Aliases: []string{".feather", ".ipc"},
			Codecs:  arrow.Codecs(), Layouts: tables, Splittable: true, ClassColumn: true, open: stream(arrow.New)},
		{Name: "arrows", Title: "Arrow IPC stream", Extension: ".arrows", stream: true,
			Codecs: arrow.Codecs(), Layouts: tables, Splittable: true, ClassColumn: true, open: stream(arrow.New)},
		{Name: "csv", Title: "comma-separated values", Extension: ".csv", Compressible: true, Text: true,
			Layouts: texts, Splittable: true, ClassColumn: true, open: stream(csv.New)},
		{Name: "tsv", Title: "tab-separated values", Extension: ".tsv", Compressible: true, Text: true, comma: '\t',
			Layouts: texts, Splittable: true, ClassColumn: true, open: stream(csv.New)},
		{Name: "png", Title: "a folder of PNG images, with a subfolder for each label", Folder: true,
			Images: true, Layouts: png.Layouts(),
			open: func(_ io.Writer, folder *publish.Folder, s *schema.Schema, o sink.Options) (sink.Sink, error) {
				return png.New(folder, s, o)
			}},
		{Name: "tar", Title: "WebDataset: a tar file of PNG images and their labels", Extension: ".tar",
			Images: true, Splittable: true, WriteOnly: true, open: stream(tar.New)},
		{Name: "npy", Title: "NumPy arrays, one file for each column", Extension: ".npy", OneColumn: true,
			open: stream(idx.NewNPY)},
		{Name: "idx", Title: "IDX, one file for each column; also used to select rows, recompress or repair",
			Extension: ".idx", Compressible: true, OneColumn: true, IsIDX: true, open: stream(idx.New)},
	}
}

// Open returns the sink of f for tables of the schema s, or fault.Usage if f cannot hold them. It
// writes to w or, if f is a folder, to that; the other may be nil.
func (f Format) Open(w io.Writer, folder *publish.Folder, s *schema.Schema, o sink.Options) (sink.Sink, error) {
	o.Stream, o.Comma = f.stream, f.comma
	return f.open(w, folder, s, o)
}

// Names returns the names of all formats.
func Names() (names []string) {
	for _, f := range All() {
		names = append(names, f.Name)
	}
	return names
}

// List returns the names of the formats for which has is true, for messages: "arrow, csv or tar".
func List(has func(Format) bool) string {
	var names []string
	for _, f := range All() {
		if has(f) {
			names = append(names, f.Name)
		}
	}
	last := len(names) - 1
	return strings.TrimPrefix(strings.Join(names[:last], ", ")+" or "+names[last], " or ")
}

// Named returns the format with the given name, ignoring case.
func Named(name string) (Format, bool) {
	for _, f := range All() {
		if strings.EqualFold(f.Name, name) {
			return f, true
		}
	}
	return Format{}, false
}

// published matches the names under which IDX files are published: train-images-idx3-ubyte.
var published = text.Pattern(`(?i)[-.]idx[1-9][0-9]*-(ubyte|byte|short|int|float|double)$`)

// ByName returns the format of a file and the compression of the whole file ("none", "gzip" or
// "zstd"), both from the extensions in its name; ok is false if they name no format.
func ByName(path string) (f Format, codec string, ok bool) {
	name, codec := unwrap(strings.ToLower(filepath.Base(path)))
	for _, f := range All() {
		if codec != "none" && !f.Compressible {
			continue
		}
		for _, ext := range append(f.Aliases, f.Extension) {
			if ext != "" && strings.HasSuffix(name, ext) && name != ext {
				return f, codec, true
			}
		}
		if f.Name == "idx" && published().MatchString(name) {
			return f, codec, true
		}
	}
	return Format{}, codec, false
}

// LayoutNames returns the names of the layouts of f.
func (f Format) LayoutNames() []string { return sink.Names(f.Layouts) }

// Compressions returns the names of the codecs of an output of f, inside the format or of whole
// files, or nil if there are none.
func (f Format) Compressions() []string {
	if f.Compressible {
		return []string{"none", "gzip", "zstd"}
	}
	return f.Codecs
}

// wrappings are the extensions of files that are compressed as a whole.
var wrappings = []struct{ ext, codec string }{{".gz", "gzip"}, {".zst", "zstd"}}

// unwrap removes the extension of a compressed file from name, in any case, and returns the codec.
func unwrap(name string) (rest, codec string) {
	for _, w := range wrappings {
		if n := len(name) - len(w.ext); n >= 0 && strings.EqualFold(name[n:], w.ext) {
			return name[:n], w.codec
		}
	}
	return name, "none"
}

// SplitName splits path before what names its format and compression: "data" and ".csv.gz", or
// "train-images" and "-idx3-ubyte".
func SplitName(path string) (stem, ending string) {
	name, _ := unwrap(path)
	if stem = published().ReplaceAllString(name, ""); stem == name {
		stem = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return stem, path[len(stem):]
}

// FileExtension returns the extension of files of f that codec compresses as a whole; "" is none.
func (f Format) FileExtension(codec string) string {
	for _, w := range wrappings {
		if f.Compressible && w.codec == codec {
			return f.Extension + w.ext
		}
	}
	return f.Extension
}

// stream returns the function open of a format that is written to a stream.
func stream[S sink.Sink](open func(io.Writer, *schema.Schema, sink.Options) (S, error)) opener {
	return func(w io.Writer, _ *publish.Folder, s *schema.Schema, o sink.Options) (sink.Sink, error) {
		return open(w, s, o)
	}
}

// ClassNames is the list of class names beside IDX files. If dataset.ReadClasses would refuse it,
// as with 001.cat and 002.dog, a space before the first line says that these are names.
func ClassNames() Format {
	return Format{Name: "classes", Extension: schema.NamesExtension, Beside: true,
		open: stream(func(w io.Writer, s *schema.Schema, o sink.Options) (_ classNames, err error) {
			names, why := s.Columns[o.Column].Classes, error(nil)
			lines := strings.Join(names, "\n") + "\n"
			for _, list := range []string{lines, " " + lines} {
				found, failed := dataset.ReadClasses(strings.NewReader(list), "")
				if failed == nil && slices.Equal(found, names[:min(len(found), len(names))]) {
					_, err = io.WriteString(w, list)
					return classNames{}, err
				}
				why = cmp.Or(why, failed, errors.New("found a name of several lines, or with spaces around it"))
			}
			return classNames{}, fault.New(fault.Usage, "the class names cannot be written as a list: %v", why).
				WithHint("give names that can: --classes FILE, and perhaps --label-column")
		})}
}

// classNames is the sink of ClassNames, which ignores the rows.
type classNames struct{}

func (classNames) Encode(context.Context, schema.Batch) (step func() error, err error) {
	return func() error { return nil }, nil
}

func (classNames) Close() error { return nil }
