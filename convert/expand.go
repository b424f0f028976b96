package convert

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/sink/card"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/sink/layout"
	"github.com/idxport/idxport/sink/publish"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
	"github.com/idxport/idxport/source/idx"
)

// expandOutputs makes the outputs of all splits. It refuses two that would be one, and splits that
// cannot share a folder.
func (o *conversion) expandOutputs(jobs []*job) (outputs []*output, err error) {
	taken := map[string]*job{}
	for _, j := range jobs {
		var all, named []*output // named: of one column each, which their names tell
		for _, arg := range o.wanted {
			for _, f := range arg.formats {
				outs, err := o.expand(arg, j, f)
				if err != nil {
					return nil, err
				}
				for _, out := range outs {
					out.to = newDestination(out.path, o)
					if err := out.to.check(o, out); err != nil {
						return nil, err
					}
					key := out.key()
					if other, ok := taken[key]; ok {
						return nil, collision(arg, out, other, j, o)
					}
					taken[key] = j
				}
				all = append(all, outs...)
				if f.OneColumn && !arg.container {
					named = append(named, outs...)
				}
			}
		}
		if err := o.checkColumns(j, named, len(named) < len(all)); err != nil {
			return nil, err
		}
		for _, p := range j.passes() {
			outputs = append(outputs, outputsOf(all, p)...)
		}
	}
	if err := checkHubs(outputs); err != nil {
		return nil, err
	}
	if o.IfChanged && o.anyObject() {
		return nil, usagef("--if-changed: inputs of object storage cannot be told to be the same").WithHint("leave out --if-changed")
	}
	return outputs, nil
}

// checkColumns refuses two outputs of j that would hold the same column in the same format, and
// notes which columns no output holds. The outputs are those of one column each; others hold all
// columns.
func (o *conversion) checkColumns(j *job, outs []*output, others bool) error {
	held := map[string]bool{}
	for i, out := range outs {
		columns := out.pass.table.Columns()
		name := columns[out.options.Column].Name
		held[name] = true
		for _, other := range outs[:i] {
			if len(columns) > 1 && other.format.Name == out.format.Name && other.options.Column == out.options.Column && other.options.Compression == out.options.Compression {
				return usagef("%s and %s would both hold the column %s of %s", other.name(), out.name(), name, j.label()).WithHint("%s", columnHint(out.format))
			}
		}
	}
	for _, out := range outs {
		left := slices.DeleteFunc(names(out.pass.table.Columns()), func(name string) bool { return held[name] })
		if len(left) > 0 && !others {
			o.report.Note("%s holds one column; no output holds %s", out.name(), strings.Join(left, ", "))
		}
	}
	return nil
}

// columnHint is advice on how to write the columns of a table in format f, whose files hold one
// each.
func columnHint(f formats.Format) string {
	images, labels := "X_train.npy", "y_train.npy"
	if f.Stored {
		images, labels = "train-images.idx", "train-labels.idx"
	}
	return fmt.Sprintf("write -o %s=DIR/ for a file each; or name one of images and one of labels, such as -o %s -o %s", f.Name, images, labels)
}

// collision is the error for two outputs with one name.
func collision(arg outputArg, out *output, a, b *job, o *conversion) error {
	if a == b {
		return usagef("%s would be written twice", out.name())
	}
	e := usagef("%s and %s would both be written to %s", a.label(), b.label(), out.name())
	if image, label := o.asColumns(a, b); image != "" {
		return e.WithHint("if they are the columns of one table, name them: image=%s label=%s; else %s", shell.Quote(image), shell.Quote(label), a.choice())
	}
	if out.path == Stdio {
		return e.WithHint("%s", a.choice())
	}
	format := ""
	if arg.named {
		format = out.format.Name + "="
	}
	if out.format.OneColumn {
		return e.WithHint("write -o %s=DIR/ for a file each; or %s", out.format.Name, a.choice())
	}
	if out.shared() {
		return e.WithHint("%s", a.choice())
	}
	stem, ext := formats.SplitName(strings.TrimRight(arg.path, "/"))
	each := func(ending string) string { return shell.Path(format + stem + ending) }
	split := each("-{split}" + ext)
	if base := filepath.Base(stem); base == a.split.Name || base == b.split.Name {
		split = shell.Path(format + strings.TrimSuffix(stem, base) + "{split}" + ext)
	}
	if out.format.Folder {
		return e.WithHint("write -o %s for a folder each; or %s", each("-{split}"), a.choice())
	}
	return e.WithHint("write -o %s for a file each, or -o %s for a folder; or %s", split, each("/"), a.choice())
}

// asColumns are the files of a and b, if these hold one column each, of which the one is a table's
// labels and the other its images.
func (o *conversion) asColumns(a, b *job) (image, label string) {
	x, y := a.logical.table, b.logical.table
	for _, j := range []*job{a, b} {
		if f := j.split.Files; len(f) != 1 || !o.foreign[f[0].Path].Format.OneColumn {
			return "", ""
		}
	}
	switch image, label = a.split.Files[0].Path, b.split.Files[0].Path; {
	case x.Rows() != y.Rows() || x.Columns()[0].Scalar() == y.Columns()[0].Scalar():
		return "", ""
	case x.Columns()[0].Scalar():
		return label, image
	}
	return image, label
}

// choice is advice on how to convert this job alone.
func (j *job) choice() string {
	if j.split.Name != "" {
		return "choose one with --split " + shell.Quote(j.split.Name)
	}
	return "convert one at a time, such as " + shell.Path(j.split.Files[0].Path)
}

// expand returns the outputs of arg in format f for one split.
func (o *conversion) expand(arg outputArg, j *job, f formats.Format) ([]*output, error) {
	path, err := fill(arg.path, map[string]string{"split": j.base(), "dataset": j.datasetName(), "format": f.Name})
	if err != nil {
		return nil, err
	}
	out := &output{job: j, pass: j.passFor(f), format: f, path: path, options: o.formatOptions(f), parents: arg.container || path != arg.path}
	codec := &out.options.Compression
	if f.Wrapped && !arg.container {
		if codec.Name != "" && codec.Name != arg.codec {
			return nil, usagef("--compression %s=%s does not fit the name %s", f.Name, codec.Name, path).
				WithHint("CSV and IDX are compressed as their names say: .gz or .zst")
		}
		codec.Name = arg.codec
	}
	switch {
	case f.OneColumn:
		return out.columns(arg)
	case arg.container:
		out.path = source.Under(path, j.base()+f.FileExtension(codec.Name))
	}
	return []*output{out}, o.shard(arg, out)
}

// columns are the outputs of a format that holds one column: in a folder one for each column, else
// one for the column that is meant.
func (out *output) columns(arg outputArg) (outs []*output, err error) {
	columns := out.pass.table.Columns()
	if !arg.container {
		out.options.Column, err = out.columnFor(columns)
		return []*output{out}, err
	}
	for i, c := range columns {
		one := *out
		one.options.Column = i
		ending := out.format.FileExtension(out.options.Compression.Name)
		if out.format.Stored {
			one.path = source.Under(out.path, out.job.publishedName(c)+strings.TrimPrefix(ending, out.format.Extension))
		} else {
			one.path = source.Under(out.path, out.job.columnName(c)+ending)
		}
		outs = append(outs, &one)
	}
	return outs, nil
}

// columnName is the name of a file for column c: train-image, or plain train where the column has
// no name of its own.
func (j *job) columnName(c source.Column) string {
	if c.Name == dataset.Data.String() {
		return j.base()
	}
	return j.base() + "-" + fileName(c.Name)
}

// fileName is the name of a column as a part of a file's name that leads nowhere else and that all
// systems take: it may come from the contents of an input.
func fileName(column string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, column)
}

// columnFor is the column that the file at out.path is to hold: the only one, or the one whose role
// is in the name.
func (out *output) columnFor(columns []source.Column) (int, error) {
	name := out.path
	if !out.format.Stored {
		name, _ = formats.SplitName(name) // its ending is no word of the name: x.npy is not like X_train
	}
	parsed := dataset.ParseName(name)
	role := parsed.Role
	if len(columns) == 1 {
		return 0, out.checkRole(role, columns[0])
	}
	if parsed.Ambiguous && out.path != Stdio {
		return 0, usagef("%s holds one column, but its name tells of images and of labels", out.path).WithHint("%s", columnHint(out.format))
	}
	i := slices.IndexFunc(columns, func(c source.Column) bool { return c.Name == role.String() })
	if i >= 0 && role != dataset.Data && out.path != Stdio {
		return i, nil
	}
	what := "an IDX file"
	if !out.format.Stored {
		what = "a " + out.format.Extension + " file"
	}
	return 0, usagef("%s holds one column, but %s has %s", what, out.job.label(), strings.Join(names(columns), ", ")).
		WithHint("%s", columnHint(out.format))
}

// checkRole refuses to write images to a file named after labels, or labels to one named after
// images, where c is the only column. IDX files are taken as they come: one that is repaired may
// have the wrong name.
func (o *output) checkRole(role dataset.Role, c source.Column) error {
	image, label := dataset.Image.String(), dataset.Label.String()
	named := role.String()
	if o.format.Stored || o.path == Stdio || named == c.Name || named != image && named != label || c.Name != image && c.Name != label {
		return nil
	}
	return usagef("%s is called after the column %s, but the input has only %s", o.name(), named, c.Name).
		WithHint("give the file of the other column too, or another name to the output")
}

// publishedName is the name of a file for column c as data sets are published:
// train-images-idx3-ubyte.
func (j *job) publishedName(c source.Column) string {
	split := j.base()
	if split == "test" {
		split = "t10k" // so that programs which look for MNIST find it
	}
	what := "-" + fileName(c.Name)
	switch c.Name {
	case dataset.Image.String():
		what = "-images"
	case dataset.Label.String():
		what = "-labels"
	case dataset.Data.String():
		what = ""
	}
	h := idx.Header{DType: c.DType, Dims: make([]int64, 1+len(c.Shape))}
	return fmt.Sprintf("%s%s-%s", split, what, h.Name())
}

// shard makes out a folder of many files where that was asked for, or a split of a folder as
// Hugging Face's Hub has them, which is one output for all splits.
func (o *conversion) shard(arg outputArg, out *output) error {
	if !arg.container || out.format.Name != "parquet" || !o.isHub(out.format) {
		if o.sharded() && out.format.Divisible {
			out.sharding = &sharding{mark: publish.PartsMark, stem: "part", extension: out.format.FileExtension(out.options.Compression.Name)}
		}
		return nil
	}
	if len(arg.formats) > 1 {
		return usagef("a folder of the layout huggingface is a data set by itself, with a card and all splits; it cannot hold other formats").
			WithHint("give it a folder of its own: -o parquet=%s", shell.Quote(strings.TrimRight(arg.path, "/")+"/huggingface/"))
	}
	out.path = source.Above(out.path)
	out.sharding = &sharding{mark: publish.CardMark, class: "data", stem: out.job.hubName(), extension: out.format.Extension}
	return nil
}

// checkHubs refuses splits that one card cannot describe.
func checkHubs(outputs []*output) error {
	features := map[string][]layout.Feature{} // by folder
	for _, out := range outputs {
		if !out.shared() {
			continue
		}
		all, err := card.Merge(features[out.path], out.pass.schema)
		if err != nil {
			return usagef("%s: %v", out.path, err).WithHint("take one split with --split, or give all the same class names with --classes")
		}
		features[out.path] = all
	}
	return nil
}

// hubName is the name of the split on the Hub, where a table that is no split is "train".
func (j *job) hubName() string {
	if j.split.Name == "" && j.alone {
		return "train"
	}
	return hubName(j.base())
}

// hubName is the name of a split as datasets have it, which know none with dashes.
func hubName(split string) string { return regexp.MustCompile(`\W`).ReplaceAllString(split, "_") }
