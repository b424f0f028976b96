package main

import (
	"io"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/card"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/sink/layout"
	"github.com/idxport/idxport/sink/parts"
	"github.com/idxport/idxport/sink/publish"
)

// A division says how an output is divided over files of a folder, which is the output's path.
type division struct {
	mark      publish.Mark
	class     string // the folder in it that holds the files, or empty
	stem      string // what their names begin with
	extension string
}

// folder tells whether the output is a folder.
func (o output) folder() bool { return o.format.Folder || o.division != nil }

// shared tells whether the output's folder holds several splits.
func (o output) shared() bool { return o.division != nil && o.division.mark == publish.CardMark }

// key tells outputs apart.
func (o output) key() string {
	if o.shared() {
		return filepath.Join(o.path, o.division.class, o.division.stem)
	}
	return filepath.Clean(o.path)
}

// divided tells whether outputs are to be many files.
func (o *convertOptions) divided() bool { return o.rowsPerFile > 0 || o.fileSize > 0 || o.planning }

// divide makes out, in format f for the job j, a folder of many files where that was asked for.
func (arg outputArg) divide(j *job, f formats.Format, o *convertOptions, out output) (output, error) {
	if arg.container && f.Name == "parquet" && out.options.Layout == "huggingface" {
		return arg.hub(j, out)
	}
	if !o.divided() || !f.Divisible {
		return out, nil
	}
	if out.path == stdout {
		return out, usagef("standard output cannot be many files").WithHint("name a folder, or leave out --rows-per-file and --file-size")
	}
	out.division = &division{mark: publish.PartsMark, stem: "part", extension: f.FileExtension(out.options.Compression.Name)}
	return out, nil
}

// hub makes out a split of a folder as Hugging Face's Hub has them. The folder is one output for all splits.
func (arg outputArg) hub(j *job, out output) (output, error) {
	if len(arg.formats) > 1 {
		return out, usagef("a folder of the layout huggingface is a data set by itself, with a card and all splits; it cannot hold other formats").
			WithHint("give it a folder of its own: -o parquet=%s", shell.Quote(strings.TrimRight(arg.path, "/")+"/huggingface/"))
	}
	out.path = filepath.Clean(filepath.Dir(out.path))
	out.division = &division{mark: publish.CardMark, class: "data", stem: j.hubName(), extension: out.format.Extension}
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
	class, err := folder.Class(out.division.class)
	if err != nil {
		return nil, err
	}
	perFile := *p.schema // of a file, as far as that is known: it decides on row groups
	if w.options.rowsPerFile > 0 && (perFile.Rows < 0 || perFile.Rows > w.options.rowsPerFile) {
		perFile.Rows = w.options.rowsPerFile
	}
	o := parts.Options{Stem: out.division.stem, Extension: out.division.extension, Rows: w.options.rowsPerFile, Size: w.options.fileSize,
		First: p.first, Checksum: w.options.checksum}
	return parts.New(class, p.schema, o, func(to io.Writer) (sink.Sink, error) {
		return out.format.Open(formats.Output{Writer: to}, &perFile, out.options)
	})
}

// units are the units of --file-size.
var units = map[string]int64{"B": 1, "K": 1e3, "KB": 1e3, "M": 1e6, "MB": 1e6, "G": 1e9, "GB": 1e9, "T": 1e12, "TB": 1e12,
	"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}

// parseSize reads a number of bytes such as 128MB. It must have a unit: 128 means megabytes to people.
func parseSize(flag, text string) (int64, error) {
	digits := strings.TrimRight(text, "BKMGTIbkmgti ")
	unit, known := units[strings.ToUpper(strings.TrimSpace(text[len(digits):]))]
	n, err := strconv.ParseFloat(digits, 64)
	if digits == text && n >= 1 && n < math.MaxInt64 {
		e := usagef("--%s %s has no unit", flag, text)
		if n >= 1e5 { // hardly megabytes
			return 0, e.WithHint("--%s %sB", flag, text)
		}
		return 0, e.WithHint("--%s %sMB; for bytes, --%[1]s %[2]sB", flag, text)
	}
	if !known || err != nil || !(n*float64(unit) >= 1 && n*float64(unit) < math.MaxInt64) {
		return 0, usagef("--%s %q is no size", flag, text).WithHint("for example --%s 128MB, or 64MiB", flag)
	}
	return int64(n * float64(unit)), nil
}

// addParts tells of the files of made.
func (o *outputReport) addParts(made *written) {
	dir := filepath.Join(made.output.path, made.output.division.class)
	for _, p := range made.parts.Parts() {
		o.Parts = append(o.Parts, partReport{Path: filepath.Join(dir, p.Name), Rows: p.Rows, Bytes: p.Bytes, SHA256: p.SHA256})
		o.Bytes += p.Bytes
	}
	files := int64(len(o.Parts))
	o.Files = &files
	switch {
	case !made.output.shared():
		o.shown = made.output.path + string(filepath.Separator)
	case files == 1:
		o.shown = o.Parts[0].Path
	default:
		o.shown = filepath.Join(dir, made.output.division.stem+"-*")
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
			c = &card.Card{Name: filepath.Base(made.output.path), Version: version}
			if d := made.job.split.Dataset; d != nil {
				c.Name, c.Homepage, c.License = d.Title, d.Homepage, d.License
			}
			cards[made.folder] = c
		}
		if features, err := card.Merge(c.Features, made.pass.schema); err == nil { // checkHubs has seen to it
			c.Features = features
		}
		split := card.Split{Name: made.output.division.stem, Rows: made.rows}
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
