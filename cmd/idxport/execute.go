package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/sink/parts"
	"github.com/idxport/idxport/sink/publish"
	"github.com/idxport/idxport/source"
)

// convert does the work of `idxport convert`: everything that can be wrong with the command line and the inputs is found before an output is begun, and
// all outputs are complete before one is published.
func (p *program) convert(ctx context.Context, o *convertOptions, r *report) error {
	o.counted = o.countsRows()
	jobs, err := p.jobsWithOutputs(ctx, o, r)
	if err != nil {
		return err
	}
	defer closeAll(jobs)
	if err := checkVerify(o, jobs); err != nil {
		return err
	}
	for _, j := range jobs {
		r.describe(j)
	}
	if err := p.prepareLabels(ctx, jobs, o); err != nil {
		return err
	}
	if unchanged, err := o.findUnchanged(jobs); err != nil || unchanged {
		r.unchanged(unchanged, jobs)
		return err
	}
	if err := checkSpace(jobs); err != nil {
		return err
	}
	set, err := prepareAll(ctx, jobs, o)
	if err != nil {
		return err
	}
	defer set.Discard() // no effect after Commit
	w := &writers{program: p, options: o, report: r, set: set}
	for _, j := range jobs {
		for _, pass := range j.passes() {
			err := w.run(ctx, j, pass)
			if len(allOutputs(jobs)) > 1 && exitCode(err) == exitReaderGone {
				r.warning("who read standard output went away, so no output was made")
			}
			if err != nil {
				return err
			}
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	w.writeCards()
	if err := w.verifyOutputs(ctx); err != nil {
		return err
	}
	if err := set.Commit(); err != nil {
		return err
	}
	w.reportOutputs()
	return nil
}

// jobsWithOutputs opens the inputs of o and says which outputs are to be made of each split. Nothing is written yet.
func (p *program) jobsWithOutputs(ctx context.Context, o *convertOptions, r *report) ([]*job, error) {
	if err := checkUsed(o); err != nil {
		return nil, err
	}
	splits, err := o.find(ctx, false)
	if err != nil {
		return nil, err
	}
	jobs, err := p.openJobs(ctx, o, splits, r)
	if err != nil {
		return nil, err
	}
	if err = o.checkRows(jobs); err == nil {
		err = expandOutputs(jobs, o)
	}
	if err != nil {
		closeAll(jobs)
		return nil, err
	}
	return jobs, nil
}

// checkRows refuses --rows where it takes nothing of all jobs, although it asks for some rows.
func (o *convertOptions) checkRows(jobs []*job) error {
	none := func(j *job) bool { return j.meant.schema.Rows == 0 && j.meant.schema.Source > 0 }
	if !o.rows.given || o.planID != "" || o.rows.first == o.rows.last && !o.rows.open || slices.ContainsFunc(jobs, func(j *job) bool { return !none(j) }) {
		return nil
	}
	return usagef("--rows %s takes no row of any input", o.rows)
}

// countsRows tells whether an output has the number of rows in a header, or as many digits in names of files.
func (o *convertOptions) countsRows() bool {
	return slices.ContainsFunc(o.outputs, func(a outputArg) bool {
		return slices.ContainsFunc(a.formats, func(f formats.Format) bool { return f.Folder || f.OneColumn || f.Images })
	})
}

// prepareLabels finds the largest label where the names of folders depend on it.
func (p *program) prepareLabels(ctx context.Context, jobs []*job, o *convertOptions) error {
	for _, j := range jobs {
		for i := range j.meant.outputs {
			out := &j.meant.outputs[i]
			if !out.format.Folder {
				continue
			}
			most, err := o.maxLabel(ctx, p, j.split)
			if err != nil {
				return err
			}
			out.options.MaxLabel = most
		}
	}
	return nil
}

// checkSpace compares the sizes that are known in advance with the space that is free, for each folder that is written to.
func checkSpace(jobs []*job) error {
	need := map[string]int64{}
	for _, j := range jobs {
		for _, pass := range j.passes() {
			for _, out := range pass.outputs {
				if dir, ok := spaceFor(out.path); ok {
					need[dir] += out.format.LeastSize(pass.schema, out.options)
				}
			}
		}
	}
	for _, dir := range keys(need) {
		free, err := publish.FreeSpace(dir)
		if err == nil && uint64(need[dir]) > free {
			return fault.New(fault.IO, "not enough space in %s: the outputs need at least %s, %s are free", dir, bytesText(need[dir]), bytesText(int64(free)))
		}
	}
	return nil
}

// spaceFor is the folder whose file system an output takes space of; false for standard output, devices and pipes.
func spaceFor(path string) (dir string, ok bool) {
	if path == stdout || object.IsURL(path) {
		return "", false
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return "", false
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	return filepath.Dir(path), true
}

// prepare hands all targets to the publisher, in the order of the outputs.
func prepare(jobs []*job, o *convertOptions) (*publish.Set, error) {
	var targets []publish.Target
	var inputs []string
	for _, j := range jobs {
		for _, f := range j.split.Files {
			if f.Path != source.Stdin {
				inputs = append(inputs, f.Path)
			}
		}
		for _, pass := range j.passes() {
			for i := range pass.outputs {
				targets = pass.outputs[i].addTarget(targets)
			}
		}
	}
	if o.classes != "" {
		inputs = append(inputs, o.classes)
	}
	return publish.Prepare(targets, publish.Options{Overwrite: o.overwrite, Inputs: inputs})
}

// addTarget appends what the publisher makes of o, unless it is there for another split.
func (o *output) addTarget(targets []publish.Target) []publish.Target {
	if o.path == stdout || object.IsURL(o.path) {
		return targets
	}
	t := publish.Target{Path: o.path, Folder: o.folder(), MakeParents: o.parents, Key: o.madeKey}
	if o.division != nil {
		t.Mark = o.division.mark
	}
	if i := slices.Index(targets, t); i >= 0 && o.shared() {
		o.target = i
		return targets
	}
	o.target = len(targets)
	return append(targets, t)
}

// writers makes the sinks of a run and remembers what they wrote.
type writers struct {
	program *program
	options *convertOptions
	report  *report
	set     *outputSet
	written []*written
}

// written is what is known of an output that was written.
type written struct {
	output output
	job    *job
	pass   *pass
	rows   int64
	stream *counter        // where files and standard output go through
	folder *publish.Folder // nil for files
	parts  *parts.Sink     // nil unless the output is many files
	hash   hash.Hash       // nil unless wanted
	load   string          // a line that loads it
}

// run makes the outputs of one pass.
func (w *writers) run(ctx context.Context, j *job, p *pass) error {
	var sinks []sink.Sink
	first := len(w.written)
	for _, out := range p.outputs {
		s, err := w.open(j, p, out)
		if err != nil {
			return fmt.Errorf("%s: %w", out.name(), err)
		}
		sinks = append(sinks, s)
	}
	progress := w.report.progress(j.label(), p.schema.Rows)
	stats, err := pipeline.Run(ctx, p.table, p.schema, sinks, pipeline.Options{Workers: w.options.workers, Progress: progress.rows})
	progress.done()
	if err != nil {
		return err
	}
	for _, out := range w.written[first:] {
		out.rows = stats.Rows
		if err := out.output.sent(); err != nil {
			return err
		}
	}
	w.report.tableNotes(p.table, w.options.others != nil)
	for _, s := range sinks {
		if n, ok := s.(interface{ Notes() []string }); ok {
			for _, note := range n.Notes() {
				w.report.note("%s", note)
			}
		}
	}
	return nil
}

// open makes the sink of one output.
func (w *writers) open(j *job, p *pass, out output) (_ sink.Sink, err error) {
	made := &written{output: out, job: j, pass: p, load: out.format.LoadLine(out.path, p.schema, out.options)}
	target := formats.Output{}
	var to io.Writer = w.program.stdout
	switch {
	case out.path == stdout:
		if terminal(w.program.stdout) && !out.format.Text() {
			return nil, usagef("will not write %s to a terminal", out.format.Name).WithHint("redirect standard output to a file or a program")
		}
		if closed(w.program.stdout) {
			return nil, closedError()
		}
	case out.object != nil:
		to = out.object
	case out.folder():
		made.folder = w.set.Folder(out.target)
		target.Folder = made.folder
	default:
		to = w.set.File(out.target)
	}
	if out.division != nil {
		w.written = append(w.written, made)
		made.load = out.format.LoadPartsLine(out.path, p.schema, out.options)
		made.parts, err = w.openParts(p, out, made.folder)
		return made.parts, err
	}
	if !out.format.Folder {
		if w.options.checksum {
			made.hash = sha256.New()
			to = io.MultiWriter(to, made.hash)
		}
		made.stream = &counter{w: to}
		target.Writer = made.stream
	}
	w.written = append(w.written, made)
	return out.format.Open(target, p.schema, out.options)
}

// reportOutputs reports what was written, once it is published.
func (w *writers) reportOutputs() {
	for _, made := range w.written {
		o := outputReport{Path: made.output.path, Format: made.output.format.Name, Split: made.job.split.Name, Rows: made.rows}
		switch {
		case made.parts != nil:
			o.addParts(made)
		case made.folder != nil:
			files, bytes := made.folder.Totals()
			o.Files, o.Bytes = &files, bytes
			if w.options.checksum {
				sum := sha256.Sum256(made.folder.Sealed())
				o.SHA256 = hex.EncodeToString(sum[:])
			}
		default:
			o.Bytes = made.stream.n
			if made.hash != nil {
				o.SHA256 = hex.EncodeToString(made.hash.Sum(nil))
			}
		}
		w.report.wrote(o, made.load)
	}
}

// A counter counts what is written through it.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
