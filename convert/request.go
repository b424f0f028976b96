package convert

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/input"
	"github.com/idxport/idxport/internal/object"
	"github.com/idxport/idxport/internal/publish"
	"github.com/idxport/idxport/internal/rows"
	"github.com/idxport/idxport/internal/sinks"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source/idx"
)

// A request is what was asked for: options, checked and parsed.
type request struct {
	Options  // as given, with the default of MaxRecordBytes, and Dataset as the list of data sets has it
	input    input.Options
	targets  []target
	choice   rows.Choice
	expected []expectation
	codecs   []formatValue // of --compression
	layouts  []formatValue // of --layout
	report   *Report
}

// newRequest parses options. Each option about outputs must apply to one of them.
func newRequest(o Options, report *Report) (*request, error) {
	if len(o.Inputs) == 0 {
		return nil, usagef("no input").WithHint("give a folder, files, or - for standard input, such as ./mnist")
	}
	o.MaxRecordBytes = cmp.Or(o.MaxRecordBytes, DefaultMaxRecordBytes)
	errValues := o.checkValues()
	in, errInput := inputOptions(o.Source, &object.Store{Warn: report.warning}, report.Note)
	choice, errRows := rows.Parse(rows.Options{Rows: o.Rows, Where: o.Where, Holdout: o.Holdout, Stratify: o.Stratify,
		Shuffle: o.Shuffle, Seed: o.Seed, Take: o.Take, Part: o.Part})
	expected, errExpect := parseExpect(o.Expect)
	parts, _ := choice.Parts()
	targets, errTarget := parseTargets(in.Storage.Store, o, parts)
	codecs, errCodec := parseCompression(o.Compression)
	layouts, errLayout := parsePerFormat("layout", o.Layout, sinks.Format.LayoutNames)
	if err := cmp.Or(errValues, errInput, errRows, errExpect, errTarget, errCodec, errLayout); err != nil {
		return nil, err
	}
	r := &request{o, in, targets, choice, expected, codecs, layouts, report}
	r.input.Counted, r.input.Holdout = r.choice.NeedsCount(), r.Holdout != nil
	if r.Transpose != nil && *r.Transpose { // their reader scales images in files before they are turned
		slices.Reverse(r.input.Resize[:])
	}
	// The headers of IDX and .npy have the number of rows, and names of images as many digits.
	r.input.Counted = r.input.Counted || r.makes(func(f sinks.Format) bool { return f.OneColumn || f.Images })
	return r, r.checkUsed()
}

// inputOptions returns the options of s about inputs.
func inputOptions(s Source, store *object.Store, note func(string, ...any)) (o input.Options, err error) {
	o = input.Options{Split: s.Split, Dataset: s.Dataset, Shape: s.Shape, Resize: s.Resize, Grey: s.Grey,
		Header: s.Header, Salvage: s.Salvage, LabelColumn: s.LabelColumn, MaxRecordBytes: s.MaxRecordBytes, Note: note,
		Workers: s.Workers, Stdin: bufio.NewReader(s.Stdin), Storage: &input.Storage{Store: store}}
	var types []string
	for _, d := range idx.DTypes() {
		types = append(types, d.String())
		if d.String() == s.DType {
			o.DType = d
		}
	}
	if s.DType != "" && !o.DType.Valid() {
		return o, unknown("type", s.DType, types)
	}
	for _, arg := range s.Inputs {
		arg, err = store.ParseArg(arg)
		in := dataset.ParseInput(arg)
		if err = cmp.Or(err, checkPath(cmp.Or(arg, "an input"), in.Path)); err != nil {
			return o, err
		}
		o.Args = append(o.Args, in)
	}
	o.Classes, err = store.ParseArg(s.Classes)
	return o, cmp.Or(err, checkPath("--classes "+o.Classes, cmp.Or(o.Classes, Stdio)))
}

// checkValues checks the values of single flags, and sets o.Dataset to the name in the list.
func (o *Options) checkValues() error {
	for i, name := range o.Columns {
		if name == "" || slices.Contains(o.Columns[:i], name) {
			return usagef("--columns %s: %q is empty or given twice", strings.Join(o.Columns, ","), name).
				WithHint("separate names by commas: --columns label,image")
		}
	}
	for _, n := range []struct {
		flag               string
		value, least, most int64
	}{
		{"max-record-bytes", o.MaxRecordBytes, 1, MaxRecordBytesLimit},
		{"workers", int64(o.Workers), 0, MaxWorkers},
		{"take", o.Take, 0, math.MaxInt64}, {"rows-per-file", o.RowsPerFile, 0, math.MaxInt64},
	} {
		if n.value < n.least || n.value > n.most {
			return usagef("--%s %d, expected %d to %d", n.flag, n.value, n.least, n.most)
		}
	}
	if o.Dataset == "" || o.Dataset == dataset.DatasetNone {
		return nil
	}
	d, err := dataset.Lookup(o.Dataset)
	o.Dataset = d.Name
	return err
}

// formatOptions returns the options for outputs of format f.
func (r *request) formatOptions(f sinks.Format) sink.Options {
	return sink.Options{Compression: codecOf(chosenFor(r.codecs, f, r.codecsOf(f)).value), MaxLabel: -1,
		Version: Version, Layout: chosenFor(r.layouts, f, f.LayoutNames()).value}
}

// codecsOf returns the codecs that outputs of f accept from a --compression without FORMAT=. It is
// for what Parquet and Arrow contain, if any output is of these, or else for whole files.
func (r *request) codecsOf(f sinks.Format) []string {
	if r.makes(isColumnar) {
		return f.Codecs
	}
	return f.Compressions()
}

// makes reports whether match returns true for the format of any output.
func (r *request) makes(match func(sinks.Format) bool) bool {
	return slices.ContainsFunc(r.targets, func(t target) bool { return slices.ContainsFunc(t.formats, match) })
}

// isColumnar reports whether f is Parquet or Arrow.
func isColumnar(f sinks.Format) bool { return f.Codecs != nil }
func isStdin(f dataset.File) bool    { return f.Path == Stdio }

// knowsNames reports whether the names of labels in s are those of its data set: none were given.
func (r *request) knowsNames(s dataset.Split, names []string) bool {
	return s.Dataset != nil && r.Classes == "" && slices.Equal(names, s.Dataset.Classes)
}

// isHub reports whether outputs of f are tables in the layout of the Hugging Face Hub.
func (r *request) isHub(f sinks.Format) bool {
	return isColumnar(f) && r.formatOptions(f).Layout == "huggingface"
}

// placesLabel reports whether outputs of f have a place for the label, as an integer or a name.
func (r *request) placesLabel(f sinks.Format) bool {
	return f.Images || r.ClassColumn && f.ClassColumn || r.formatOptions(f).Layout == "pjreddie"
}

func (r *request) replaces() bool { return r.Overwrite || r.IfChanged }

// scratch creates a scratch file on the disk of the first local target, or else in os.TempDir().
func (r *request) scratch() (*os.File, error) {
	for _, t := range r.targets {
		path, _, _ := strings.Cut(t.path, "{")
		if isStream(path) || text.IsURL(path) {
			continue
		}
		for path != filepath.Dir(path) && !folderAt(path) { // to the nearest folder that exists
			path = filepath.Dir(path)
		}
		return publish.Scratch(path)
	}
	return publish.Scratch(os.TempDir())
}

// checkUsed returns an error if a flag applies to no output. Verify, Inspect and Preview have none.
func (r *request) checkUsed() error {
	var uses []input.FlagUse
	add := func(flag string, given bool, used func(sinks.Format) bool) {
		uses = append(uses, input.FlagUse{Flag: flag, Given: given, Used: r.makes(used), Users: sinks.List(used)})
	}
	add("class-column", r.ClassColumn, func(f sinks.Format) bool { return f.ClassColumn })
	add("rows-per-file", r.RowsPerFile > 0, func(f sinks.Format) bool { return f.Splittable })
	addValue := func(flag string, values []formatValue, v formatValue, accepted func(sinks.Format) []string) bool {
		used := r.makes(func(f sinks.Format) bool { return chosenFor(values, f, accepted(f)) == v })
		uses = append(uses, input.FlagUse{Flag: flag + " " + v.value, Given: true, Used: used,
			Users: sinks.List(func(f sinks.Format) bool { return v.appliesTo(f, accepted(f)) })})
		return used
	}
	for _, v := range r.layouts {
		addValue("layout", r.layouts, v, sinks.Format.LayoutNames)
	}
	for _, v := range r.codecs {
		ofFiles := func(f sinks.Format) bool { return f.Compressible && v.appliesTo(f, f.Compressions()) }
		if !addValue("compression", r.codecs, v, r.codecsOf) && r.makes(ofFiles) && r.makes(isColumnar) {
			return usagef("no output uses --compression %s: with Parquet or Arrow outputs, it is only for these",
				v.value).WithHint("name the format of files that are compressed as a whole, " +
				"or end their names in .gz or .zst: for example --compression csv=gzip")
		}
	}
	onlyNamed := r.targets != nil && r.LabelColumn != "" && !r.input.PlacesLabel() && !r.Stratify && !r.choice.ByClass()
	ofLabels := func(f sinks.Format) bool { return r.placesLabel(f) || r.isHub(f) }
	return input.CheckUses("output", append(uses, input.FlagUse{Flag: "label-column", Given: onlyNamed,
		Used: r.Classes != "" || r.makes(ofLabels) && (r.Columns == nil || slices.Contains(r.Columns, r.LabelColumn)),
		Users: "the label of PNG folders, tar, the layouts huggingface and pjreddie, --class-column, --classes, " +
			"--stratify and --where class=…; --columns must have it"}))
}

// An expectation is an element of --expect: a split and its number of rows or, with −1, a column.
type expectation struct {
	text, name string
	rows       int64
}

// parseExpect parses the arguments of --expect, lists of SPLIT=ROWS and COLUMN.
func parseExpect(args []string) (all []expectation, err error) {
	for _, arg := range args {
		for _, element := range text.List(arg) {
			name, count, isSplit := strings.Cut(element, "=")
			e := expectation{element, name, -1}
			if isSplit {
				e.rows, err = strconv.ParseInt(count, 10, 64)
			}
			if name == "" || err != nil || isSplit && e.rows < 0 {
				return nil, usagef("--expect %q, expected SPLIT=ROWS or COLUMN", element).
					WithHint("for example --expect train=60000,test=10000 or --expect image,label")
			}
			all = append(all, e)
		}
	}
	return all, nil
}

// A formatValue is a [FORMAT=]VALUE argument of --layout or --compression, whose values are
// CODEC[:LEVEL]. Without a format it is for all that accept the value.
type formatValue struct{ format, value string }

// appliesTo reports whether v is for the format f, which accepts these values.
func (v formatValue) appliesTo(f sinks.Format, accepted []string) bool {
	word, _, _ := strings.Cut(v.value, ":")
	return v.format == f.Name || v.format == "" && slices.Contains(accepted, word)
}

// chosenFor returns the element of values for format f, which accepts these values, or zero. One
// that names the format takes precedence.
func chosenFor(values []formatValue, f sinks.Format, accepted []string) (chosen formatValue) {
	for _, v := range values {
		if v.appliesTo(f, accepted) && (chosen.value == "" || v.format != "") {
			chosen = v
		}
	}
	return chosen
}

// parsePerFormat parses the arguments of a flag; accepted returns the values that a format accepts.
func parsePerFormat(flag string, args []string, accepted func(sinks.Format) []string) (all []formatValue, err error) {
	for _, arg := range args {
		name, value, named := strings.Cut(arg, "=")
		if !named {
			name, value = "", arg
		} else if f, ok := sinks.Named(name); ok {
			name = f.Name
		} else {
			return nil, unknownFormat(fmt.Sprintf("--%s %s", flag, arg), name)
		}
		v, twice := formatValue{name, value}, false
		var known []string
		for _, f := range sinks.All() {
			if named && f.Name != name {
				continue
			}
			known = append(known, accepted(f)...)
			takes := func(other formatValue) bool { return other.format == name && other.appliesTo(f, accepted(f)) }
			twice = twice || v.appliesTo(f, accepted(f)) && slices.ContainsFunc(all, takes)
		}
		slices.Sort(known)
		word, _, _ := strings.Cut(value, ":")
		switch {
		case twice:
			return nil, usagef("--%s is given twice for the same formats", flag)
		case known == nil:
			return nil, usagef("--%s %s: it does not apply to %s", flag, arg, name)
		case !slices.Contains(known, word):
			return nil, unknown(flag, word, slices.Compact(known))
		}
		all = append(all, v)
	}
	return all, nil
}

// parseCompression parses [FORMAT=]CODEC[:LEVEL] arguments.
func parseCompression(args []string) ([]formatValue, error) {
	values, err := parsePerFormat("compression", args, sinks.Format.Compressions)
	for _, v := range values {
		if _, level, ok := strings.Cut(v.value, ":"); ok && codecOf(v.value).Level == 0 { // no number, or 0
			return nil, usagef("--compression %q: found the level %q, expected a whole number from 1", v.value, level)
		}
	}
	return values, err
}

// codecOf returns the codec CODEC[:LEVEL], with the level 0, the default, if that is no number.
func codecOf(value string) compressed.Codec {
	name, digits, _ := strings.Cut(value, ":")
	level, _ := strconv.Atoi(digits)
	return compressed.Codec{Name: name, Level: level}
}
