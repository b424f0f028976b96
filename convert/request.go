package convert

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/formats"
	"github.com/idxport/idxport/internal/object"
	"github.com/idxport/idxport/internal/publish"
	"github.com/idxport/idxport/internal/rows"
	"github.com/idxport/idxport/source/idx"
)

// A request is what was asked for: options, checked and parsed.
type request struct {
	Options     // with the defaults filled in, and URLs without their parameters
	args        []dataset.Input
	targets     []target
	choice      rows.Choice
	expected    []expectation
	elementType idx.DType     // of --dtype; 0 if not given
	codecs      []formatValue // of --compression
	layouts     []formatValue // of --layout
	exact       bool          // shapes are not guessed
	asStored    bool          // Inspect does not transform what it reads
	storage     *storage
	stdin       *bufio.Reader
	report      *Report
}

// newRequest checks and parses options. Those about outputs must apply to one if there are any.
func newRequest(o Options, report *Report) (*request, error) {
	r := &request{Options: o, stdin: bufio.NewReader(o.Stdin), report: report,
		storage: &storage{store: &object.Store{Warn: report.warning}, opened: map[string]openedFile{}}}
	if len(o.Inputs) == 0 {
		return nil, usagef("no input").WithHint("give a folder, files, or - for standard input, such as ./mnist")
	}
	if r.MaxRecordBytes == 0 {
		r.MaxRecordBytes = DefaultMaxRecordBytes
	}
	if err := r.checkValues(); err != nil {
		return nil, err
	}
	if i := slices.Index(Choices("dtype"), r.DType); i >= 0 {
		r.elementType = idx.DTypes()[i]
	}
	for _, arg := range o.Inputs {
		if arg == "" {
			return nil, usagef("an input is empty").WithHint("perhaps a shell variable is not set")
		}
		arg, err := r.storage.store.ParseArg(arg)
		if err != nil {
			return nil, err
		}
		r.args = append(r.args, dataset.ParseInput(arg))
	}
	var err error
	if r.Classes, err = r.storage.store.ParseArg(o.Classes); err != nil {
		return nil, err
	}
	for i, name := range o.Columns {
		if name == "" || slices.Contains(o.Columns[:i], name) {
			return nil, usagef("--columns %s: %q is empty or given twice", strings.Join(o.Columns, ","), name)
		}
	}
	if r.choice, err = rows.Parse(rows.Options{Rows: o.Rows, Where: o.Where, Holdout: o.Holdout, Stratify: o.Stratify,
		Shuffle: o.Shuffle, Seed: o.Seed, Take: o.Take, Part: o.Part}); err != nil {
		return nil, err
	}
	if r.expected, err = parseExpect(o.Expect); err != nil || len(o.Outputs) == 0 {
		return r, err
	}
	parts, _ := r.choice.Parts()
	if r.targets, err = parseTargets(r.storage.store, r.Options, parts); err != nil {
		return nil, err
	}
	if r.codecs, err = parseCompression(o.Compression); err != nil {
		return nil, err
	}
	if r.layouts, err = parsePerFormat("layout", o.Layout, formats.Format.LayoutNames); err != nil {
		return nil, err
	}
	return r, r.checkUsed()
}

// checkValues checks the values of single flags.
func (r *request) checkValues() error {
	for _, n := range []struct {
		flag               string
		value, least, most int64
	}{
		{"max-record-bytes", r.MaxRecordBytes, 1, MaxRecordBytesLimit},
		{"workers", int64(r.Workers), 0, MaxWorkers},
		{"take", r.Take, 0, math.MaxInt64},
		{"rows-per-file", r.RowsPerFile, 0, math.MaxInt64},
	} {
		if n.value < n.least || n.value > n.most {
			return usagef("--%s %d, expected %d to %d", n.flag, n.value, n.least, n.most)
		}
	}
	if known := Choices("dtype"); r.DType != "" && !slices.Contains(known, r.DType) {
		return unknown("type", r.DType, known)
	}
	if r.Dataset == "" || r.Dataset == dataset.DatasetNone {
		return nil
	}
	_, err := dataset.Lookup(r.Dataset)
	return err
}

// formatOptions returns the options for outputs of format f.
func (r *request) formatOptions(f formats.Format) formats.Options {
	codecs := f.Codecs
	if f.Compressible && !r.makes(func(f formats.Format) bool { return f.Codecs != nil }) {
		codecs = f.Compressions() // of whole files, unless --compression is for what others contain
	}
	return formats.Options{Compression: codecOf(valueFor(r.codecs, f, codecs)), MaxLabel: -1, Version: Version,
		Layout: valueFor(r.layouts, f, f.LayoutNames())}
}

// makes reports whether match returns true for the format of any output.
func (r *request) makes(match func(formats.Format) bool) bool {
	return slices.ContainsFunc(r.targets, func(t target) bool { return slices.ContainsFunc(t.formats, match) })
}

// isHub reports whether outputs of f have the layout of the Hugging Face Hub.
func (r *request) isHub(f formats.Format) bool {
	return f.Codecs != nil && r.formatOptions(f).Layout == "huggingface"
}

// placesLabel reports whether --label-column may name the place of the label in text without names
// of columns.
func (r *request) placesLabel() bool {
	return slices.Contains([]string{"first", "last", "none"}, r.LabelColumn)
}

func (r *request) replaces() bool { return r.Overwrite || r.IfChanged }

// needsCount reports whether the number of rows is needed before they are read: headers depend on
// it, the number of digits in file names, and choices of rows.
func (r *request) needsCount() bool {
	return r.choice.NeedsCount() || r.makes(func(f formats.Format) bool { return f.Folder || f.OneColumn || f.Images })
}

// scratch creates a scratch file on the file system of the first local target, or else in the
// system's folder for them.
func (r *request) scratch() (*os.File, error) {
	for _, t := range r.targets {
		folder, _, _ := strings.Cut(t.path, "{")
		info, err := os.Stat(folder)
		if t.path == Stdio || object.IsURL(t.path) || err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			continue // it needs no space here
		}
		for (err != nil || !info.IsDir()) && folder != filepath.Dir(folder) {
			folder = filepath.Dir(folder)
			info, err = os.Stat(folder)
		}
		return publish.Scratch(folder)
	}
	return publish.Scratch(os.TempDir())
}

// checkUsed returns an error if a flag applies to no output.
func (r *request) checkUsed() error {
	var uses []flagUse
	add := func(flag string, given bool, used func(formats.Format) bool) {
		uses = append(uses, flagUse{flag, given, r.makes(used), formats.List(used)})
	}
	add("class-column", r.ClassColumn, func(f formats.Format) bool { return f.ClassColumn })
	add("rows-per-file", r.RowsPerFile > 0, func(f formats.Format) bool { return f.Splittable })
	for _, v := range r.layouts {
		add("layout "+v.value, true, func(f formats.Format) bool { return v.appliesTo(f, f.LayoutNames()) })
	}
	for _, v := range r.codecs {
		add("compression "+v.value, true, func(f formats.Format) bool { return v.appliesTo(f, f.Compressions()) })
	}
	named := r.LabelColumn != "" && !r.placesLabel() && !r.Stratify && !r.choice.ByClass()
	ofLabels := func(f formats.Format) bool { return f.Images || r.ClassColumn && f.ClassColumn || r.isHub(f) }
	return checkUses("output", append(uses, flagUse{"label-column", named, r.makes(ofLabels),
		"the label of PNG folders, tar, the layout huggingface, --class-column, --stratify and --where class=…"}))
}

// An expectation is an element of --expect: a split with its number of rows or, if that is −1, a
// column of all splits.
type expectation struct {
	text, name string
	rows       int64
}

// parseExpect parses the arguments of --expect, lists of SPLIT=ROWS and COLUMN.
func parseExpect(args []string) (all []expectation, err error) {
	for _, arg := range args {
		for text := range strings.SplitSeq(arg, ",") {
			name, count, isSplit := strings.Cut(text, "=")
			e := expectation{text, name, -1}
			if isSplit {
				e.rows, err = strconv.ParseInt(count, 10, 64)
			}
			if name == "" || err != nil || isSplit && e.rows < 0 {
				return nil, usagef("--expect %q, expected SPLIT=ROWS or COLUMN", text).
					WithHint("for example --expect train=60000,test=10000 or --expect image,label")
			}
			all = append(all, e)
		}
	}
	return all, nil
}
