package convert

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/internal/object"
	"github.com/idxport/idxport/internal/publish"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/sink/card"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
	"github.com/idxport/idxport/source/idx"
)

// expandOutputs returns the outputs of all splits. It is an error if two have the same path, or if
// splits cannot share a folder.
func (o *conversion) expandOutputs(jobs []*job) (outputs []*output, err error) {
	taken := map[string]*job{}
	for _, j := range jobs {
		var all, single []*output // single: those of one column whose path the user gave
		for _, arg := range o.wanted {
			for _, f := range arg.formats {
				outs, err := o.expand(arg, j, f)
				if err != nil {
					return nil, err
				}
				for _, out := range outs {
					out.destination = newDestination(out.path, o)
					if err := out.destination.check(o, out); err != nil {
						return nil, err
					}
					key := out.key()
					if other, ok := taken[key]; ok {
						return nil, o.collision(arg, out, other, j)
					}
					taken[key] = j
				}
				all = append(all, outs...)
				if f.OneColumn && !arg.container {
					single = append(single, outs...)
				}
			}
		}
		if err := o.checkColumns(j, single, len(single) == len(all)); err != nil {
			return nil, err
		}
		for _, p := range j.passes {
			outputs = append(outputs, outputsOf(all, p)...)
		}
	}
	if o.IfChanged && (object.IsURL(o.Classes) || slices.ContainsFunc(o.args, func(in dataset.Input) bool { return object.IsURL(in.Path) })) {
		return nil, usagef("--if-changed: inputs with URLs cannot be compared with those of an earlier run").WithHint("leave out --if-changed")
	}
	return outputs, addCards(outputs)
}

// checkColumns returns an error if two of outs hold the same column in the same format and
// compression, unless the table has only one column. outs are the outputs of j that hold one column
// each, at paths that the user gave. If all is set, j has no other outputs, and columns that are in
// none of outs are noted.
func (o *conversion) checkColumns(j *job, outs []*output, all bool) error {
	written := map[string]bool{}
	for i, out := range outs {
		columns := out.pass.table.Columns()
		name := columns[out.options.Column].Name
		written[name] = true
		for _, other := range outs[:i] {
			if len(columns) > 1 && other.format.Name == out.format.Name && other.options.Column == out.options.Column && other.options.Compression == out.options.Compression {
				return usagef("%s and %s would both hold the column %s of %s", other.name(), out.name(), name, j.title()).WithHint("%s", adviseColumns(out))
			}
		}
	}
	for _, out := range outs {
		missing := slices.DeleteFunc(namesOf(out.pass.table.Columns()), func(name string) bool { return written[name] })
		if len(missing) > 0 && all {
			o.report.Note("%s holds one column; no output holds the %s", out.name(), columnList(missing))
		}
	}
	return nil
}

// adviseColumns returns the hint for writing a table of several columns to out, whose format holds
// one column per file.
func adviseColumns(out *output) string {
	folder := fmt.Sprintf("write -o %s=DIR/ for one file per column; or ", out.format.Name)
	names := namesOf(out.pass.table.Columns())
	if !slices.Contains(names, dataset.Image.String()) || !slices.Contains(names, dataset.Label.String()) {
		return folder + "select one column: --columns " + shell.Quote(names[0])
	}
	name, split := cmp.Or(out.job.split.Name, "train"), ""
	images, labels := "X_"+name+".npy", "y_"+name+".npy"
	if out.format.IsIDX {
		images, labels = name+"-images.idx", name+"-labels.idx"
	}
	if out.job.split.Name != "" {
		split = "--split " + shell.Quote(out.job.split.Name) + " "
	}
	return fmt.Sprintf("%sgive two outputs, one for the images and one for the labels, such as %s-o %s -o %s", folder, split, shell.Path(images), shell.Path(labels))
}

// collision returns the error for out, an output of job b at the path of an output of job a.
func (o *conversion) collision(arg outputArg, out *output, a, b *job) error {
	if a == b {
		return usagef("%s would be written twice", out.name())
	}
	return usagef("%s and %s would both be written to %s", a.title(), b.title(), out.name()).WithHint("%s", o.adviseCollision(arg, out, a, b))
}

// adviseCollision returns the hint: another path or, where none helps, one split at a time.
func (o *conversion) adviseCollision(arg outputArg, out *output, a, b *job) string {
	if image, label := o.asColumns(a, b), o.asColumns(b, a); image != "" && label != "" {
		return fmt.Sprintf("if they are the columns of one table, name them: %s %s", image, label)
	}
	switch {
	case !out.shared() && out.path != Stdio:
	case a.split.Name != "" && !a.split.divided:
		return "choose one with --split " + shell.Quote(a.split.Name)
	default:
		return "convert each alone: idxport convert " + shell.Path(a.split.Files[0].Path) + " -o OUT"
	}
	if out.format.OneColumn {
		return fmt.Sprintf("write -o %s=DIR/ for separate files", out.format.Name)
	}
	stem, ext := formats.SplitName(strings.TrimRight(arg.path, "/"))
	if base := filepath.Base(stem); base == a.split.Name || base == b.split.Name {
		stem = strings.TrimSuffix(stem, base)
	} else {
		stem += "-"
	}
	if arg.named {
		stem = out.format.Name + "=" + stem
	}
	return fmt.Sprintf("write -o %s for one output per split", shell.Path(stem+"{split}"+ext))
}

// asColumns returns the argument that names the file of a if it may be the images or the labels of
// one table with the file of b; else "".
func (o *conversion) asColumns(a, b *job) string {
	files, table := a.split.Files, a.passes[0].table
	scalar := table.Columns()[0].Scalar()
	if len(files) != 1 || !o.tables[files[0].Path].Format.OneColumn || table.Rows() != b.passes[0].table.Rows() ||
		scalar == b.passes[0].table.Columns()[0].Scalar() {
		return ""
	}
	return map[bool]string{true: "label=", false: "image="}[scalar] + shell.Quote(files[0].Path)
}

// expand returns the outputs of arg in format f for one split.
func (o *conversion) expand(arg outputArg, j *job, f formats.Format) ([]*output, error) {
	number := fmt.Sprintf("%0*d", len(strconv.FormatInt(o.part.n, 10)), o.part.i)
	path, err := fill(arg.path, map[string]string{"split": j.base(), "format": f.Name, "part": number})
	if err != nil {
		return nil, err
	}
	out := &output{job: j, pass: j.passes[0], format: f, path: path, options: o.formatOptions(f), makeParents: arg.container || path != arg.path}
	if f.IsIDX {
		out.pass = j.passes[len(j.passes)-1]
	}
	if codec := &out.options.Compression; f.Compressible && !arg.container {
		if codec.Name != "" && codec.Name != arg.codec {
			return nil, usagef("--compression %s=%s does not match the name %s", f.Name, codec.Name, path).
				WithHint("the file name selects the compression of CSV and IDX: .gz or .zst")
		}
		codec.Name = arg.codec
	}
	switch {
	case f.OneColumn:
		out.upright = f.IsIDX && o.isUpright(j)
		return out.perColumn(arg)
	case arg.container:
		out.path = source.Under(path, j.base()+out.extension())
	}
	return []*output{out}, o.shard(arg, out)
}

func (out *output) extension() string { return out.format.FileExtension(out.options.Compression.Name) }

// perColumn returns the outputs in a format whose files hold one column: in a folder one for each
// column, else one for the column that the path names.
func (out *output) perColumn(arg outputArg) (outs []*output, err error) {
	columns := out.pass.table.Columns()
	if !arg.container {
		if out.options.Column, err = out.columnFor(columns); err == nil {
			err = out.checkUpright()
		}
		return []*output{out}, err
	}
	for i, c := range columns {
		one := *out
		one.options.Column = i
		one.path = source.Under(out.path, out.fileName(c))
		outs = append(outs, &one)
	}
	return outs, nil
}

// upright begins the name of an IDX file that would otherwise be taken for one of a data set whose
// images are stored transposed, such as EMNIST, and be turned again by its next reader.
const upright = "upright-"

// storedTransposed reports whether images in an IDX file called name are taken to be transposed.
func storedTransposed(name string) bool {
	d, err := dataset.Lookup(dataset.ParseName(name).Dataset)
	return err == nil && d.Transposed
}

// isUpright reports whether the images of a job are known to be upright. Those in IDX files of an
// unknown data set may be transposed.
func (o *conversion) isUpright(j *job) bool {
	turned := j.passes[0].applied.Transpose != nil
	if d := j.split.Dataset; d != nil && d.Transposed {
		return turned
	}
	_, table := o.tables[j.split.Files[0].Path]
	return table && !turned
}

// checkUpright returns an error if the output has upright images and a name by which they would be
// turned again.
func (out *output) checkUpright() error {
	if !out.upright || !isImage(out.pass.table.Columns()[out.options.Column]) || !storedTransposed(out.path) {
		return nil
	}
	return usagef("%s is named like a file of EMNIST, in which images are transposed, but these are upright", out.path).
		WithHint("write -o %s", shell.Path(source.Under(source.Above(out.path), upright+source.Base(out.path))))
}

// fileName returns the name of the file of column c in a folder: train-image.npy or, for
// IDX, train-images-idx3-ubyte, as data sets are published.
func (out *output) fileName(c source.Column) string {
	base, what := out.job.base(), "-"+strings.Map(func(r rune) rune { // the name may come from the contents of a file
		if r < ' ' || r == 0x7f || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, c.Name)
	if c.Name == dataset.Data.String() {
		what = ""
	}
	if !out.format.IsIDX {
		return base + what + out.extension()
	}
	if base == "test" {
		base = "t10k" // programs that look for MNIST expect it
	}
	if c.Name == dataset.Image.String() || c.Name == dataset.Label.String() {
		what += "s"
	}
	h := idx.Header{DType: c.DType, Dims: make([]int64, 1+len(c.Shape))}
	if out.upright && storedTransposed(base+what+"-"+h.Name()) {
		base = upright + base
	}
	return base + what + "-" + h.Name() + strings.TrimPrefix(out.extension(), out.format.Extension)
}

// columnFor returns the column for the file at the output's path: the only one, or the one that the
// path names.
func (out *output) columnFor(columns []source.Column) (int, error) {
	name, what := out.path, "an IDX file"
	if !out.format.IsIDX {
		what = "a " + out.format.Extension + " file"
		name, _ = formats.SplitName(name) // with its extension, x.npy would be taken for images, like X_train.npy
	}
	parsed := dataset.ParseName(name)
	if len(columns) == 1 {
		return 0, out.checkRole(parsed.Role.String(), columns[0])
	}
	if parsed.Ambiguous && out.path != Stdio {
		return 0, usagef("%s holds one column, but its name mentions images and labels", out.path).WithHint("%s", adviseColumns(out))
	}
	i := slices.IndexFunc(columns, func(c source.Column) bool { return c.Name == parsed.Role.String() })
	if i >= 0 && parsed.Role != dataset.Data && out.path != Stdio {
		return i, nil
	}
	return 0, usagef("%s holds one column, but %s has %s", what, out.job.title(), strings.Join(namesOf(columns), ", ")).
		WithHint("%s", adviseColumns(out))
}

// checkRole returns an error if a file named for labels would hold images, or the reverse; c is the
// only column. Any name is allowed for IDX: a copy of a file with a wrong name may keep it.
func (out *output) checkRole(named string, c source.Column) error {
	image, label := dataset.Image.String(), dataset.Label.String()
	if out.format.IsIDX || out.path == Stdio || !(named == image && c.Name == label || named == label && c.Name == image) {
		return nil
	}
	return usagef("%s is named after the column %s, but the input has only %s", out.name(), named, c.Name).
		WithHint("give the file of that column too, or rename the output")
}

// shard makes the output a folder of several files if the options ask for that. In the Hugging Face
// layout, all splits share one folder of Parquet files, and out becomes one split of that folder.
func (o *conversion) shard(arg outputArg, out *output) error {
	if !arg.container || out.format.Name != "parquet" || !o.isHub(out.format) {
		if o.sharded() && out.format.Splittable {
			out.sharding = &sharding{kind: publish.Parts, stem: "part", extension: out.extension()}
		}
		return nil
	}
	if len(arg.formats) > 1 {
		return usagef("a folder in the layout huggingface is a complete data set, with a card and all splits; it cannot hold other formats").
			WithHint("write the data set to a folder of its own, and leave parquet out of --to: -o parquet=%s", shell.Quote(strings.TrimRight(arg.path, "/")+"/huggingface/"))
	}
	stem := hubName(out.job.base())
	if out.job.split.Name == "" && out.job.alone {
		stem = "train" // as the datasets library names the split of a single table
	}
	out.path = source.Above(out.path)
	out.sharding = &sharding{kind: publish.Hub, subfolder: "data", stem: stem, extension: out.format.Extension}
	return nil
}

// addCards gives outputs that share a folder a common card (its README.md). It fails if one card
// cannot describe all their splits.
func addCards(outputs []*output) (err error) {
	cards := map[string]*card.Card{} // by folder
	for _, out := range outputs {
		if !out.shared() {
			continue
		}
		c := cards[out.path]
		if c == nil {
			c = &card.Card{Name: display.Legible(filepath.Base(out.path)), Version: Version}
			if d := out.job.split.Dataset; d != nil {
				c.Name, c.Homepage, c.License = d.Title, d.Homepage, d.License
			}
			cards[out.path] = c
		}
		if c.Features, err = card.Merge(c.Features, out.pass.schema); err != nil {
			return usagef("%s: %v", out.path, err).WithHint("choose one split with --split, or give all the same class names with --classes")
		}
		for _, f := range out.job.split.Files {
			if name := display.Legible(source.Base(f.Path)); !slices.Contains(c.Sources, name) { // splits of --holdout share files
				c.Sources = append(c.Sources, name)
			}
		}
		out.sharding.card = c
	}
	return nil
}

// hubName returns the name of a split for the Hub, where only letters, digits and _ are allowed.
func hubName(split string) string { return regexp.MustCompile(`\W`).ReplaceAllString(split, "_") }
