package formats

import (
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/arrow"
	"github.com/idxport/idxport/sink/compressed"
	"github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/sink/idx"
	"github.com/idxport/idxport/sink/layout"
	"github.com/idxport/idxport/sink/npy"
	"github.com/idxport/idxport/sink/parquet"
	"github.com/idxport/idxport/sink/png"
	"github.com/idxport/idxport/sink/publish"
	"github.com/idxport/idxport/sink/tar"
)

// A Format is one kind of output.
type Format struct {
	Name      string
	Title     string // one line for `idxport formats`
	Extension string // of files in a container, with the dot; empty for folders
	Also      []string
	Folder    bool // the output is a folder of files
	OneColumn bool // an output holds one column
	Stored    bool // an output is an IDX file again: nothing that a data set's definition implies is applied to it
	Images    bool // the records become images: Options.Channels says where their channels are
	Divisible bool // an output can be many files of a folder: its sink is a sink.Splitter
	// Codecs are the compressions inside the format, the default first; nil if it has none.
	Codecs []string
	// Wrapped says that whole files are compressed, as their names end: .gz, .zst.
	Wrapped bool
	// Layouts are the ways to represent a tensor, the default first; nil if there is only one.
	Layouts []string

	load func(path string, s *schema.Schema, o Options) string // see LoadLine
	open func(out Output, s *schema.Schema, o Options) (sink.Sink, error)
}

// An Output is where a sink writes: a stream of bytes, or a folder for the formats that are folders.
type Output struct {
	Writer io.Writer
	Folder *publish.Folder
}

// Options are those of all formats; each takes what it knows.
type Options struct {
	Compression  compressed.Codec // Name is empty for the format's default
	Layout       string           // empty: the default
	Style        string           // of CSV
	Column       int              // which column an output of one column holds
	Channels     string           // where the channels of colour images are: "last" or "first"; layouts of images take it too
	ClassFolders string           // how the folders of a PNG folder are named: "labels" or "names"
	MaxLabel     int64            // the largest label, −1 if unknown
	MetadataCSV  bool             // whether a PNG folder has a metadata.csv
	Version      string           // of the program
}

// All lists the formats in the order in which they are shown.
func All() []Format {
	layouts := layout.Names()
	return []Format{
		{Name: "parquet", Title: "Apache Parquet", Extension: ".parquet", Also: []string{".pq"}, Codecs: parquet.Codecs(),
			Layouts: layouts, Divisible: true, open: openParquet, load: loadParquet},
		{Name: "arrow", Title: "Arrow IPC file (Feather V2)", Extension: ".arrow", Also: []string{".feather", ".ipc"}, Codecs: arrow.Codecs(),
			Layouts: layouts, Divisible: true, open: openArrow(false),
			load: line("import pyarrow as pa; table = pa.ipc.open_file(pa.memory_map(%q)).read_all()")},
		{Name: "arrows", Title: "Arrow IPC stream", Extension: ".arrows", Codecs: arrow.Codecs(),
			Layouts: layouts, Divisible: true, open: openArrow(true),
			load: line("import pyarrow as pa; table = pa.ipc.open_stream(%q).read_all()")},
		{Name: "csv", Title: "comma-separated values", Extension: ".csv", Wrapped: true, Divisible: true,
			open: openCSV(','), load: pandas("")},
		{Name: "tsv", Title: "tab-separated values", Extension: ".tsv", Wrapped: true, Divisible: true,
			open: openCSV('\t'), load: pandas(`, sep="\t"`)},
		{Name: "png", Title: "a folder of PNG images, with a subfolder for each label", Folder: true, Images: true, open: openPNG, load: loadPNG},
		{Name: "tar", Title: "WebDataset: a tar file of PNG images and their labels", Extension: ".tar", Images: true, Divisible: true,
			open: openTar, load: loadTar},
		{Name: "npy", Title: "NumPy arrays, one file for each column", Extension: ".npy", OneColumn: true, open: openNPY,
			load: line("import numpy as np; array = np.load(%q, mmap_mode=\"r\")")}, // nothing is read before it is needed
		{Name: "idx", Title: "IDX, one file for each column: to convert back, cut, recompress or repair", Extension: ".idx", Wrapped: true, OneColumn: true,
			Stored: true, open: openIDX, load: loadIDX},
	}
}

// Open makes the sink of f for tables of the schema s. The error is fault.Usage if f cannot hold them.
func (f Format) Open(out Output, s *schema.Schema, o Options) (sink.Sink, error) {
	return f.open(out, s, o)
}

// Names are the names of all formats.
func Names() []string {
	var names []string
	for _, f := range All() {
		names = append(names, f.Name)
	}
	return names
}

// Named finds the format called name, in any case of letters.
func Named(name string) (Format, bool) {
	for _, f := range All() {
		if strings.EqualFold(f.Name, name) {
			return f, true
		}
	}
	return Format{}, false
}

// published matches the names that IDX files are published under: train-images-idx3-ubyte.
var published = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)[-.]idx[1-9][0-9]*-(ubyte|byte|short|int|float|double)$`)
})

// ByName finds the format of a file by how its name ends, and the compression of the whole file ("none", "gzip" or "zstd").
func ByName(path string) (f Format, codec string, ok bool) {
	name, codec := unwrap(strings.ToLower(filepath.Base(path)))
	for _, f := range All() {
		if codec != "none" && !f.Wrapped {
			continue
		}
		for _, ext := range append(f.Also, f.Extension) {
			if ext != "" && strings.HasSuffix(name, ext) && name != ext {
				return f, codec, true
			}
		}
		if f.Name == "idx" && published().MatchString(name) {
			return f, codec, true
		}
	}
	return Format{}, "", false
}

// wrappings are the endings of files that are compressed as a whole.
var wrappings = []struct{ ext, codec string }{{".gz", "gzip"}, {".zst", "zstd"}}

// unwrap cuts the ending of a compressed file off name and tells the codec.
func unwrap(name string) (rest, codec string) {
	for _, w := range wrappings {
		if rest, ok := strings.CutSuffix(name, w.ext); ok {
			return rest, w.codec
		}
	}
	return name, "none"
}

// SplitName cuts path before the ending of its base name, which may be of two parts: "data" and ".csv.gz".
func SplitName(path string) (stem, ending string) {
	stem = path
	for range 2 {
		ext := filepath.Ext(stem)
		stem, ending = strings.TrimSuffix(stem, ext), ext+ending
		if _, codec := unwrap(ext); codec == "none" {
			break
		}
	}
	return stem, ending
}

// Wrapping is how the file at path is compressed as a whole, by its name: "none", "gzip" or "zstd".
func Wrapping(path string) string {
	_, codec := unwrap(strings.ToLower(filepath.Base(path)))
	return codec
}

// FileExtension is how files of f end when they are compressed as a whole with codec ("", "none", "gzip", "zstd").
func (f Format) FileExtension(codec string) string {
	for _, w := range wrappings {
		if f.Wrapped && w.codec == codec {
			return f.Extension + w.ext
		}
	}
	return f.Extension
}

// Text reports whether outputs of f can be shown on a terminal.
func (f Format) Text() bool { return f.Name == "csv" || f.Name == "tsv" }

// LeastSize is a number of bytes that an output of f will not fall below, as far as that can be said before it is made; 0 if nothing can.
func (f Format) LeastSize(s *schema.Schema, o Options) int64 {
	if l, err := layout.Get(o.Layout); err == nil && f.Layouts != nil && l.Compresses {
		return 0
	}
	plain := o.Compression.Name == "none" || o.Compression.Name == "" && (f.Codecs == nil || f.Codecs[0] == "none")
	switch {
	case s.Rows < 0 || !plain || f.Folder:
		return 0
	case f.OneColumn:
		return s.Rows * int64(s.Columns[o.Column].RecordSize())
	case f.Images:
		return 1024 * s.Rows // tar: a block for the header, and one at least for the image
	case f.Text():
		elements := 0
		for _, c := range s.Columns {
			elements += c.Elements()
		}
		return 2 * s.Rows * int64(elements) // a digit and what separates it from the next
	}
	size := 0
	for _, c := range s.Columns {
		if f.Name == "parquet" && (c.Scalar() || o.Layout == "columns") { // a dictionary may take less than a bit for each
			continue
		}
		size += c.RecordSize()
	}
	return s.Rows * int64(size)
}

func openParquet(out Output, s *schema.Schema, o Options) (sink.Sink, error) {
	return parquet.New(out.Writer, s, parquet.Options{Compression: o.Compression.Name, Level: o.Compression.Level, Layout: o.Layout, Channels: o.Channels, Version: o.Version})
}

func openArrow(stream bool) func(Output, *schema.Schema, Options) (sink.Sink, error) {
	return func(out Output, s *schema.Schema, o Options) (sink.Sink, error) {
		return arrow.New(out.Writer, s, arrow.Options{Stream: stream, Compression: o.Compression.Name, Level: o.Compression.Level,
			Layout: o.Layout, Channels: o.Channels})
	}
}

func openCSV(comma byte) func(Output, *schema.Schema, Options) (sink.Sink, error) {
	return func(out Output, s *schema.Schema, o Options) (sink.Sink, error) {
		return csv.New(out.Writer, s, csv.Options{Style: o.Style, Comma: comma, Compression: o.Compression})
	}
}

func openPNG(out Output, s *schema.Schema, o Options) (sink.Sink, error) {
	return png.New(out.Folder, s, png.Options{Channels: o.Channels, ClassFolders: o.ClassFolders, MaxLabel: o.MaxLabel, MetadataCSV: o.MetadataCSV})
}

func openTar(out Output, s *schema.Schema, o Options) (sink.Sink, error) {
	return tar.New(out.Writer, s, tar.Options{Channels: o.Channels})
}

func openNPY(out Output, s *schema.Schema, o Options) (sink.Sink, error) {
	return npy.New(out.Writer, s, npy.Options{Column: o.Column})
}

func openIDX(out Output, s *schema.Schema, o Options) (sink.Sink, error) {
	return idx.New(out.Writer, s, idx.Options{Column: o.Column, Compression: o.Compression})
}
