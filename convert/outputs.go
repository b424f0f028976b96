package convert

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/images"
	"github.com/idxport/idxport/internal/publish"
	"github.com/idxport/idxport/internal/sinks"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// An output is one file, folder, object or stream that a run writes.
type output struct {
	job     *job
	format  sinks.Format
	path    string
	options sink.Options
	perName bool     // old ones beside it, of other splits, columns or parts, may stay
	above   []string // the folders above it whose names have that of its split or part
	single  bool     // it holds one column, at a path that the user gave
	// shards is the beginning of the paths of the files over which the output is spread, in the
	// folder at path. It is empty if the output is one file, or its format is a folder by itself.
	shards string
	kind   publish.Kind // of the folder, with shards
}

func (out *output) isFolder() bool { return out.format.Folder || out.shards != "" }

// shared reports whether the output's folder, of the layout huggingface, holds several splits.
func (out *output) shared() bool { return out.kind == publish.Hub }

// place is equal for two outputs at the same place.
func (out *output) place() string {
	if out.shared() {
		return filepath.Join(out.path, out.shards)
	}
	return filepath.Clean(out.path)
}

// keyOf returns the publish.Target.Key of the output, made of its format and the key of the run; it
// is empty without --if-changed, when that is.
func (out *output) keyOf(key string) string {
	if key == "" {
		return ""
	}
	return fmt.Sprintf("%016x", xxh3.HashString(out.format.Name+" "+key))
}

func (out *output) shownName() string {
	if out.path == Stdio {
		return "standard output"
	}
	return out.path
}

// planOutputs returns the outputs of all jobs at the targets, in the order of the jobs. It is an
// error if two have the same place, or if an output is impossible at its path.
func planOutputs(ctx context.Context, in *inputs, jobs []*job, targets []target) (outputs []*output, err error) {
	taken := map[string]*job{}
	for _, j := range jobs {
		var all []*output
		for _, t := range targets {
			for _, f := range t.formats {
				outs, err := outputsAt(ctx, in, t, j, f)
				if err != nil {
					return nil, err
				}
				for _, out := range outs {
					if err := checkOutput(in, out); err != nil {
						return nil, err
					}
					if other, ok := taken[out.place()]; ok {
						return nil, collision(t, out, other)
					}
					taken[out.place()] = j
				}
				all = append(all, outs...)
			}
		}
		if err := checkColumns(j, all); err != nil {
			return nil, err
		}
		outputs = append(outputs, all...)
	}
	return outputs, nil
}

// checkOutput returns an error if the options of the run are impossible for an output.
func checkOutput(in *inputs, out *output) error {
	r := in.request
	switch {
	case out.format.IsIDX && misleads(in, out):
		return usagef("%s is named like a file of EMNIST, with transposed images, but these are upright", out.path).
			WithHint("write -o %s", text.Path(source.Under(source.Above(out.path), "upright-"+source.Base(out.path))))
	case r.Verify && (out.options.Layout == "matrix" && out.job.schema.Columns[0].Scalar() ||
		out.format.Images && slices.ContainsFunc(out.job.schema.Columns, images.Planes) || out.format.WriteOnly):
		return usagef("--verify: %s cannot be read back as it is written", out.shownName()).
			WithHint("leave out --verify, or write %s with a command of its own", out.format.Name)
	case (out.shards != "" || r.IfChanged || r.Verify) && isStream(out.path):
		return usagef("%s cannot be many files, be up to date or be read again", out.shownName()).
			WithHint("name a file or folder, or leave out --rows-per-file, --if-changed and --verify")
	case text.IsURL(out.path) && out.isFolder():
		return usagef("%s: outputs of several files cannot be published in object storage in one step", out.path).
			WithHint("write tar or one Parquet file for each split, or a local folder")
	case text.IsURL(out.path) && (r.IfChanged || r.Verify):
		return usagef("%s: an object cannot be marked as up to date, or be read before it is published", out.path).
			WithHint("leave out --if-changed and --verify; to compare it afterwards: idxport verify %s INPUT",
				text.Path(out.path))
	}
	return nil
}

// checkColumns returns an error if j has several columns, and two of its outputs of a single column
// hold the same one in the same format and compression. If j has no other outputs, a column that is
// in none of them is an error too. all are the outputs of j.
func checkColumns(j *job, all []*output) error {
	outs := slices.DeleteFunc(slices.Clone(all), func(out *output) bool { return !out.single })
	missing := source.Names(j.table.Columns())
	for i, out := range outs {
		name := out.writtenColumn().Name
		same := func(other *output) bool {
			return other.format.Name == out.format.Name && other.options.Column == out.options.Column &&
				other.options.Compression == out.options.Compression
		}
		if k := slices.IndexFunc(outs[:i], same); k >= 0 && len(j.table.Columns()) > 1 {
			return usagef("%s and %s would both hold the column %s of %s", outs[k].shownName(), out.shownName(),
				name, j.title()).WithHint("%s", adviseColumns(out))
		}
		missing = slices.DeleteFunc(missing, func(other string) bool { return other == name })
	}
	if len(missing) > 0 && len(outs) > 0 && len(outs) == len(all) {
		return usagef("%s holds one column; no output holds %s", outs[0].shownName(), strings.Join(missing, ", ")).
			WithHint("%s", adviseColumns(outs[0]))
	}
	return nil
}

func (out *output) writtenColumn() source.Column { return out.job.table.Columns()[out.options.Column] }

// adviseColumns returns the hint for writing several columns to out, whose files hold one.
func adviseColumns(out *output) string {
	return fmt.Sprintf("write -o %s=DIR/ for one file per column; or select one column: --columns %s",
		out.format.Name, text.Quote(out.writtenColumn().Name))
}

// collision returns the error for out, an output of t, at the path of an output of the job other.
func collision(t target, out *output, other *job) error {
	if other == out.job {
		return usagef("%s would be written twice", out.shownName())
	}
	e := usagef("%s and %s would both be written to %s", other.title(), out.job.title(), out.shownName())
	switch {
	case !out.shared() && out.path != Stdio && !strings.Contains(t.path, "{split}"):
		return e.WithHint("write -o %s for one output per split", t.inserted("-{split}"))
	case (other.split.whole != "" || out.job.split.whole != "") && other.base() == out.job.base():
		return e.WithHint("choose another name for --holdout")
	case other.split.Name == "":
		return e.WithHint("give the files of one of them")
	case other.split.whole != "":
		return e.WithHint("leave out --holdout, or write files: -o '{split}%s'", out.format.Extension)
	}
	return e.WithHint("choose one with --split %s", text.Quote(other.split.Name))
}

// outputsAt returns the outputs of the target t in format f for one job.
func outputsAt(ctx context.Context, in *inputs, t target, j *job, f sinks.Format) (_ []*output, err error) {
	r := in.request
	parts, part := r.choice.Parts()
	fill := strings.NewReplacer("{split}", j.base(), "{format}", f.Name, "{part}", part).Replace
	path := fill(t.path)
	out := &output{job: j, format: f, path: path, options: r.formatOptions(f)}
	if f.OneColumn && t.named && path != Stdio && extension(path) == "" && !t.container {
		_, unnamed := out.columnFor(j.table.Columns())
		t.container = unnamed != nil // without an extension or the name of a column, it is a folder
	}
	out.perName = (parts > 1 || r.replaces()) && (t.container || path != t.path)
	for dir := t.path; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if placeholder().MatchString(filepath.Base(dir)) && (t.container || dir != t.path) {
			out.above = append(out.above, filepath.Clean(fill(dir)))
		}
	}
	if codec := &out.options.Compression; f.Compressible && !t.container {
		if codec.Name != "" && codec.Name != t.codec {
			return nil, usagef("--compression %s=%s does not match the name %s", f.Name, codec.Name, path).
				WithHint("the file name selects the compression of CSV and IDX: .gz or .zst; for -, pipe it: | gzip")
		}
		codec.Name = t.codec
	}
	if f.Folder { // the names of its folders depend on the largest label
		if out.options.MaxLabel, err = in.maxLabel(ctx, j.split.Split); err != nil {
			return nil, err
		}
	}
	if f.OneColumn {
		return out.perColumn(r, t)
	} else if t.container {
		out.path = source.Under(path, j.base()+out.ext())
	}
	return []*output{out}, shard(in, t, out)
}

// maxLabel returns the largest label of a split, found by reading the IDX files of its labels, or
// −1 if there are none or they can be read only once.
func (in *inputs) maxLabel(ctx context.Context, s dataset.Split) (largest int64, err error) {
	s.Files = slices.DeleteFunc(slices.Clone(s.Files), func(f dataset.File) bool {
		// Without a header, it is no IDX file, or standard input, which reading would empty.
		return len(f.Header.Dims) == 0 || f.Role != dataset.Label && f.Name != in.request.LabelColumn
	})
	if len(s.Files) == 0 {
		return -1, nil
	}
	opened, err := in.set.Open(ctx, s, nil, false)
	if err != nil {
		return -1, err
	}
	defer opened.Close() // read-only: an error does not matter
	t, largest := integerLabels(in.request, opened), int64(-1)
	i := schema.Of(t).Label()
	err = source.Each(ctx, t, func(b *source.Raw) error {
		for row := 0; i >= 0 && row < b.Rows; row++ {
			largest = max(largest, source.Int(t.Columns()[i].DType, b.Columns[i], row))
		}
		return nil
	})
	return largest, err
}

// perColumn returns the output for the column that the path names, or in a folder one for each, and
// for the names of IDX labels, unless they are those of a known data set.
func (out *output) perColumn(r *request, t target) (outs []*output, err error) {
	columns := out.job.table.Columns()
	if !t.container {
		out.single = true
		out.options.Column, err = out.columnFor(columns)
		return []*output{out}, err
	}
	for i, c := range columns {
		one := *out
		one.options.Column, one.path = i, source.Under(out.path, out.fileName(c))
		outs = append(outs, &one)
		if out.format.IsIDX && c.Classes != nil && !r.knowsNames(out.job.split.Split, c.Classes) {
			names := one
			names.format = sinks.ClassNames()
			names.path = source.Under(out.path, names.fileName(c))
			outs = append(outs, &names)
		}
	}
	return outs, nil
}

// misleads reports whether the IDX file out has images that are known to be upright, and that its
// next reader would turn, as it is named like the files of a data set whose images are stored
// transposed. The images in IDX files of an unknown data set may be transposed.
func misleads(in *inputs, out *output) bool {
	named, _ := dataset.Lookup(dataset.ParseName(out.path).Dataset) // zero if there is none
	turned := len(out.job.applied.Transpose) > 0
	upright := !turned && !in.set.IDX()
	if d := out.job.split.Dataset; d != nil {
		upright = turned == d.Transposed
	}
	return upright && isImage(out.writtenColumn()) && named.Transposed
}

// fileName returns the name of the file of column c in a folder: train-image.npy or, for IDX,
// train-images-idx3-ubyte, as data sets are published. The only column of x-images is one of x.
func (out *output) fileName(c source.Column) string {
	what := "-" + notInNames().ReplaceAllString(c.Name, "_")
	base, isLabel := out.job.base(), strings.TrimSuffix(c.Name, "s") == dataset.Label.String()
	table, isNamed := strings.CutSuffix("-"+strings.TrimSuffix(base, "s"), what)
	isData, isOnly := c.Name == dataset.Data.String(), len(out.job.table.Columns()) == 1
	if isNamed && isOnly && !isData && out.job.split.Name == "" {
		base = strings.TrimPrefix(table, "-")
	}
	if isData || out.format.Beside && isLabel && base != "" { // others are columns beside it
		what = ""
	} else if out.format.Name != "npy" && (c.Name == dataset.Image.String() || c.Name == dataset.Label.String()) {
		what += "s"
	}
	if base == "test" && (out.format.IsIDX || out.format.Beside && what != "") {
		base = "t10k" // programs that look for MNIST expect it
	} else if base == "" {
		what = what[1:]
	}
	if !out.format.IsIDX {
		return base + what + out.ext()
	}
	h := idx.Header{DType: c.DType, Dims: make([]int64, 1+len(c.Shape))}
	return base + what + "-" + h.Name() + strings.TrimPrefix(out.ext(), out.format.Extension) // .gz or .zst
}

// columnFor returns the column for the file at the output's path: the one that the path names, or
// the only one, unless that is images and the path is named after labels, or the reverse. IDX may
// have any name, as a copy of a file with a wrong name may keep it.
func (out *output) columnFor(columns []source.Column) (int, error) {
	name := out.path
	if !out.format.IsIDX {
		name, _ = sinks.SplitName(name) // with its extension, x.npy would be taken for images, like X_train.npy
	}
	parsed, anyName := dataset.ParseName(name), out.format.IsIDX || out.path == Stdio
	i, only := source.Index(columns, parsed.Role.String()), columns[0].Name
	wrong := parsed.Role != dataset.Data && (only == dataset.Image.String() || only == dataset.Label.String())
	switch {
	case len(columns) == 1 && (i == 0 || anyName || !wrong):
		return 0, nil
	case i >= 0 && parsed.Role != dataset.Data && !parsed.Ambiguous:
		return i, nil
	}
	return 0, usagef("%s holds one column and is not named after one of %s, those of %s", out.shownName(),
		source.List(columns), out.job.title()).WithHint("%s", adviseColumns(out))
}

// shard makes the output a folder of several files if the options ask for that. In the Hugging Face
// layout, all splits share one folder of Parquet files, and out becomes one split of that folder.
func shard(in *inputs, t target, out *output) error {
	if !t.container || out.format.Name != "parquet" || !in.request.isHub(out.format) {
		if in.request.RowsPerFile > 0 && out.format.Splittable {
			out.shards, out.kind = "part", publish.Parts
		}
		return nil
	}
	if len(t.formats) > 1 {
		return usagef("a folder in the layout huggingface is a complete data set, with a card and all splits; "+
			"it cannot hold other formats").
			WithHint("write it to a folder of its own, and leave parquet out of --to: -o parquet=%s",
				text.Quote(strings.TrimRight(t.path, "/")+"/huggingface/"))
	}
	stem := hubName(out.job.base())
	if out.job.split.Name == "" && len(in.set.Splits) == 1 {
		stem = "train" // as the datasets library names the split of a single table
	}
	out.path = source.Above(out.path) // the folder itself, not a file in it
	out.shards, out.kind = "data/"+stem, publish.Hub
	return nil
}

func (out *output) ext() string { return out.format.FileExtension(out.options.Compression.Name) }

// hubName returns the name of a split for the Hub, where only letters, digits and _ are allowed.
func hubName(split string) string { return regexp.MustCompile(`\W`).ReplaceAllString(split, "_") }
