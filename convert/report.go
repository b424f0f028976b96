package convert

import (
	"fmt"
	"slices"

	"github.com/idxport/idxport/display"
)

// A Report says what a run has read, decided and made. It is returned with an error, too: then it
// has what was known before.
type Report struct {
	Inputs    []Input    `json:"inputs"`
	Outputs   []Output   `json:"outputs"`             // once they are published
	Unchanged []string   `json:"unchanged,omitempty"` // outputs that need not be made
	Verified  []Verified `json:"verified,omitempty"`
	Applied   []Applied  `json:"applied"`
	Notes     []string   `json:"notes"`
	Warnings  []string   `json:"warnings"`

	events Events
}

// NewReport returns a report of nothing. Events are called with what is added to it.
func NewReport(events Events) *Report {
	return &Report{Inputs: []Input{}, Outputs: []Output{}, Applied: []Applied{}, Notes: []string{}, Warnings: []string{}, events: events}
}

// An Input describes a column that was read.
type Input struct {
	Path   string `json:"path"`
	Split  string `json:"split,omitempty"`
	Column string `json:"column"`
	DType  string `json:"dtype"`
	Shape  []int  `json:"shape"` // of one record
	Rows   int64  `json:"rows"`  // −1: not known before it was read
	// SourceRows is the number of rows of the whole input, where only some are taken.
	SourceRows *int64 `json:"source_rows,omitempty"`
	Dataset    string `json:"dataset,omitempty"`
	ETag       string `json:"etag,omitempty"`       // of an object: the version that was read
	Sequential bool   `json:"sequential,omitempty"` // an IDX file that can be read only from its start
}

// An Output describes an output that was published.
type Output struct {
	Path   string `json:"path"`
	Format string `json:"format"`
	Split  string `json:"split,omitempty"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	Files  *int64 `json:"files,omitempty"`  // in a folder
	SHA256 string `json:"sha256,omitempty"` // of a folder: that of its manifest, which has a hash over all files
	Parts  []Part `json:"parts,omitempty"`  // the files of an output that is several

	Shown string `json:"-"` // a name for messages, where it is not Path
	Load  string `json:"-"` // a line of Python that loads it, or empty
}

// A Part describes one file of an output that is several.
type Part struct {
	Path   string `json:"path"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256,omitempty"`
}

// Verified describes an output that equals its inputs.
type Verified struct {
	Path    string   `json:"path"`
	Split   string   `json:"split,omitempty"`
	Rows    int64    `json:"rows"`
	Columns []string `json:"columns"`
	Missing []string `json:"missing,omitempty"` // columns of the inputs that the output has no place for
}

// Applied is what was done to the data of one split.
type Applied struct {
	Split string `json:"split,omitempty"`
	applied
}

// Note adds something that the user may want to know.
func (r *Report) Note(format string, args ...any) { r.say(false, &r.Notes, format, args...) }

// warning adds something that the user should look at.
func (r *Report) warning(format string, args ...any) { r.say(true, &r.Warnings, format, args...) }

func (r *Report) say(warning bool, list *[]string, format string, args ...any) {
	text := display.Printable(fmt.Sprintf(format, args...))
	if slices.Contains(*list, text) { // said of an input that is read twice
		return
	}
	*list = append(*list, text)
	if r.events.Message != nil {
		r.events.Message(warning, text)
	}
}

// progress begins the display of a table of rows rows, −1 if that is unknown.
func (r *Report) progress(label string, rows int64) (read func(int64), end func()) {
	if r.events.Progress == nil {
		return nil, func() {}
	}
	return r.events.Progress(display.Printable(label), rows)
}

// applied is what was done to the data on the way; it is recorded in the outputs' metadata and in
// reports.
type applied struct {
	Rows      string   `json:"rows,omitempty"`
	Reshape   []int    `json:"reshape,omitempty"`
	Transpose []string `json:"transpose,omitempty"` // columns
	Invert    []string `json:"invert,omitempty"`    // columns
	ByteOrder string   `json:"byte_order,omitempty"`
	Salvage   bool     `json:"salvage,omitempty"`
	Label     string   `json:"label_column,omitempty"` // as it was said
}

// Keys of the metadata of outputs.
const (
	keySources = "idx.sources" // JSON: the base names of the files, in the order of the columns
	keyDataset = "idx.dataset"
	keySplit   = "idx.split"
	keyApplied = "idx.applied" // JSON: see applied
	keyPlan    = "idx.plan"    // of a part of a plan: its ID
)
