package convert

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/internal/publish"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/source"
)

// Run converts. Wrong options and inputs are found before any output is begun, and all outputs are
// complete before any of them is visible. If ctx ends, the error is context.Cause(ctx) or
// ctx.Err(). The report is never nil.
func Run(ctx context.Context, o Options) (*Report, error) {
	r := NewReport(o.Events)
	c, err := newConversion(o, r)
	if err != nil {
		return r, err
	}
	return r, c.run(ctx)
}

// A run is a conversion with its opened inputs and their outputs.
type run struct {
	*conversion
	jobs    []*job
	outputs []*output // in the order of jobs and passes
}

func (o *conversion) run(ctx context.Context) error {
	r, err := o.prepare(ctx)
	if err != nil {
		return err
	}
	defer closeAll(r.jobs)
	if err := r.checkVerify(); err != nil {
		return err
	}
	for _, j := range r.jobs {
		r.describe(j)
	}
	if err := r.findLabels(ctx); err != nil {
		return err
	}
	if o.IfChanged {
		if unchanged, err := r.findUnchanged(); unchanged || err != nil {
			return err
		}
	}
	for _, out := range r.outputs { // a file that is missing now may have been there when the output was made
		if _, err := os.Lstat(out.path); err == nil && r.Overwrite && out.job.split.Lacks != "" {
			r.report.warning("%s exists and will be replaced by one without %s: none were found", out.path, out.job.split.Lacks)
		}
	}
	dests, err := begin(ctx, r.outputs, r.inputPaths(r.jobs), o)
	if err != nil {
		return err
	}
	defer dests.Discard() // no effect after Commit
	for _, out := range r.outputs {
		if to, ok := out.destination.(*local); ok {
			if folder, ok := to.storageFolder(); ok {
				o.scratch = folder
			}
		}
	}
	if err := r.write(ctx, dests); err != nil {
		return err
	}
	if err := dests.Commit(); err != nil {
		return adviseShared(err, r.outputs)
	}
	for _, out := range r.outputs {
		r.report.Outputs = append(r.report.Outputs, out.describe(o.Checksum))
	}
	return nil
}

// prepare opens the inputs and determines the outputs of each split. Nothing is written yet.
func (o *conversion) prepare(ctx context.Context) (*run, error) {
	if err := o.checkUsed(); err != nil {
		return nil, err
	}
	// Headers, and the number of digits in file names, depend on the number of rows.
	o.needsCount = o.makes(func(f formats.Format) bool { return f.Folder || f.OneColumn || f.Images })
	splits, err := o.find(ctx, false)
	if err != nil {
		return nil, err
	}
	r := &run{conversion: o}
	if r.jobs, err = o.openJobs(ctx, splits); err != nil {
		return nil, err
	}
	if err = cmp.Or(o.checkClasses(r.jobs), r.checkRows()); err == nil {
		r.outputs, err = o.expandOutputs(r.jobs)
	}
	if err != nil {
		closeAll(r.jobs)
		return nil, err
	}
	return r, nil
}

// checkClasses returns an error if --classes is given but not used: no output contains class names,
// no rows are selected by them, and no input has class names in place of labels.
func (o *conversion) checkClasses(jobs []*job) error {
	usedByInput := slices.ContainsFunc(jobs, func(j *job) bool {
		return o.tables[j.split.Files[0].Path].Format.Name == "png" || source.About(j.passes[0].table).Classes
	})
	if o.Classes == "" || usedByInput || o.selectsClasses() || o.makes(func(f formats.Format) bool { return f.Folder || f.ClassColumn && o.ClassColumn || o.isHub(f) }) {
		return nil
	}
	return usagef("no output uses --classes").WithHint("--class-column writes the names, --where class=NAME selects by them, and PNG folders and the layout huggingface contain them")
}

// write writes all outputs, and verifies them if that was asked for. None of them is visible yet.
func (r *run) write(ctx context.Context, dests *destinations) error {
	for _, j := range r.jobs {
		for _, p := range j.passes {
			err := r.writePass(ctx, j, p, outputsOf(r.outputs, p))
			if len(r.outputs) > 1 && fault.KindOf(err) == fault.PipeClosed {
				r.report.warning("the reader of standard output has closed it, so no output was written")
			}
			if err != nil {
				return err
			}
			p.close()
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	setCards(r.outputs)
	if !r.Verify {
		return nil
	}
	if err := dests.Complete(); err != nil {
		return err
	}
	for _, out := range r.outputs {
		if err := r.verifyOutput(ctx, out); err != nil {
			return err
		}
	}
	return nil
}

// checkRows returns an error if the flags select no row of any job. A range that is empty as
// written is no mistake.
func (r *run) checkRows() error {
	empty := r.rows.given && r.rows.first == r.rows.last && !r.rows.open
	if !r.rows.given && !r.selects() || empty {
		return nil
	}
	for _, j := range r.jobs {
		if j.passes[0].chosen != 0 || j.passes[0].schema.SourceRows <= 0 {
			return nil
		}
	}
	var counts []string
	for _, j := range r.jobs {
		counts = append(counts, fmt.Sprintf("%s has %s", j.title(), display.Count(j.passes[0].schema.SourceRows, "row")))
	}
	return usagef("%s selects no row of any input: %s", r.rowsAndWhere(), strings.Join(counts, ", "))
}

// findLabels finds the largest label of each split if the names of folders depend on it.
func (r *run) findLabels(ctx context.Context) (err error) {
	for _, out := range r.outputs {
		if out.format.Folder && err == nil {
			out.options.MaxLabel, err = r.maxLabel(ctx, out.job.split.Split)
		}
	}
	return err
}

// inputPaths returns the files and objects that a run reads, which no output may replace.
func (o *conversion) inputPaths(jobs []*job) (paths []string) {
	for _, j := range jobs {
		for _, f := range j.split.Files {
			if f.Path != source.Stdin {
				paths = append(append(paths, f.Path), o.tables[f.Path].Paths...) // a folder may hold many files
			}
		}
	}
	if o.Classes != "" {
		paths = append(paths, o.Classes)
	}
	return paths
}

// checkVerify returns an error if --verify is given but an input or output cannot be read again.
func (r *run) checkVerify() error {
	if !r.Verify {
		return nil
	}
	for _, j := range r.jobs {
		if err := r.checkRereadable("--verify", j.split.Split); err != nil {
			return err
		}
	}
	for _, out := range r.outputs {
		tensor := func(c source.Column) bool { return !c.Scalar() }
		switch {
		case out.options.Style == "matrix" && !slices.ContainsFunc(out.pass.schema.Columns, tensor):
			return usagef("--verify: %s is one row of all labels, which cannot be read back as a column", out.path).WithHint("leave out --verify, or --csv-style matrix")
		case out.format.Images && out.options.Channels == "first":
			return usagef("--verify: %s holds its images with the channels last, which differs from --channels first", out.format.Name).WithHint("leave out --verify")
		case out.format.WriteOnly:
			return usagef("--verify: %s files cannot be read back", out.format.Name).WithHint("leave out --verify, or write %s with a command of its own", out.format.Name)
		}
	}
	return nil
}

// formatVersion is increased when the same inputs and options produce other bytes than before, also
// between releases: --if-changed then rewrites earlier outputs.
const formatVersion = 4

// findUnchanged sets the upToDateKey of each output, a hash over its inputs and everything else
// that its bytes depend on, and reports whether all outputs exist and have these keys.
func (r *run) findUnchanged() (unchanged bool, err error) {
	common := fmt.Sprintf("%d %s %d", formatVersion, Version, r.RowsPerFile)
	if r.Classes != "" {
		fingerprint, err := publish.Fingerprint(r.Classes)
		if err != nil {
			return false, fault.In(r.Classes, err)
		}
		common += fingerprint
	}
	inputs := map[*job]string{}
	for _, j := range r.jobs {
		if inputs[j], err = r.inputsKey(j); err != nil {
			return false, err
		}
	}
	keys := map[string]string{} // by path
	for _, out := range r.outputs {
		if out.shared() {
			keys[out.path] += out.sharding.stem
		}
		if out.pass.schema.Classes != nil {
			keys[out.path] += "with class names "
		}
		keys[out.path] += fmt.Sprintf("%s %s %s %s %v %s", common, inputs[out.job], out.format.Name, display.JSON(out.pass.applied), out.options, display.JSON(out.pass.schema.Columns))
	}
	unchanged = true
	for _, out := range r.outputs {
		out.upToDateKey = fmt.Sprintf("%016x", xxh3.HashString(keys[out.path]))
		same, err := publish.UpToDate(out.path, out.upToDateKey)
		if err != nil {
			return false, err
		}
		unchanged = unchanged && same
	}
	for _, out := range r.outputs {
		if unchanged && !slices.Contains(r.report.Unchanged, out.path) { // splits may share a folder
			r.report.Unchanged = append(r.report.Unchanged, out.path)
			r.report.Note("%s: unchanged", out.path)
		}
	}
	return unchanged, nil
}

// inputsKey returns a string that identifies the names and contents of the inputs of j.
func (r *run) inputsKey(j *job) (string, error) {
	if err := r.checkRereadable("--if-changed", j.split.Split); err != nil {
		return "", err
	}
	key := j.datasetName() + " " + j.split.Name
	if r.Header != nil {
		key += fmt.Sprintf(" header=%t", *r.Header)
	}
	for _, f := range j.split.Files {
		paths := []string{f.Path}
		if table, ok := r.tables[f.Path]; ok {
			paths = table.Paths
		}
		for _, path := range paths {
			fingerprint, err := publish.Fingerprint(path)
			if err != nil {
				return "", fault.In(path, err)
			}
			key += fmt.Sprintf(" %s=%s %s", f.Name, path, fingerprint)
		}
	}
	return key, nil
}
