package convert

import (
	"bufio"
	"cmp"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/sink/compressed"
	"github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
	"github.com/idxport/idxport/source/formats"
	"github.com/idxport/idxport/source/idx"
)

// Options say what a conversion reads and writes. They are plain data: encoding/json reads back
// what it has written, but for where standard streams and events go. Zero values are the defaults,
// and texts are what the flags of the command take, which its help explains.
type Options struct {
	Source
	View
	Target
}

// A Source says what is read.
type Source struct {
	Inputs         []string `json:"inputs,omitempty"`       // folders, files, NAME=FILE, URLs, or - for Stdin
	Split          []string `json:"split,omitempty"`        // the splits that are taken; none: all
	Dataset        string   `json:"dataset,omitempty"`      // a name of package dataset, or none
	Classes        string   `json:"classes,omitempty"`      // file of the class names
	Reshape        []int    `json:"reshape,omitempty"`      // other dimensions over the same data, one may be −1
	ByteOrder      string   `json:"byte_order,omitempty"`   // big or little
	DType          string   `json:"dtype,omitempty"`        // of elements, for inputs that do not record it
	Shape          []int    `json:"shape,omitempty"`        // of one record, likewise
	Header         *bool    `json:"header,omitempty"`       // whether CSV begins with the names of its columns
	Salvage        bool     `json:"salvage,omitempty"`      // take the whole records of damaged IDX files
	LabelColumn    string   `json:"label_column,omitempty"` // name of the label, or index of a number of a label
	MaxRecordBytes int64    `json:"max_record_bytes,omitempty"`

	Stdin   io.Reader `json:"-"`
	Workers int       `json:"-"` // goroutines; 0: as many as there are processors
	Events  Events    `json:"-"`
}

// A View says which rows are taken and how images are seen.
type View struct {
	Rows      string `json:"rows,omitempty"` // A:B, half-open, negative from the end
	Transpose *bool  `json:"transpose,omitempty"`
	Invert    bool   `json:"invert,omitempty"`
	Channels  string `json:"channels,omitempty"` // last or first
}

// A Target says what is written, and how.
type Target struct {
	Outputs      []string `json:"outputs,omitempty"` // files, folders, FORMAT=PATH, URLs, or - for Stdout
	To           []string `json:"to,omitempty"`      // the formats of folders and of Stdout
	Overwrite    bool     `json:"overwrite,omitempty"`
	IfChanged    bool     `json:"if_changed,omitempty"`
	Verify       bool     `json:"verify,omitempty"`
	Checksum     bool     `json:"checksum,omitempty"`
	RowsPerFile  int64    `json:"rows_per_file,omitempty"`
	FileSize     int64    `json:"file_size,omitempty"` // bytes
	Compression  []string `json:"compression,omitempty"`
	Layout       []string `json:"layout,omitempty"`
	CSVStyle     string   `json:"csv_style,omitempty"`
	ClassFolders string   `json:"class_folders,omitempty"` // labels or names
	ClassColumn  bool     `json:"class_column,omitempty"`
	MetadataCSV  bool     `json:"metadata_csv,omitempty"`

	Stdout io.Writer `json:"-"`
}

// Events are called while a run goes on, from one goroutine at a time. Any of them may be nil.
type Events struct {
	// Message is called with a note or a warning as soon as it is known. It is in the Report, too.
	Message func(warning bool, text string)
	// Progress is called when a table begins to be read. It returns two functions: one that is
	// called with the number of rows read so far, and one that is called at the end. The number of
	// rows of the table is −1 if it is not known.
	Progress func(label string, rows int64) (read func(int64), end func())
}

// Limits of options.
const (
	DefaultMaxRecordBytes = 16 << 20
	MaxWorkers            = 4096 // more than there are processors gain nothing
	// MaxRecordBytes bounds the option: a program of 32 bits can address a few such buffers.
	MaxRecordBytes = min(math.MaxInt32, math.MaxInt/8)
)

// Stdio is the path that stands for a standard stream.
const Stdio = source.Stdin

// Choices are the values of an option that has a few of its own, by the name of its flag; nil if it
// has others.
func Choices(flag string) (values []string) {
	switch flag {
	case "byte-order":
		return []string{"big", "little"}
	case "channels":
		return []string{"last", "first"}
	case "class-folders":
		return []string{"labels", "names"}
	case "dtype":
		for _, d := range idx.DTypes() {
			values = append(values, d.String())
		}
	case "csv-style":
		for _, s := range csv.Styles() {
			values = append(values, s.Name)
		}
	}
	return values
}

// usagef returns an error about options that cannot be carried out.
func usagef(format string, args ...any) *fault.Error { return fault.New(fault.Usage, format, args...) }

// checkChoice refuses the value of an option that has Choices. An empty one is the default.
func checkChoice(flag, value string) error {
	if value == "" {
		return nil
	}
	return CheckChoice(flag, value, Choices(flag))
}

// CheckChoice refuses a value of a flag that is none of those known.
func CheckChoice(flag, value string, known []string) error {
	if slices.Contains(known, value) {
		return nil
	}
	last := len(known) - 1
	return usagef("--%s %q, expected %s or %s", flag, value, strings.Join(known[:last], ", "), known[last])
}

// inputs is a Source that was checked, and what is known of the files that it names.
type inputs struct {
	Source
	report       *Report
	args         []dataset.Input
	store        *object.Store // what the URLs among the options ask for
	opened       *opened
	others       map[string]formats.Table // inputs of other formats than IDX, by path; found by find
	counted      bool                     // they must tell their number of rows
	place        source.Files             // where the inputs of a part of a plan are; nil: it is none
	stdin        *bufio.Reader
	littleEndian bool
	dtype        idx.DType // 0: not said
	asTold       bool      // shapes are not guessed
	described    bool      // DType and Shape are about the output that is verified
}

// newInputs checks a source.
func newInputs(s Source, r *Report) (inputs, error) {
	o := inputs{Source: s, report: r, store: new(object.Store), opened: new(opened), stdin: bufio.NewReader(s.Stdin), littleEndian: s.ByteOrder == "little"}
	if len(s.Inputs) == 0 {
		return o, usagef("no input").WithHint("give a folder, files, or - for standard input, such as ./mnist")
	}
	for _, arg := range s.Inputs {
		if arg == "" {
			return o, usagef("an input is empty").WithHint("perhaps a variable of the shell is not set")
		}
		arg, err := parseURL(o.store, arg)
		if err != nil {
			return o, err
		}
		o.args = append(o.args, dataset.ParseInput(arg))
	}
	var err error
	if o.Classes, err = parseURL(o.store, s.Classes); err != nil {
		return o, err
	}
	if o.MaxRecordBytes == 0 {
		o.MaxRecordBytes = DefaultMaxRecordBytes
	}
	if o.MaxRecordBytes < 1 || o.MaxRecordBytes > MaxRecordBytes {
		return o, usagef("--max-record-bytes %d, expected 1 to %d", o.MaxRecordBytes, MaxRecordBytes)
	}
	if o.Workers < 0 || o.Workers > MaxWorkers {
		return o, usagef("--workers %d, expected 0 to %d", o.Workers, MaxWorkers)
	}
	if err := cmp.Or(checkChoice("byte-order", s.ByteOrder), checkChoice("dtype", s.DType)); err != nil {
		return o, err
	}
	if i := slices.Index(Choices("dtype"), s.DType); i >= 0 {
		o.dtype = idx.DTypes()[i]
	}
	return o, nil
}

// A conversion is Options that were checked.
type conversion struct {
	inputs
	View
	Target
	rows        rowRange
	outputs     []outputArg
	compression map[string]compressed.Codec // by format; "" for Parquet and Arrow
	layouts     map[string]string           // likewise
	classNames  []string                    // of Classes, once they are read
	planning    bool                        // every output is to be a folder of parts
	planID      string                      // of the plan that this is a part of, or empty
	pending     *object.PendingUpload       // of the object that is written and not to be published; nil: it is
}

// newConversion checks options.
func newConversion(o Options, planning bool, r *Report) (*conversion, error) {
	in, err := newInputs(o.Source, r)
	if err != nil {
		return nil, err
	}
	c := &conversion{inputs: in, View: o.View, Target: o.Target, planning: planning}
	c.Overwrite = c.Overwrite || c.IfChanged
	if c.RowsPerFile < 0 || c.FileSize < 0 {
		return nil, usagef("found --rows-per-file %d and --file-size %d, expected none below 0", c.RowsPerFile, c.FileSize)
	}
	if err := c.checkView(); err != nil {
		return nil, err
	}
	paths := make([]string, len(o.Outputs))
	for i, arg := range o.Outputs {
		if paths[i], err = parseURL(c.store, arg); err != nil {
			return nil, err
		}
	}
	if c.outputs, err = parseOutputs(paths, c.To, c.sharded()); err != nil {
		return nil, err
	}
	if c.compression, err = parseCompression(c.Compression); err != nil {
		return nil, err
	}
	if c.layouts, err = parseLayouts(c.Layout); err != nil {
		return nil, err
	}
	if !slices.Contains(Choices("csv-style"), c.CSVStyle) && c.CSVStyle != "" {
		return nil, usagef("unknown CSV style %q, expected one of %s", c.CSVStyle, strings.Join(Choices("csv-style"), ", ")).
			WithHint("%s", dataset.DidYouMean(c.CSVStyle, Choices("csv-style")))
	}
	return c, checkChoice("class-folders", c.ClassFolders)
}

// checkView checks what says which rows are taken and how they are seen.
func (c *conversion) checkView() (err error) {
	if c.View.Rows != "" {
		if c.rows, err = parseRows(c.View.Rows); err != nil {
			return err
		}
	}
	return checkChoice("channels", c.Channels)
}
