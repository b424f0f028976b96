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

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/pipeline"
)

// reportVersion is the version of the object that --json prints. Fields may be added to it without a new version.
const reportVersion = 1

// A report gathers what a run has to tell and shows it: lines on standard error while it runs, one JSON object at the end if that was asked for.
type report struct {
	SchemaVersion int    `json:"schema_version"`
	Status        string `json:"status"` // "ok", "unchanged" or "error"
	Command       string `json:"command"`
	*convert.Report
	Plan    *planReport  `json:"plan,omitempty"`
	Files   []fileReport `json:"files,omitempty"` // of inspect
	Seconds float64      `json:"seconds"`
	Error   *errorReport `json:"error,omitempty"`

	program      *program
	asked        *settings
	start        time.Time
	dataOnStdout bool // although no -o says so
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
	return &report{SchemaVersion: reportVersion, Command: command, Report: convert.NewReport(convert.Events{}), program: p, asked: new(settings), start: time.Now()}
}

// reporting runs f with a report of what c asks for, and shows its end: the JSON object, or the error.
func (p *program) reporting(ctx context.Context, c *cli.Command, f func(*report) error) error {
	r := p.newReport(c.Name)
	err := pipeline.Recovering(func() error {
		if err := p.parse(c, r.asked); err != nil {
			return err
		}
		r.asked.Events = r.events()
		r.Report = convert.NewReport(r.asked.Events)
		return f(r)
	})
	if errors.Is(err, context.Canceled) && ctx.Err() != nil { // what was interrupted may not know why
		err = context.Cause(ctx)
	}
	return r.end(err)
}

// end shows the end of a run: the JSON object, if that was asked for, and the error, if there is one.
func (r *report) end(err error) error {
	if r.asked.json {
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
		if r.dataOnStdout || slices.ContainsFunc(r.asked.Outputs, func(o string) bool { return o == convert.Stdio || strings.HasSuffix(o, "="+convert.Stdio) }) {
			out = r.program.stderr
		}
		if _, werr := fmt.Fprintln(out, display.JSON(r)); err == nil {
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
	case r.logsJSON():
		r.logJSON("error", display.Printable(err.Error()), display.Printable(fault.HintOf(err)))
	default:
		printError(r.program.stderr, err)
	}
	return reported{exitCode(err)}
}

// logsJSON reports whether messages are written as JSON.
func (r *report) logsJSON() bool { return r.asked.logFormat == "json" }

// events show what a run does while it runs.
func (r *report) events() convert.Events {
	return convert.Events{Progress: r.progress, Message: func(warning bool, text string) {
		level := "note"
		if warning {
			level = "warning"
		}
		switch {
		case r.asked.quiet && !warning:
		case r.logsJSON():
			r.logJSON(level, text, "")
		default:
			fmt.Fprintf(r.program.stderr, "%s: %s\n", level, text)
		}
	}}
}

// logJSON writes a message as one JSON object on a line of its own.
func (r *report) logJSON(level, message, hint string) {
	fmt.Fprintln(r.program.stderr, display.JSON(struct {
		Time    string `json:"time"`
		Level   string `json:"level"`
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
	}{time.Now().UTC().Format(time.RFC3339), level, message, hint}))
}

// tell writes a line about what was done; level is what a log calls it.
func (r *report) tell(level, line string) {
	switch {
	case r.asked.quiet:
	case r.logsJSON():
		r.logJSON(level, display.Printable(line), "")
	default:
		fmt.Fprintln(r.program.stderr, display.Printable(line))
	}
}

// wrote tells of an output that was published, and of its parts if it has their checksums. On a terminal, the first of each format comes with a line that loads it.
func (r *report) wrote(o convert.Output, first bool) {
	name := filepath.ToSlash(o.Path)
	if o.Path == convert.Stdio {
		if name = "standard output"; o.SHA256 == "" { // it may be in a pipe, whose end has its own messages
			return
		}
	}
	what := fmt.Sprintf("%s  %s  %s", name, display.Count(o.Rows, "row"), display.Bytes(o.Bytes))
	switch {
	case o.Parts != nil:
		what = fmt.Sprintf("%s  %s  %s  %s", filepath.ToSlash(o.Shown), display.Count(o.Rows, "row"), display.Count(int64(len(o.Parts)), "file"), display.Bytes(o.Bytes))
	case o.Files != nil:
		what = fmt.Sprintf("%s  %s  %s", filepath.ToSlash(filepath.Clean(o.Path))+"/", display.Count(*o.Files, "file"), display.Bytes(o.Bytes))
	}
	if o.SHA256 != "" {
		what += "  sha256 " + o.SHA256
	}
	lines := []string{what}
	for _, p := range o.Parts {
		if p.SHA256 != "" {
			lines = append(lines, fmt.Sprintf("%s  %s  %s  sha256 %s", filepath.ToSlash(p.Path), display.Count(p.Rows, "row"), display.Bytes(p.Bytes), p.SHA256))
		}
	}
	for _, line := range lines {
		r.tell("wrote", line)
	}
	if !r.asked.quiet && !r.logsJSON() && first && o.Path != convert.Stdio && o.Load != "" && terminal(r.program.stderr) {
		fmt.Fprintf(r.program.stderr, "   %s\n", display.Printable(o.Load))
	}
}

// wroteAll tells of all outputs.
func (r *report) wroteAll() {
	for i, o := range r.Outputs {
		r.wrote(o, !slices.ContainsFunc(r.Outputs[:i], func(other convert.Output) bool { return other.Format == o.Format }))
	}
}
