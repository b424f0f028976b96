package convert

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
	"github.com/idxport/idxport/source/idx"
)

// An output is one file or folder that a run makes.
type output struct {
	format  formats.Format
	path    string
	options formats.Options
	parents bool // the folders above path are made
	to      destination
	// sharding is nil for an output that is one file, or whose format is a folder by itself.
	sharding *sharding
	madeKey  string // with IfChanged: a hash over everything that decides on the output
}

// name is how messages call the output.
func (o output) name() string {
	if o.path == Stdio {
		return "standard output"
	}
	return o.path
}

// expandOutputs fills in the outputs of all splits, and refuses two that would be one and splits that cannot share a folder.
func expandOutputs(jobs []*job, o *conversion) error {
	taken := map[string]*job{}
	for _, j := range jobs {
		var named []output // of one column each, which their names tell
		for _, arg := range o.outputs {
			for _, f := range arg.formats {
				outs, err := arg.expand(j, f, o)
				if err != nil {
					return err
				}
				for i := range outs {
					out := &outs[i]
					out.to = newDestination(out.path, o)
					if err := out.to.check(o, out); err != nil {
						return err
					}
					key := out.key()
					if other, ok := taken[key]; ok {
						return collision(arg, *out, other, j, o)
					}
					taken[key] = j
				}
				pass := j.passFor(f)
				pass.outputs = append(pass.outputs, outs...)
				if f.OneColumn && !arg.container {
					named = append(named, outs...)
				}
			}
		}
		if err := o.checkColumns(j, named); err != nil {
			return err
		}
	}
	if err := checkHubs(jobs); err != nil {
		return err
	}
	if o.IfChanged && o.anyObject() {
		return usagef("--if-changed: inputs of object storage cannot be told to be the same").WithHint("leave out --if-changed")
	}
	return nil
}

// checkColumns refuses two outputs of j that would hold the same column in the same format, and notes
// which columns no output holds. The outputs are those of one column each.
func (o *conversion) checkColumns(j *job, outs []output) error {
	held := map[string]bool{}
	for i, out := range outs {
		columns := j.passFor(out.format).table.Columns()
		name := columns[out.options.Column].Name
		held[name] = true
		for _, other := range outs[:i] {
			if len(columns) > 1 && other.format.Name == out.format.Name && other.options.Column == out.options.Column && other.options.Compression == out.options.Compression {
				return usagef("%s and %s would both hold the column %s of %s", other.name(), out.name(), name, j.label()).WithHint("%s", columnHint(out.format))
			}
		}
	}
	if len(outs) < len(allOutputs([]*job{j})) { // others hold all columns
		return nil
	}
	for _, out := range outs {
		left := slices.DeleteFunc(names(j.passFor(out.format).table.Columns()), func(name string) bool { return held[name] })
		if len(left) > 0 {
			o.report.Note("%s holds one column; no output holds %s", out.name(), strings.Join(left, ", "))
		}
	}
	return nil
}

// columnHint is advice on how to write the columns of a table in format f, whose files hold one each.
func columnHint(f formats.Format) string {
	images, labels := "X_train.npy", "y_train.npy"
	if f.Stored {
		images, labels = "train-images.idx", "train-labels.idx"
	}
	return fmt.Sprintf("write -o %s=DIR/ for a file each; or name one of images and one of labels, such as -o %s -o %s", f.Name, images, labels)
}

// collision is the error for two outputs with one name.
func collision(arg outputArg, out output, a, b *job, o *conversion) error {
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

// asColumns are the files of a and b, if these hold one column each, of which the one is a table's labels and the other its images.
func (o *conversion) asColumns(a, b *job) (image, label string) {
	x, y := a.logical.table, b.logical.table
	for _, j := range []*job{a, b} {
		if f := j.split.Files; len(f) != 1 || !o.others[f[0].Path].Format.OneColumn {
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

// expand is the outputs of arg in format f for one split.
func (arg outputArg) expand(j *job, f formats.Format, o *conversion) ([]output, error) {
	path, err := fill(arg.path, map[string]string{"split": j.base(), "dataset": j.datasetName(), "format": f.Name})
	if err != nil {
		return nil, err
	}
	out := output{format: f, path: path, options: o.formatOptions(f), parents: arg.container || path != arg.path}
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
		return j.columnOutputs(arg, out)
	case arg.container:
		out.path = source.Under(path, j.base()+f.FileExtension(codec.Name))
	}
	out, err = arg.shard(j, f, o, out)
	return []output{out}, err
}

// columnOutputs are the outputs of a format that holds one column: one for each column in a folder, else the column that is meant.
func (j *job) columnOutputs(arg outputArg, out output) ([]output, error) {
	columns := j.passFor(out.format).table.Columns()
	if !arg.container {
		i, err := j.columnFor(out, columns)
		out.options.Column = i
		return []output{out}, err
	}
	var outs []output
	for i, c := range columns {
		one := out
		one.options.Column = i
		ending := out.format.FileExtension(out.options.Compression.Name)
		if out.format.Stored {
			one.path = source.Under(out.path, j.publishedName(c)+strings.TrimPrefix(ending, out.format.Extension))
		} else {
			one.path = source.Under(out.path, j.columnName(c)+ending)
		}
		outs = append(outs, one)
	}
	return outs, nil
}

// columnName is what a file for column c is called: train-image, or plain train where the column has no name of its own.
func (j *job) columnName(c source.Column) string {
	if c.Name == dataset.Data.String() {
		return j.base()
	}
	return j.base() + "-" + fileName(c.Name)
}

// fileName is the name of a column as a part of a file's name, which leads nowhere else and which all systems take. Names may come from an input's
// contents.
func fileName(column string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, column)
}

// columnFor is the column that a file called out.path is to hold: the only one, or the one whose role the name tells.
func (j *job) columnFor(out output, columns []source.Column) (int, error) {
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
	return 0, usagef("%s holds one column, but %s has %s", what, j.label(), strings.Join(names(columns), ", ")).
		WithHint("%s", columnHint(out.format))
}

// checkRole refuses to write the images to a file called after labels, or the labels to one called after images, where c is the only column.
// IDX files are taken as they come: one that is repaired may have the wrong name.
func (o output) checkRole(role dataset.Role, c source.Column) error {
	image, label := dataset.Image.String(), dataset.Label.String()
	named := role.String()
	if o.format.Stored || o.path == Stdio || named == c.Name || named != image && named != label || c.Name != image && c.Name != label {
		return nil
	}
	return usagef("%s is called after the column %s, but the input has only %s", o.name(), named, c.Name).
		WithHint("give the file of the other column too, or another name to the output")
}

// publishedName is the name of a file for column c as data sets are published: train-images-idx3-ubyte.
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

// formatOptions are the options for outputs of format f.
func (o *conversion) formatOptions(f formats.Format) formats.Options {
	options := formats.Options{Style: o.CSVStyle, Channels: o.Channels, ClassFolders: o.ClassFolders, MaxLabel: -1, MetadataCSV: o.MetadataCSV,
		Version: Version}
	if codec, ok := o.compression[f.Name]; ok {
		options.Compression = codec
	} else if f.Codecs != nil {
		options.Compression = o.compression[""]
	}
	if name, ok := o.layouts[f.Name]; ok {
		options.Layout = name
	} else if f.Layouts != nil {
		options.Layout = o.layouts[""]
	}
	return options
}
