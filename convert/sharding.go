package convert

import (
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/card"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/sink/layout"
	"github.com/idxport/idxport/sink/parts"
	"github.com/idxport/idxport/sink/publish"
	"github.com/idxport/idxport/source"
)

// A sharding says how an output is spread over the files of a folder, which is the output's path.
type sharding struct {
	mark      publish.Mark
	class     string // the folder in it that holds the files, or empty
	stem      string // what their names begin with
	extension string
}

// folder tells whether the output is a folder.
func (o output) folder() bool { return o.format.Folder || o.sharding != nil }

// shared tells whether the output's folder holds several splits.
func (o output) shared() bool { return o.sharding != nil && o.sharding.mark == publish.CardMark }

// key tells outputs apart.
func (o output) key() string {
	if o.shared() {
		return filepath.Join(o.path, o.sharding.class, o.sharding.stem)
	}
	return filepath.Clean(o.path)
}

// sharded reports whether outputs are to be many files.
func (o *conversion) sharded() bool { return o.RowsPerFile > 0 || o.FileSize > 0 || o.planning }

// shard makes out, in format f for the job j, a folder of many files where that was asked for.
func (arg outputArg) shard(j *job, f formats.Format, o *conversion, out output) (output, error) {
	if arg.container && f.Name == "parquet" && out.options.Layout == "huggingface" {
		return arg.hub(j, out)
	}
	if !o.sharded() || !f.Divisible {
		return out, nil
	}
	out.sharding = &sharding{mark: publish.PartsMark, stem: "part", extension: f.FileExtension(out.options.Compression.Name)}
	return out, nil
}

// hub makes out a split of a folder as Hugging Face's Hub has them. The folder is one output for all splits.
func (arg outputArg) hub(j *job, out output) (output, error) {
	if len(arg.formats) > 1 {
		return out, usagef("a folder of the layout huggingface is a data set by itself, with a card and all splits; it cannot hold other formats").
			WithHint("give it a folder of its own: -o parquet=%s", shell.Quote(strings.TrimRight(arg.path, "/")+"/huggingface/"))
	}
	out.path = source.Above(out.path)
	out.sharding = &sharding{mark: publish.CardMark, class: "data", stem: j.hubName(), extension: out.format.Extension}
	return out, nil
}

// checkHubs refuses splits that one card cannot describe.
func checkHubs(jobs []*job) error {
	features := map[string][]layout.Feature{} // by folder
	for _, j := range jobs {
		for _, pass := range j.passes() {
			for _, out := range pass.outputs {
				if !out.shared() {
					continue
				}
				all, err := card.Merge(features[out.path], pass.schema)
				if err != nil {
					return usagef("%s: %v", out.path, err).WithHint("take one split with --split, or give all the same class names with --classes")
				}
				features[out.path] = all
			}
		}
	}
	return nil
}

// hubName is what datasets call the job: a table that is no split is "train".
func (j *job) hubName() string {
	if j.split.Name == "" && j.alone {
		return "train"
	}
	return hubName(j.base())
}

// hubName is the name of a split as datasets have it, which know none with dashes.
func hubName(split string) string { return regexp.MustCompile(`\W`).ReplaceAllString(split, "_") }

// openParts makes the sink of an output that is many files.
func (w *writers) openParts(p *pass, out output, folder *publish.Folder) (*parts.Sink, error) {
	class, err := folder.Class(out.sharding.class)
	if err != nil {
		return nil, err
	}
	perFile := *p.schema // of a file, as far as that is known: it decides on row groups
	if w.RowsPerFile > 0 && (perFile.Rows < 0 || perFile.Rows > w.RowsPerFile) {
		perFile.Rows = w.RowsPerFile
	}
	o := parts.Options{Stem: out.sharding.stem, Extension: out.sharding.extension, Rows: w.RowsPerFile, Size: w.FileSize,
		First: p.first, Checksum: w.Checksum}
	return parts.New(class, p.schema, o, func(to io.Writer) (sink.Sink, error) {
		return out.format.Open(formats.Output{Writer: to}, &perFile, out.options)
	})
}

// addParts tells of the files of made.
func (o *Output) addParts(made *written) {
	dir := filepath.Join(made.output.path, made.output.sharding.class)
	for _, p := range made.parts.Parts() {
		o.Parts = append(o.Parts, Part{Path: filepath.Join(dir, p.Name), Rows: p.Rows, Bytes: p.Bytes, SHA256: p.SHA256})
		o.Bytes += p.Bytes
	}
	files := int64(len(o.Parts))
	o.Files = &files
	switch {
	case !made.output.shared():
		o.Shown = made.output.path + string(filepath.Separator)
	case files == 1:
		o.Shown = o.Parts[0].Path
	default:
		o.Shown = filepath.Join(dir, made.output.sharding.stem+"-*")
	}
}

// writeCards writes the cards of the folders that have one.
func (w *writers) writeCards() {
	cards := map[*publish.Folder]*card.Card{}
	for _, made := range w.written {
		if made.parts == nil || !made.output.shared() {
			continue
		}
		c := cards[made.folder]
		if c == nil {
			c = &card.Card{Name: filepath.Base(made.output.path), Version: Version}
			if d := made.job.split.Dataset; d != nil {
				c.Name, c.Homepage, c.License = d.Title, d.Homepage, d.License
			}
			cards[made.folder] = c
		}
		if features, err := card.Merge(c.Features, made.pass.schema); err == nil { // checkHubs has seen to it
			c.Features = features
		}
		split := card.Split{Name: made.output.sharding.stem, Rows: made.rows}
		for _, p := range made.parts.Parts() {
			split.Files, split.Bytes = split.Files+1, split.Bytes+p.Bytes
		}
		c.Splits = append(c.Splits, split)
		for _, f := range made.job.split.Files {
			c.Sources = append(c.Sources, filepath.Base(f.Path))
		}
	}
	for folder, c := range cards {
		folder.SetCard(c.Text())
	}
}
