package convert

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/sink/parts"
	"github.com/idxport/idxport/sink/publish"
	"github.com/idxport/idxport/source"
)

// Run converts: everything that can be wrong with the options and the inputs is found before an
// output is begun, and all outputs are complete before one is visible. An error of ctx is that of
// context.Cause. The report is not nil, whatever the error.
func Run(ctx context.Context, o Options) (*Report, error) {
	r := NewReport(o.Events)
	c, err := newConversion(o, false, r)
	if err != nil {
		return r, err
	}
	return r, c.run(ctx)
}

func (o *conversion) run(ctx context.Context) error {
	jobs, err := o.jobsWithOutputs(ctx)
	if err != nil {
		return err
	}
	defer closeAll(jobs)
	if err := o.checkVerify(jobs); err != nil {
		return err
	}
	for _, j := range jobs {
		o.report.describe(j)
	}
	if err := o.findLabels(ctx, jobs); err != nil {
		return err
	}
	if o.IfChanged {
		if unchanged, err := o.findUnchanged(jobs); err != nil {
			return err
		} else if unchanged {
			o.report.unchanged(jobs)
			return nil
		}
	}
	o.warnLacking(jobs)
	if err := checkSpace(jobs); err != nil {
		return err
	}
	to, err := begin(ctx, allOutputs(jobs), o.inputPaths(jobs), o)
	if err != nil {
		return err
	}
	defer to.Discard() // no effect after Commit
	w := &writers{conversion: o, to: to}
	for _, j := range jobs {
		for _, p := range j.passes() {
			err := w.run(ctx, j, p)
			if len(allOutputs(jobs)) > 1 && fault.KindOf(err) == fault.PipeClosed {
				o.report.warning("who read standard output went away, so no output was made")
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
	if err := to.Commit(); err != nil {
		return err
	}
	w.reportOutputs()
	return nil
}

// jobsWithOutputs opens the inputs and says which outputs are to be made of each split. Nothing is written yet.
func (o *conversion) jobsWithOutputs(ctx context.Context) ([]*job, error) {
	if err := checkUsed(o); err != nil {
		return nil, err
	}
	o.counted = slices.ContainsFunc(o.outputs, func(a outputArg) bool { // in a header, or as digits of names
		return slices.ContainsFunc(a.formats, func(f formats.Format) bool { return f.Folder || f.OneColumn || f.Images })
	})
	splits, err := o.find(ctx, false)
	if err == nil {
		err = o.checkClasses()
	}
	if err != nil {
		return nil, err
	}
	jobs, err := o.openJobs(ctx, splits)
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

// checkRows refuses a range of rows that takes nothing of all jobs, although it asks for some.
func (o *conversion) checkRows(jobs []*job) error {
	none := func(j *job) bool { return j.logical.schema.Rows == 0 && j.logical.schema.Source > 0 }
	if !o.rows.given || o.planID != "" || o.rows.first == o.rows.last && !o.rows.open || slices.ContainsFunc(jobs, func(j *job) bool { return !none(j) }) {
		return nil
	}
	return usagef("--rows %s takes no row of any input", o.rows)
}

// warnLacking warns of outputs that are to be replaced although a file has gone from the folder of
// the inputs: what is there now may have its column.
func (o *conversion) warnLacking(jobs []*job) {
	for _, j := range jobs {
		for _, out := range allOutputs([]*job{j}) {
			if _, err := os.Lstat(out.path); err == nil && o.Overwrite && j.split.Lacks != "" {
				o.report.warning("%s is there already, and will be replaced by one without %s, as none were found", out.path, j.split.Lacks)
			}
		}
	}
}

// findLabels finds the largest label where the names of folders depend on it.
func (o *conversion) findLabels(ctx context.Context, jobs []*job) error {
	for _, j := range jobs {
		for i := range j.logical.outputs {
			out := &j.logical.outputs[i]
			if !out.format.Folder {
				continue
			}
			largest, err := o.maxLabel(ctx, j.split)
			if err != nil {
				return err
			}
			out.options.MaxLabel = largest
		}
	}
	return nil
}

// checkSpace compares the sizes that are known in advance with the space that is free, for each folder that is written to.
func checkSpace(jobs []*job) error {
	need := map[string]int64{}
	for _, j := range jobs {
		for _, p := range j.passes() {
			for _, out := range p.outputs {
				if dir, ok := out.to.space(); ok {
					need[dir] += out.format.LeastSize(p.schema, out.options)
				}
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(need)) {
		free, err := publish.FreeSpace(dir)
		if err == nil && uint64(need[dir]) > free {
			return fault.New(fault.IO, "not enough space in %s: the outputs need at least %s, %s are free", dir, display.Bytes(need[dir]), display.Bytes(int64(free)))
		}
	}
	return nil
}

// inputPaths are the files and objects that a run reads, which no output may replace.
func (o *conversion) inputPaths(jobs []*job) (paths []string) {
	for _, j := range jobs {
		for _, f := range j.split.Files {
			if f.Path != source.Stdin {
				paths = append(paths, f.Path)
			}
		}
	}
	if o.Classes != "" {
		paths = append(paths, o.Classes)
	}
	return paths
}

// writers makes the sinks of a run and remembers what they wrote.
type writers struct {
	*conversion
	to      *destinations
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
	for i := range p.outputs {
		s, err := w.open(j, p, &p.outputs[i])
		if err != nil {
			return fmt.Errorf("%s: %w", p.outputs[i].name(), err)
		}
		sinks = append(sinks, s)
	}
	read, end := w.report.progress(j.label(), p.schema.Rows)
	stats, err := pipeline.Run(ctx, p.table, p.schema, sinks, pipeline.Options{Workers: w.Workers, Progress: read})
	end()
	if err != nil {
		return err
	}
	for _, made := range w.written[first:] {
		made.rows = stats.Rows
		if err := made.output.to.sent(); err != nil { // its buffers are free for the next pass
			return err
		}
	}
	w.report.tableNotes(p.table, w.others != nil)
	for _, s := range sinks {
		if n, ok := s.(interface{ Notes() []string }); ok {
			for _, note := range n.Notes() {
				w.report.Note("%s", note)
			}
		}
	}
	return nil
}

// open makes the sink of one output.
func (w *writers) open(j *job, p *pass, out *output) (_ sink.Sink, err error) {
	made := &written{output: *out, job: j, pass: p, load: out.format.LoadLine(out.path, p.schema, out.options)}
	w.written = append(w.written, made)
	to, folder, err := out.to.open(out)
	if err != nil {
		return nil, err
	}
	made.folder = folder
	switch {
	case out.sharding != nil:
		made.load = out.format.LoadPartsLine(out.path, p.schema, out.options)
		made.parts, err = w.openParts(p, *out, made.folder)
		return made.parts, err
	case out.folder():
		return out.format.Open(formats.Output{Folder: made.folder}, p.schema, out.options)
	}
	if w.Checksum {
		made.hash = sha256.New()
		to = io.MultiWriter(to, made.hash)
	}
	made.stream = &counter{w: to}
	return out.format.Open(formats.Output{Writer: made.stream}, p.schema, out.options)
}

// reportOutputs reports what was written, once it is published.
func (w *writers) reportOutputs() {
	for _, made := range w.written {
		o := Output{Path: made.output.path, Format: made.output.format.Name, Split: made.job.split.Name, Rows: made.rows, Load: made.load}
		switch {
		case made.parts != nil:
			o.addParts(made)
		case made.folder != nil:
			files, bytes := made.folder.Totals()
			o.Files, o.Bytes = &files, bytes
			if w.Checksum {
				sum := sha256.Sum256(made.folder.Sealed())
				o.SHA256 = hex.EncodeToString(sum[:])
			}
		default:
			o.Bytes = made.stream.n
			if made.hash != nil {
				o.SHA256 = hex.EncodeToString(made.hash.Sum(nil))
			}
		}
		w.report.Outputs = append(w.report.Outputs, o)
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
