package convert

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/idxport/idxport/internal/compare"
	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/source"
)

// A Report describes what a run has read, decided and written. It is returned even with an error;
// it then holds what was known before the error.
type Report struct {
	Inputs      []Input              `json:"inputs"`
	Outputs     []Output             `json:"outputs"`               // set once all of them are published
	Unchanged   []string             `json:"unchanged,omitempty"`   // outputs that are up to date
	Verified    []Verified           `json:"verified,omitempty"`    // by Verify alone
	Differences []compare.Difference `json:"differences,omitempty"` // from the inputs, of the first 100 such rows
	Applied     []Applied            `json:"applied"`
	Notes       []string             `json:"notes"`
	Warnings    []string             `json:"warnings"`

	events Events
	adding sync.Mutex
}

// NewReport returns a report whose empty lists are not null in JSON. It calls events for additions.
func NewReport(events Events) *Report {
	return &Report{Inputs: []Input{}, Outputs: []Output{}, Applied: []Applied{}, Notes: []string{},
		Warnings: []string{}, events: events}
}

// An Input describes a column that was read.
type Input struct {
	Path   string `json:"path"`
	Split  string `json:"split,omitempty"`
	Column string `json:"column"`
	DType  string `json:"dtype"`
	Shape  []int  `json:"shape"` // of one record
	Rows   int64  `json:"rows"`  // those that are chosen; −1 if unknown before they were read
	// SourceRows is the number of rows of the whole input, with --rows or if some are left out.
	SourceRows *int64   `json:"source_rows,omitempty"`
	Dataset    string   `json:"dataset,omitempty"`
	ETag       string   `json:"etag,omitempty"`       // version of an object that was read
	Sequential bool     `json:"sequential,omitempty"` // an IDX file that can only be read from its start
	Classes    []string `json:"classes,omitempty"`
}

// An Output describes an output that was published.
type Output struct {
	Path   string `json:"path"`
	Format string `json:"format"`
	Split  string `json:"split,omitempty"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	Files  *int64 `json:"files,omitempty"` // number of files in a folder
	Parts  []Part `json:"parts,omitempty"` // the files of a sharded output
	Shown  string `json:"-"`               // the name for messages, where it is not Path
}

// A Part describes one file of a sharded output.
type Part struct {
	Path  string `json:"path"`
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes"`
}

// Verified describes an output that equals its inputs.
type Verified struct {
	Path    string   `json:"path"`
	Split   string   `json:"split,omitempty"`
	Rows    int64    `json:"rows"`
	Columns []string `json:"columns"`
	Missing []string `json:"missing,omitempty"` // columns of the inputs that the output does not hold
	Paths   []string `json:"-"`                 // of all its files, if each column has its own; Path is the first
}

// Applied lists what was done to one split. The metadata of outputs has it, too, without Split.
type Applied struct {
	Split     string   `json:"split,omitempty"`
	Columns   []string `json:"columns,omitempty"`
	Rows      string   `json:"rows,omitempty"`
	Where     []string `json:"where,omitempty"`
	Holdout   []string `json:"holdout,omitempty"`
	Stratify  bool     `json:"stratify,omitempty"`
	Shuffle   bool     `json:"shuffle,omitempty"`
	Seed      int64    `json:"seed,omitempty"`
	Take      int64    `json:"take,omitempty"`
	Part      string   `json:"part,omitempty"`
	Shape     []int    `json:"shape,omitempty"`
	Grey      bool     `json:"grey,omitempty"`
	Resize    string   `json:"resize,omitempty"`    // the value of --resize
	Decoders  []string `json:"decoders,omitempty"`  // decoders and scalers on which the pixels depend
	Transpose []string `json:"transpose,omitempty"` // names of columns
	Salvage   bool     `json:"salvage,omitempty"`
	Label     string   `json:"label_column,omitempty"` // the value of --label-column
}

// flags returns the flags that do what a lists, if images turn without a flag (turns) or not.
func (a Applied) flags(turns bool) (flags string) {
	is, count := strconv.FormatBool, func(n int64) string { return fmt.Sprintf("%.d", n) } // "" for 0
	for _, flag := range [][]string{{"columns", strings.Join(a.Columns, ",")}, {"rows", a.Rows},
		append([]string{"where"}, a.Where...), append([]string{"holdout"}, a.Holdout...), {"stratify", is(a.Stratify)},
		{"shuffle", is(a.Shuffle)}, {"seed", count(a.Seed)}, {"take", count(a.Take)}, {"part", a.Part},
		{"shape", strings.ReplaceAll(strings.Trim(fmt.Sprint(a.Shape), "[]"), " ", "x")}, {"grey", is(a.Grey)},
		{"resize", a.Resize}, {"salvage", is(a.Salvage)}, {"label-column", a.Label},
		{"transpose", is(a.Transpose != nil && !turns)}, {"transpose=false", is(a.Transpose == nil && turns)}} {
		for _, value := range flag[1:] {
			if value != "" && value != "false" {
				flags += " --" + flag[0] + strings.TrimSuffix(" "+text.Quote(value), " true")
			}
		}
	}
	return flags
}

// Keys of the metadata of outputs; package source has others.
const (
	keySources = "idx.sources" // JSON: the base names of the input files, in the order of the columns
	keySplit   = "idx.split"
)

// Note adds a piece of information for the user.
func (r *Report) Note(format string, args ...any) { r.add(false, &r.Notes, format, args...) }

// warning adds a warning, which is shown even if notes are not.
func (r *Report) warning(format string, args ...any) { r.add(true, &r.Warnings, format, args...) }

func (r *Report) add(warning bool, list *[]string, format string, args ...any) {
	message := text.Printable(fmt.Sprintf(format, args...))
	r.adding.Lock()
	defer r.adding.Unlock()
	if slices.Contains(*list, message) { // an input that is read twice has its notes twice
		return
	}
	*list = append(*list, message)
	if r.events.Message != nil {
		r.events.Message(warning, message)
	}
}

// splitNotes reports what was decided about s for the user, and returns the prefix of more notes.
func (r *Report) splitNotes(s dataset.Split) (prefix string) {
	r.addInfo(source.Info{Notes: s.FolderNotes})
	if s.Name != "" {
		prefix = s.Name + ": "
	}
	for _, n := range s.Notes {
		r.Note("%s%s", prefix, n)
	}
	if s.Doubt != "" {
		r.warning("%s%s", prefix, s.Doubt)
	}
	return prefix
}

// addInfo adds what was found while a table was read or written.
func (r *Report) addInfo(info source.Info) {
	for _, n := range info.Notes {
		r.Note("%s", n)
	}
	for _, w := range info.Warnings {
		r.warning("%s", w)
	}
}
