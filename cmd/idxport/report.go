package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/sinks"
	"github.com/idxport/idxport/internal/text"
)

// A report collects the results of a run and shows them: as lines on standard error while it runs,
// which are JSON with --json, and then as one object at the end.
type report struct {
	SchemaVersion int    `json:"schema_version"` // added fields do not change it
	Status        string `json:"status"`         // "ok", "unchanged" or "error"
	Command       string `json:"command"`
	*convert.Report
	Files   []fileReport `json:"files,omitempty"` // of inspect
	Seconds float64      `json:"seconds"`
	Error   *errorReport `json:"error,omitempty"`

	settings       *settings
	stdin          io.Reader
	stdout, stderr io.Writer
	start          time.Time
	dataOnStdout   bool // standard output carries data although no -o asks for that
}

func newReport(command string, stdin io.Reader, stdout, stderr io.Writer) *report {
	return &report{SchemaVersion: 1, Command: command, Report: convert.NewReport(convert.Events{}),
		settings: new(settings), stdin: stdin, stdout: stdout, stderr: stderr, start: time.Now()}
}

// end shows the end of a run, its error, and with --json the object; it returns the exit code.
func (r *report) end(ctx context.Context, err error) int {
	if errors.Is(err, context.Canceled) && ctx.Err() != nil { // say which signal it was
		err = context.Cause(ctx)
	}
	r.showError(err)
	if r.settings.JSON {
		if werr := r.writeObject(err); err == nil && werr != nil {
			r.showError(werr)
			err = werr
		}
	}
	return exitCode(err)
}

// showError shows the error that ends a run on one line, and its hint on another. If the reader of
// standard output has gone, nothing is shown, as by other filters.
func (r *report) showError(err error) {
	if err != nil && exitCode(err) != exitReaderGone {
		r.say("error", err.Error(), r.hintOf(err))
	}
}

// hintOf returns the hint of err. If it has a flag that this command lacks, it says whose that is;
// for a file that is not there, it has the names that are near, says why, or how to write it.
func (r *report) hintOf(err error) string {
	hint := fault.HintOf(err)
	if e, ok := errors.AsType[*fault.Error](err); ok && hint == "" && errors.Is(err, fs.ErrNotExist) {
		names, _ := fs.Glob(os.DirFS(filepath.Dir(e.Path)), "*") // none of a URL
		hint = text.DidYouMean(filepath.Base(e.Path), names)
		if slices.Contains(names, filepath.Base(e.Path)) {
			hint = "it is a link to a file that is not there"
		}
		later := slices.Index(r.settings.Inputs, e.Path) > 0 && r.settings.Outputs != nil
		if _, _, known := sinks.ByName(e.Path); known && later && hint == "" {
			hint = "if it is an output, write -o " + text.Path(e.Path) + ": each has an -o of its own"
		}
	}
	for word := range strings.FieldsSeq(hint) {
		flag := strings.TrimRight(word, ",;:.)")
		isFlag := strings.HasPrefix(flag, "--") && flagNamed(allFlags(), flag) != nil
		if isFlag && flagNamed(flagsOf(r.Command), flag) == nil && !strings.Contains(hint, "idxport ") {
			return hint + " (" + flag + " is a flag of idxport convert)"
		}
	}
	return hint
}

// describeError returns err for the JSON report.
func (r *report) describeError(err error) *errorReport {
	code := exitCode(err)
	e := &errorReport{Message: text.Printable(err.Error()), Hint: text.Printable(r.hintOf(err)),
		Exit: code, Code: cmp.Or(codeNames[code], "interrupted")}
	for _, f := range fault.All(err) {
		e.Path = cmp.Or(e.Path, f.Path)
		if e.Offset == nil && f.Offset >= 0 {
			e.Offset = &f.Offset
		}
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok && e.Path == "" {
		e.Path = path.Path
	}
	return e
}

// An errorReport is an error in the JSON report: that of the run, or of a file of inspect.
type errorReport struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Exit    int    `json:"exit"`
	Code    string `json:"code"` // see codeNames
	Path    string `json:"path,omitempty"`
	Offset  *int64 `json:"offset,omitempty"` // bytes, in the file or in its decompressed contents
}

// writeObject writes the report of a run that ended with err: to stderr if stdout carries data.
func (r *report) writeObject(err error) error {
	r.Seconds, r.Status = time.Since(r.start).Seconds(), "ok"
	if r.Unchanged != nil && len(r.Outputs) == 0 {
		r.Status = "unchanged"
	}
	if err != nil {
		r.Status, r.Error = "error", r.describeError(err)
	}
	out := r.stdout
	toStdout := func(o string) bool {
		return slices.Contains([]string{convert.Stdio, "/dev/stdout", "/dev/fd/1"}, o[strings.LastIndex(o, "=")+1:])
	}
	if r.dataOnStdout || slices.ContainsFunc(r.settings.Outputs, toStdout) {
		out = r.stderr
	}
	_, err = fmt.Fprintln(out, text.Escaped(text.JSON(r)))
	return err
}

// message shows a note or a warning.
func (r *report) message(warning bool, text string) {
	level := "note"
	if warning {
		level = "warning"
	}
	r.say(level, text, "")
}

// say shows a message of a level and its hint, if there is one; with --json as one JSON object on a
// line of its own.
func (r *report) say(level, message, hint string) {
	switch {
	case r.settings.Quiet && level != "warning" && level != "error":
	case r.settings.JSON:
		fmt.Fprintln(r.stderr, text.Escaped(text.JSON(struct {
			Time    string `json:"time"`
			Level   string `json:"level"`
			Message string `json:"message"`
			Hint    string `json:"hint,omitempty"`
		}{time.Now().UTC().Format(time.RFC3339), level, text.Printable(message), text.Printable(hint)})))
	default:
		prefix := map[string]string{"error": "idxport: ", "warning": "warning: ", "note": "note: "}[level]
		_ = show(r.stderr, "%s%s\n", prefix, message) // an error of standard error cannot be shown
		if hint != "" {
			_ = show(r.stderr, "hint: %s\n", hint)
		}
	}
}

// wroteAll shows the published outputs; unit is the noun for what they hold.
func (r *report) wroteAll(unit string) {
	for _, o := range r.Outputs {
		what := []string{filepath.ToSlash(o.Path), text.Count(o.Rows, unit)}
		switch {
		case o.Path == convert.Stdio: // the reader of a pipe has its own messages
			continue
		case o.Parts != nil:
			what = []string{filepath.ToSlash(o.Shown), what[1], text.Count(len(o.Parts), "file")}
		case o.Files != nil:
			what = []string{filepath.ToSlash(filepath.Clean(o.Path)) + "/", text.Count(*o.Files, "file")}
		}
		r.say("wrote", strings.Join(append(what, text.Bytes(o.Bytes)), "  "), "")
	}
}

// A fileReport is what inspect found in one file.
type fileReport struct {
	*convert.File
	Problem *errorReport `json:"problem,omitempty"`
}

// progress returns the display of a pass over the total rows of title, or −1, for a terminal only.
func (r *report) progress(title string, total int64) (update func(int64), end func()) {
	if r.settings.Quiet || r.settings.JSON || !terminal(r.stderr) || os.Getenv("TERM") == "dumb" {
		return func(int64) {}, func() {}
	}
	b := &bar{w: r.stderr, title: text.Printable(title), total: total}
	return b.rows, b.done
}
