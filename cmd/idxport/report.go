package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
)

// reportVersion is the version of the object that --json prints. Fields may be added to it without a new version.
const reportVersion = 1

// A report gathers what a run has to tell and shows it: lines on standard error while it runs, one JSON object at the end if that was asked for.
type report struct {
	SchemaVersion int              `json:"schema_version"`
	Status        string           `json:"status"` // "ok", "unchanged" or "error"
	Command       string           `json:"command"`
	Inputs        []inputReport    `json:"inputs"`
	Outputs       []outputReport   `json:"outputs"`
	Unchanged     []string         `json:"unchanged,omitempty"` // outputs that need not be made
	Plan          *planReport      `json:"plan,omitempty"`
	Files         []*fileReport    `json:"files,omitempty"` // of inspect
	Verified      []verifiedReport `json:"verified,omitempty"`
	Applied       []appliedItem    `json:"applied"`
	Notes         []string         `json:"notes"`
	Warnings      []string         `json:"warnings"`
	Seconds       float64          `json:"seconds"`
	Error         *errorReport     `json:"error,omitempty"`

	program      *program
	start        time.Time
	quiet        bool
	jsonOut      bool
	jsonLog      bool
	showProgress string // auto, always or never
	dataOnStdout bool
}

// inputReport describes one file that was read.
type inputReport struct {
	Path   string `json:"path"`
	Split  string `json:"split,omitempty"`
	Column string `json:"column"`
	DType  string `json:"dtype"`
	Shape  []int  `json:"shape"` // of one record
	Rows   int64  `json:"rows"`  // −1: not known before it was read
	// SourceRows is the number of rows of the whole input, where --rows takes some.
	SourceRows *int64 `json:"source_rows,omitempty"`
	Dataset    string `json:"dataset,omitempty"`
	ETag       string `json:"etag,omitempty"`       // of an object: the version that was read
	Sequential bool   `json:"sequential,omitempty"` // an IDX file that can be read only from its start
}

// outputReport describes one output.
type outputReport struct {
	Path   string `json:"path"`
	Format string `json:"format"`
	Split  string `json:"split,omitempty"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	Files  *int64 `json:"files,omitempty"`  // in a folder
	SHA256 string `json:"sha256,omitempty"` // of a folder: that of its manifest, which holds a hash over all files
	// Parts are the files of an output that was divided.
	Parts []partReport `json:"parts,omitempty"`

	shown string // what lines call it, if not by its path
}

// partReport describes one file of an output that was divided.
type partReport struct {
	Path   string `json:"path"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256,omitempty"`
}

// appliedItem is what was done to the data of one split.
type appliedItem struct {
	Split string `json:"split,omitempty"`
	applied
}

// errorReport is the error that ended a run.
type errorReport struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Exit    int    `json:"exit"`
	Code    string `json:"code"` // the kind of error: see codeNames
	Path    string `json:"path,omitempty"`
	Offset  *int64 `json:"offset,omitempty"` // in the decompressed data, bytes
}

func (p *program) newReport(command string) *report {
	return &report{SchemaVersion: reportVersion, Command: command, program: p, start: time.Now(),
		Inputs: []inputReport{}, Outputs: []outputReport{}, Applied: []appliedItem{}, Notes: []string{}, Warnings: []string{}}
}

// reporting runs f with a report and shows its end: the JSON object, or the error.
func (p *program) reporting(ctx context.Context, c *cli.Command, f func(*report) error) error {
	r := p.newReport(c.Name)
	r.quiet, r.jsonOut = c.Bool("quiet"), c.Bool("json")
	err := r.parse(c)
	if err == nil {
		_, err = recovering(func() (struct{}, error) { return struct{}{}, f(r) })
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil { // what was interrupted may not know why
		err = context.Cause(ctx)
	}
	return r.end(err)
}

// end shows the end of a run: the JSON object, if that was asked for, and the error, if there is one.
func (r *report) end(err error) error {
	if r.jsonOut {
		r.Seconds, r.Status = time.Since(r.start).Seconds(), "ok"
		if r.Unchanged != nil && len(r.Outputs) == 0 {
			r.Status = "unchanged"
		}
		if err != nil {
			r.Status, r.Error = "error", describeError(err)
		}
		if makeLegible(reflect.ValueOf(r)) {
			r.Notes = append(r.Notes, `some names are not UTF-8: here \xff stands for a byte ff, and \\ for a backslash`)
		}
		out := r.program.stdout
		if r.dataOnStdout {
			out = r.program.stderr
		}
		if _, werr := fmt.Fprintln(out, jsonText(r)); err == nil {
			err = werr
		}
	}
	switch {
	case err == nil:
		if len(r.Outputs)+len(r.Verified) > 0 && r.draws() {
			fmt.Fprintf(r.program.stderr, "done in %v\n", time.Since(r.start).Round(10*time.Millisecond))
		}
		return nil
	case exitCode(err) == exitReaderGone: // who read standard output has seen enough, as with other filters
	case r.jsonLog:
		r.logJSON("error", oneLine(err.Error()), hintOf(err))
	default:
		printError(r.program.stderr, err)
	}
	return reported{exitCode(err)}
}

// parse validates the flags about reports.
func (r *report) parse(c *cli.Command) (err error) {
	for _, o := range c.StringSlice("output") {
		r.dataOnStdout = r.dataOnStdout || o == stdout || strings.HasSuffix(o, "="+stdout)
	}
	format, err := oneOf(c, "log-format") // first: it says how the errors about the others are written
	if err != nil {
		return err
	}
	r.jsonLog = format == "json"
	r.showProgress, err = oneOf(c, "progress")
	return err
}

// describe tells of a job that is about to run: its files, and what was decided for the user.
func (r *report) describe(j *job) {
	r.reads(j.split, j.meant)
	prefix := r.splitNotes(j.split)
	if s := j.meant.schema; s.Rows == 0 && s.Source > 0 {
		r.warning("%s--rows takes none of its %s rows", prefix, thousands(s.Source))
	}
	if d := j.split.Dataset; d != nil && j.split.Evidence != dataset.ByOption {
		r.note("%srecognised as %s by %s", prefix, d.Title, j.split.Evidence)
	}
	for i, pass := range j.passes() {
		a := pass.applied
		if i > 0 && jsonText(a) == jsonText(j.meant.applied) {
			continue
		}
		if d := j.split.Dataset; d != nil && len(a.Transpose) > 0 && d.Transposed {
			r.note("%s%s stores its images transposed; they are turned upright (--transpose=false leaves them)", prefix, d.Title)
		}
		if jsonText(a) != "{}" {
			r.Applied = append(r.Applied, appliedItem{Split: j.split.Name, applied: a})
		}
	}
}

// reads tells of the files of s, which the table of p is made of.
func (r *report) reads(s dataset.Split, p *pass) {
	columns := p.table.Columns()
	for _, f := range s.Files {
		in := inputReport{Path: f.Path, Split: s.Name, Column: f.Name, Rows: p.table.Rows()}
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
func (r *report) splitNotes(s dataset.Split) (prefix string) {
	if s.Name != "" {
		prefix = s.Name + ": "
	}
	for _, n := range s.Notes {
		r.note("%s%s", prefix, n)
	}
	return prefix
}

// note tells something the user may want to know.
func (r *report) note(format string, args ...any) { r.say("note", &r.Notes, format, args...) }

// tableNotes tells what t has to tell: of IDX files that are not as they should be, or of what others cannot tell.
func (r *report) tableNotes(t source.Table, others bool) {
	say := r.warning
	if others {
		say = r.note
	}
	for _, n := range source.Notes(t) {
		say("%s", n)
	}
}

// warning tells something the user should look at.
func (r *report) warning(format string, args ...any) { r.say("warning", &r.Warnings, format, args...) }

// unchanged tells that nothing had to be done.
func (r *report) unchanged(so bool, jobs []*job) {
	if !so {
		return
	}
	for _, out := range allOutputs(jobs) {
		if !slices.Contains(r.Unchanged, out.path) { // once, where splits share a folder
			r.Unchanged = append(r.Unchanged, out.path)
			r.note("%s: unchanged", out.path)
		}
	}
}

func (r *report) say(level string, list *[]string, format string, args ...any) {
	text := oneLine(fmt.Sprintf(format, args...))
	if slices.Contains(*list, text) { // said of an input that is read twice
		return
	}
	*list = append(*list, text)
	switch {
	case r.quiet:
	case r.jsonLog:
		r.logJSON(level, text, "")
	default:
		fmt.Fprintf(r.program.stderr, "%s: %s\n", level, text)
	}
}

// logJSON writes a message as one JSON object on a line of its own.
func (r *report) logJSON(level, message, hint string) {
	fmt.Fprintln(r.program.stderr, jsonText(struct {
		Time    string `json:"time"`
		Level   string `json:"level"`
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
	}{time.Now().UTC().Format(time.RFC3339), level, message, hint}))
}

// tell writes a line about what was done; level is what a log calls it.
func (r *report) tell(level, line string) {
	switch {
	case r.quiet:
	case r.jsonLog:
		r.logJSON(level, oneLine(line), "")
	default:
		fmt.Fprintln(r.program.stderr, oneLine(line))
	}
}

// wrote tells of an output that was published, and of its parts if it has their checksums. On a terminal, the first of each format comes with a line that loads it.
func (r *report) wrote(o outputReport, load string) {
	first := !slices.ContainsFunc(r.Outputs, func(other outputReport) bool { return other.Format == o.Format })
	r.Outputs = append(r.Outputs, o)
	if r.quiet || o.Path == stdout {
		return
	}
	what := fmt.Sprintf("%s  %s  %s", filepath.ToSlash(o.Path), counted(o.Rows, "row"), bytesText(o.Bytes))
	switch {
	case o.Parts != nil:
		what = fmt.Sprintf("%s  %s  %s  %s", filepath.ToSlash(o.shown), counted(o.Rows, "row"), counted(int64(len(o.Parts)), "file"), bytesText(o.Bytes))
	case o.Files != nil:
		what = fmt.Sprintf("%s  %s  %s", filepath.ToSlash(filepath.Clean(o.Path))+"/", counted(*o.Files, "file"), bytesText(o.Bytes))
	}
	if o.SHA256 != "" {
		what += "  sha256 " + o.SHA256
	}
	lines := []string{what}
	for _, p := range o.Parts {
		if p.SHA256 != "" {
			lines = append(lines, fmt.Sprintf("%s  %s  %s  sha256 %s", filepath.ToSlash(p.Path), counted(p.Rows, "row"), bytesText(p.Bytes), p.SHA256))
		}
	}
	for _, line := range lines {
		r.tell("wrote", line)
	}
	if !r.jsonLog && first && load != "" && terminal(r.program.stderr) {
		fmt.Fprintf(r.program.stderr, "   %s\n", oneLine(load))
	}
}

// counted is a number of things, each called what.
func counted(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
}

// bytesText is a number of bytes as people read it: decimal units, three digits.
func bytesText(n int64) string {
	v, units := float64(n), []string{"bytes", "kB", "MB", "GB", "TB"}
	for len(units) > 1 && v >= 999.5 {
		v, units = v/1000, units[1:]
	}
	if units[0] == "bytes" {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.3g %s", v, units[0])
}

// thousands writes n with commas.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
