package convert

import (
	"fmt"

	"github.com/zeebo/xxh3"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/sink/publish"
)

// formatVersion counts the changes of what is written for the same input and options; --if-changed makes anew what an earlier one made.
const formatVersion = 2

// findUnchanged gives each output its key, which is a hash over its inputs and over everything that decides on its bytes, and tells whether all outputs are
// there and were made under these keys.
func (o *conversion) findUnchanged(jobs []*job) (bool, error) {
	common := fmt.Sprintf("%d %s %d %d", formatVersion, Version, o.RowsPerFile, o.FileSize)
	if o.Classes != "" {
		print, err := publish.Fingerprint(o.Classes)
		if err != nil {
			return false, fault.In(o.Classes, err)
		}
		common += print
	}
	decides := map[*output]string{} // everything that decides on the bytes of an output
	for _, j := range jobs {
		inputs, err := o.inputsKey(j)
		if err != nil {
			return false, err
		}
		for _, pass := range j.passes() {
			for i := range pass.outputs {
				out := &pass.outputs[i]
				decides[out] = fmt.Sprintf("%s %s %s %s %v %s", common, inputs, out.format.Name, display.JSON(pass.applied), out.options, display.JSON(pass.schema.Columns))
			}
		}
	}
	unchanged := true
	for _, out := range allOutputs(jobs) {
		out.madeKey = fmt.Sprintf("%016x", xxh3.HashString(sharedBy(jobs, out, decides)))
		same, err := publish.UpToDate(out.path, out.madeKey)
		if err != nil {
			return false, err
		}
		unchanged = unchanged && same
	}
	return unchanged, nil
}

// sharedBy is what decides on out: for a folder of several splits, on all of them.
func sharedBy(jobs []*job, out *output, decides map[*output]string) string {
	if !out.shared() {
		return decides[out]
	}
	all := ""
	for _, other := range allOutputs(jobs) {
		if other.shared() && other.path == out.path {
			all += other.sharding.stem + decides[other]
		}
	}
	return all
}

// allOutputs are the outputs of all jobs.
func allOutputs(jobs []*job) []*output {
	var all []*output
	for _, j := range jobs {
		for _, pass := range j.passes() {
			for i := range pass.outputs {
				all = append(all, &pass.outputs[i])
			}
		}
	}
	return all
}

// inputsKey is a hash over the inputs of j: their base names and contents.
func (o *conversion) inputsKey(j *job) (string, error) {
	key := j.datasetName() + " " + j.split.Name
	if o.Header != nil {
		key += fmt.Sprintf(" header=%t", *o.Header)
	}
	for _, f := range j.split.Files {
		paths := []string{f.Path}
		if other, ok := o.others[f.Path]; ok {
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
