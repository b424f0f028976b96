package convert

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/sink/formats"
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

// A run is what a conversion reads and writes: opened inputs, and the outputs of each.
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
		r.describe(j, r.passes(j))
	}
	if err := r.findLabels(ctx); err != nil {
		return err
	}
	if o.IfChanged {
		if unchanged, err := r.findUnchanged(); unchanged || err != nil {
			return err
		}
	}
	r.warnLacking()
	if err := r.checkSpace(); err != nil {
		return err
	}
	to, err := begin(ctx, r.outputs, r.inputPaths(r.jobs), o)
	if err != nil {
		return err
	}
	defer to.Discard() // no effect after Commit
	if err := r.make(ctx, to); err != nil {
		return err
	}
	if err := to.Commit(); err != nil {
		return err
	}
	for _, out := range r.outputs {
		r.report.Outputs = append(r.report.Outputs, out.describe(o.Checksum))
	}
	return nil
}

// make writes all outputs, and verifies them if that is wanted. None of them is visible yet.
func (r *run) make(ctx context.Context, to *destinations) error {
	for _, j := range r.jobs {
		for _, p := range r.passes(j) {
			err := r.write(ctx, j, p, outputsOf(r.outputs, p))
			if len(r.outputs) > 1 && fault.KindOf(err) == fault.PipeClosed {
				r.report.warning("who read standard output went away, so no output was made")
			}
			if err != nil {
				return err
			}
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	writeCards(r.outputs)
	if !r.Verify {
		return nil
	}
	if err := to.Complete(); err != nil {
		return err
	}
	for _, out := range r.outputs {
		if err := r.verifyOutput(ctx, out); err != nil {
			return err
		}
	}
	return nil
}

// prepare opens the inputs and says which outputs are made of each split. Nothing is written yet.
func (o *conversion) prepare(ctx context.Context) (*run, error) {
	if err := o.checkUsed(); err != nil {
		return nil, err
	}
	o.counted = o.makes(func(f formats.Format) bool { return f.Folder || f.OneColumn || f.Images }) // in a header, or as digits of names
	splits, err := o.find(ctx, false)
	if err == nil {
		err = o.checkClasses()
	}
	if err != nil {
		return nil, err
	}
	r := &run{conversion: o}
	if r.jobs, err = o.openJobs(ctx, splits); err != nil {
		return nil, err
	}
	if err = o.checkRows(r.jobs); err == nil {
		r.outputs, err = o.expandOutputs(r.jobs)
	}
	if err != nil {
		closeAll(r.jobs)
		return nil, err
	}
	return r, nil
}

// passes are the passes of a job that have outputs.
func (r *run) passes(j *job) []*pass {
	return slices.DeleteFunc(j.passes(), func(p *pass) bool { return len(outputsOf(r.outputs, p)) == 0 })
}

// checkRows refuses a range of rows that takes nothing of all jobs, although it asks for some.
func (o *conversion) checkRows(jobs []*job) error {
	none := func(j *job) bool { return j.logical.schema.Rows == 0 && j.logical.schema.Source > 0 }
	if !o.rows.given || o.planID != "" || o.rows.first == o.rows.last && !o.rows.open || slices.ContainsFunc(jobs, func(j *job) bool { return !none(j) }) {
		return nil
	}
	return usagef("--rows %s takes no row of any input", o.rows)
}

// warnLacking warns of outputs that are replaced although a file has gone from the folder of the
// inputs: what is there now may have its column.
func (r *run) warnLacking() {
	for _, out := range r.outputs {
		if _, err := os.Lstat(out.path); err == nil && r.Overwrite && out.job.split.Lacks != "" {
			r.report.warning("%s is there already, and will be replaced by one without %s, as none were found", out.path, out.job.split.Lacks)
		}
	}
}

// findLabels finds the largest label where the names of folders depend on it.
func (r *run) findLabels(ctx context.Context) error {
	for _, out := range r.outputs {
		if !out.format.Folder {
			continue
		}
		largest, err := r.maxLabel(ctx, out.job.split)
		if err != nil {
			return err
		}
		out.options.MaxLabel = largest
	}
	return nil
}

// checkSpace compares the sizes that are known in advance with the space that is free, for each
// folder that is written to.
func (r *run) checkSpace() error {
	need := map[string]int64{}
	for _, out := range r.outputs {
		if dir, ok := out.to.space(); ok {
			need[dir] += out.format.LeastSize(out.pass.schema, out.options)
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

// checkVerify refuses --verify where something cannot be read again.
func (r *run) checkVerify() error {
	if !r.Verify {
		return nil
	}
	for _, j := range r.jobs {
		for _, f := range j.split.Files {
			if r.readOnce(f) {
				return usagef("--verify: %s can be read only once", shownPath(f.Path)).WithHint("leave out --verify, or give a file")
			}
		}
	}
	for _, out := range r.outputs {
		tensor := func(c source.Column) bool { return !c.Scalar() }
		switch {
		case out.options.Style == "matrix" && !slices.ContainsFunc(out.pass.schema.Columns, tensor):
			return usagef("--verify: %s is one row of all labels, which cannot be read back as a column", out.path).WithHint("leave out --verify, or --csv-style matrix")
		case out.format.Name == "tar":
			return usagef("--verify: tar files cannot be read back yet").WithHint("leave out --verify for them")
		}
	}
	return nil
}

// formatVersion counts the changes of what is written for the same input and options: --if-changed
// makes anew what an earlier version made.
const formatVersion = 2

// findUnchanged gives each output its key, which is a hash over its inputs and over everything that
// decides on its bytes, and reports whether all outputs are there and were made under these keys.
func (r *run) findUnchanged() (unchanged bool, err error) {
	common := fmt.Sprintf("%d %s %d %d", formatVersion, Version, r.RowsPerFile, r.FileSize)
	if r.Classes != "" {
		print, err := publish.Fingerprint(r.Classes)
		if err != nil {
			return false, fault.In(r.Classes, err)
		}
		common += print
	}
	inputs := map[*job]string{}
	for _, j := range r.jobs {
		if inputs[j], err = r.inputsKey(j); err != nil {
			return false, err
		}
	}
	decides := map[*output]string{} // everything that decides on the bytes of an output
	folders := map[string]string{}  // and on those of a folder of several splits, by its path
	for _, out := range r.outputs {
		decides[out] = fmt.Sprintf("%s %s %s %s %v %s", common, inputs[out.job], out.format.Name, display.JSON(out.pass.applied), out.options, display.JSON(out.pass.schema.Columns))
		if out.shared() {
			folders[out.path] += out.sharding.stem + decides[out]
		}
	}
	unchanged = true
	for _, out := range r.outputs {
		key := decides[out]
		if out.shared() {
			key = folders[out.path]
		}
		out.madeKey = fmt.Sprintf("%016x", xxh3.HashString(key))
		same, err := publish.UpToDate(out.path, out.madeKey)
		if err != nil {
			return false, err
		}
		unchanged = unchanged && same
	}
	for _, out := range r.outputs {
		if unchanged && !slices.Contains(r.report.Unchanged, out.path) { // once, where splits share a folder
			r.report.Unchanged = append(r.report.Unchanged, out.path)
			r.report.Note("%s: unchanged", out.path)
		}
	}
	return unchanged, nil
}

// inputsKey is a hash over the inputs of j: their base names and contents.
func (o *conversion) inputsKey(j *job) (string, error) {
	key := j.datasetName() + " " + j.split.Name
	if o.Header != nil {
		key += fmt.Sprintf(" header=%t", *o.Header)
	}
	for _, f := range j.split.Files {
		paths := []string{f.Path}
		if other, ok := o.foreign[f.Path]; ok {
			paths = other.Paths
		}
		if o.readOnce(f) {
			return "", usagef("--if-changed: %s can be read only once", shownPath(f.Path)).WithHint("leave out --if-changed, or give a file")
		}
		for _, path := range paths {
			print, err := publish.Fingerprint(path)
			if err != nil {
				return "", fault.In(path, err)
			}
			key += fmt.Sprintf(" %s=%s %s", f.Name, path, print)
		}
	}
	return key, nil
}
