package main

import (
	"fmt"

	"github.com/zeebo/xxh3"

	"github.com/idxport/idxport/sink/publish"
	"github.com/idxport/idxport/source"
)

// formatVersion counts the changes of what is written for the same input and options; --if-changed makes anew what an earlier one made.
const formatVersion = 2

// findUnchanged gives each output its key, which is a hash over its inputs and over everything that decides on its bytes, and tells whether all outputs are
// there and were made under these keys.
func (o *convertOptions) findUnchanged(jobs []*job) (bool, error) {
	if !o.ifChanged {
		return false, nil
	}
	common := fmt.Sprintf("%d %s %d %d", formatVersion, version, o.rowsPerFile, o.fileSize)
	if o.classes != "" {
		print, err := publish.Fingerprint(o.classes)
		if err != nil {
			return false, source.ErrorIn(o.classes, err)
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
				if out.path == stdout {
					return false, usagef("--if-changed: standard output is never unchanged").WithHint("leave out --if-changed, or name a file")
				}
				decides[out] = fmt.Sprintf("%s %s %s %s %v %s", common, inputs, out.format.Name, jsonText(pass.applied), out.options, jsonText(pass.schema.Columns))
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
			all += other.division.stem + decides[other]
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
func (o *convertOptions) inputsKey(j *job) (string, error) {
	key := j.datasetName() + " " + j.split.Name
	if o.header != nil {
		key += fmt.Sprintf(" header=%t", *o.header)
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
				return "", source.ErrorIn(path, err)
			}
			key += fmt.Sprintf(" %s=%s %s", f.Name, path, print)
		}
	}
	return key, nil
}
