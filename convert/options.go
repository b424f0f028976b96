package convert

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/source"
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

// A rowRange is a half-open range of rows as the user wrote it: negative ends count from the end.
// Its zero value is all rows.
type rowRange struct {
	given       bool
	first, last int64
	open        bool // no last row was given
}

// parseRows reads A:B, where either may be missing.
func parseRows(s string) (r rowRange, err error) {
	a, b, ok := strings.Cut(s, ":")
	bad := usagef("--rows %q, expected A:B", s).WithHint("for example --rows 0:1000 for the first thousand, --rows -100: for the last hundred")
	if !ok {
		return r, bad
	}
	r.given, r.open = true, b == ""
	if a != "" {
		if r.first, err = strconv.ParseInt(a, 10, 64); err != nil {
			return r, bad
		}
	}
	if b != "" {
		if r.last, err = strconv.ParseInt(b, 10, 64); err != nil {
			return r, bad
		}
	}
	return r, nil
}

// resolve turns r into rows of a table of total rows, −1 if that is unknown. As with slices in
// Python, what lies beyond the end is cut off.
func (r rowRange) resolve(total int64) (first, last int64, err error) {
	if total < 0 && (r.open || r.first < 0 || r.last < 0) {
		return 0, 0, usagef("--rows %s: the number of rows is not known in advance", r).WithHint("give both ends, counted from 0")
	}
	first, last = r.first, r.last
	if !r.open && first > last && (first < 0) == (last < 0) {
		return 0, 0, usagef("--rows %s is empty: it ends before it begins", r)
	}
	if r.open {
		last = total
	}
	if first < 0 {
		first = max(0, first+total)
	}
	if last < 0 {
		last = max(0, last+total)
	}
	if total >= 0 {
		first, last = min(first, total), min(last, total)
	}
	if first > last {
		return 0, 0, usagef("--rows %s is empty in a table of %d rows", r, total)
	}
	return first, last, nil
}

func (r rowRange) String() string {
	if r.open {
		return fmt.Sprintf("%d:", r.first)
	}
	return fmt.Sprintf("%d:%d", r.first, r.last)
}

// CheckRows returns an error if s is no range of rows.
func CheckRows(s string) error {
	_, err := parseRows(s)
	return err
}

// Version of the program. It is written into outputs, so the same version writes the same bytes.
const Version = "0.1.0"
