package convert

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
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

// Note tells something that the user may want to know.
func (r *Report) Note(format string, args ...any) { r.say(false, &r.Notes, format, args...) }

// warning tells something that the user should look at.
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

// describe tells of a split that is about to be converted: its files, and what was decided for the user.
func (r *Report) describe(j *job) {
	s := j.split
	r.reads(s, j.logical)
	prefix := r.splitNotes(s)
	if rows := j.logical.schema; rows.Rows == 0 && rows.Source > 0 {
		r.warning("%s--rows takes none of its %s rows", prefix, display.Thousands(rows.Source))
	}
	if d := s.Dataset; d != nil && s.Evidence != dataset.ByOption {
		r.Note("%srecognised as %s by %s", prefix, d.Title, s.Evidence)
	}
	for i, p := range j.passes() {
		a := p.applied
		if i > 0 && display.JSON(a) == display.JSON(j.logical.applied) {
			continue
		}
		if d := s.Dataset; d != nil && len(a.Transpose) > 0 && d.Transposed {
			r.Note("%s%s stores its images transposed; they are turned upright (--transpose=false leaves them)", prefix, d.Title)
		}
		if display.JSON(a) != "{}" {
			r.Applied = append(r.Applied, Applied{Split: s.Name, applied: a})
		}
	}
}

// reads tells of the files of s, which the table of p is made of.
func (r *Report) reads(s dataset.Split, p *pass) {
	columns := p.table.Columns()
	for _, f := range s.Files {
		in := Input{Path: f.Path, Split: s.Name, Column: f.Name, Rows: p.table.Rows()}
		in.ETag, in.Sequential = p.opened.of(f.Path)
		if p.applied.Rows != "" {
			in.SourceRows = &p.schema.Source
		}
		if s.Dataset != nil {
			in.Dataset = s.Dataset.Name
		}
		of := slices.DeleteFunc(slices.Clone(columns), func(c source.Column) bool { return c.Name != f.Name })
		if len(of) == 0 { // a table by itself, or a label of several numbers
			of = slices.DeleteFunc(slices.Clone(columns), func(c source.Column) bool { return c.Origin != filepath.Base(f.Path) && len(s.Files) > 1 })
		}
		for _, c := range of {
			in.Column, in.DType, in.Shape = c.Name, c.DType.String(), append([]int{}, c.Shape...)
			r.Inputs = append(r.Inputs, in)
		}
	}
}

// splitNotes tells what was decided for the user about s. The result is what other notes about s begin with.
func (r *Report) splitNotes(s dataset.Split) (prefix string) {
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

// tableNotes tells what t has to tell: of IDX files that are not as they should be, or of what others cannot tell.
func (r *Report) tableNotes(t source.Table, others bool) {
	say := r.warning
	if others {
		say = r.Note
	}
	for _, n := range source.Notes(t) {
		say("%s", n)
	}
}

// unchanged tells that nothing had to be done.
func (r *Report) unchanged(jobs []*job) {
	for _, out := range allOutputs(jobs) {
		if !slices.Contains(r.Unchanged, out.path) { // once, where splits share a folder
			r.Unchanged = append(r.Unchanged, out.path)
			r.Note("%s: unchanged", out.path)
		}
	}
}
