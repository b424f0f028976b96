package convert

import (
	"maps"
	"os"
	"slices"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/internal/object"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/sink/layout"
)

// A conversion holds validated Options and the state derived from them.
type conversion struct {
	inputs
	View
	Target
	rowOptions
	rows        rowRange
	part        part
	wanted      []outputArg
	compression map[string]compressed.Codec // by format name; "" is the key for all that compress internally
	layouts     map[string]string           // by format name; "" is the key for all that have layouts
	classNames  []string                    // from the file Classes, once it is read
	scratch     string                      // folder of scratch files
}

// newInputConversion validates the options of a conversion that has no outputs.
func newInputConversion(in Source, view View, r *Report) (*conversion, error) {
	checked, err := newInputs(in, r)
	if err != nil {
		return nil, err
	}
	c := &conversion{inputs: checked, View: view, part: part{1, 1}, scratch: os.TempDir()}
	if view.Rows != "" {
		if c.rows, err = parseRows(view.Rows); err != nil {
			return nil, err
		}
	}
	if view.Part != "" {
		if c.part, err = parsePart(view.Part); err != nil {
			return nil, err
		}
	}
	if c.rowOptions, err = parseRowOptions(view); err != nil {
		return nil, err
	}
	return c, checkOption("channels", view.Channels)
}

// newConversion validates options.
func newConversion(o Options, r *Report) (*conversion, error) {
	c, err := newInputConversion(o.Source, o.View, r)
	if err != nil {
		return nil, err
	}
	c.Target = o.Target
	c.Overwrite = c.Overwrite || c.IfChanged
	if c.RowsPerFile < 0 {
		return nil, usagef("--rows-per-file %d, expected at least 0", c.RowsPerFile)
	}
	paths := make([]string, len(o.Outputs))
	for i, arg := range o.Outputs {
		if err := object.CheckOutput(arg); err != nil {
			return nil, err
		}
		if paths[i], err = parseURL(c.store, arg); err != nil {
			return nil, err
		}
	}
	if c.wanted, err = parseOutputs(paths, c.To, c.sharded()); err != nil {
		return nil, err
	}
	for _, arg := range c.wanted {
		if err := arg.checkPart(c.Part != "", c.part); err != nil {
			return nil, err
		}
	}
	if c.compression, err = parseCompression(c.Compression); err != nil {
		return nil, err
	}
	if c.layouts, err = parseLayouts(c.Layout); err != nil {
		return nil, err
	}
	if styles := Choices("csv-style"); !slices.Contains(styles, c.CSVStyle) && c.CSVStyle != "" {
		return nil, unknown("CSV style", c.CSVStyle, styles)
	}
	return c, checkOption("class-folders", c.ClassFolders)
}

// formatOptions returns the options for outputs of format f.
func (o *conversion) formatOptions(f formats.Format) formats.Options {
	return formats.Options{Compression: perFormat(o.compression, f, f.Codecs), Layout: perFormat(o.layouts, f, f.Layouts),
		Style: o.CSVStyle, Channels: o.Channels, ClassFolders: o.ClassFolders, MaxLabel: -1, MetadataCSV: o.MetadataCSV, Version: Version}
}

// perFormat returns the value for format f or, if there is none and f accepts such values, the one
// for all formats.
func perFormat[T any](values map[string]T, f formats.Format, accepted []string) T {
	if v, ok := values[f.Name]; ok || accepted == nil {
		return v
	}
	return values[""]
}

// makes reports whether match returns true for the format of any output.
func (o *conversion) makes(match func(formats.Format) bool) bool {
	return slices.ContainsFunc(o.wanted, func(a outputArg) bool { return slices.ContainsFunc(a.formats, match) })
}

// sharded reports whether outputs are spread over several files.
func (o *conversion) sharded() bool { return o.RowsPerFile > 0 }

// isHub reports whether outputs of f have the layout of the Hugging Face Hub.
func (o *conversion) isHub(f formats.Format) bool {
	return f.Layouts != nil && o.formatOptions(f).Layout == "huggingface"
}

// usesLabel reports whether outputs of f depend on which column is the label.
func (o *conversion) usesLabel(f formats.Format) bool {
	_, index := o.labelIndex() // --label-column N splits a label of several numbers into columns
	return index && !f.IsIDX || f.Images || o.ClassColumn && f.ClassColumn || o.isHub(f)
}

// checkUsed returns an error if a flag applies to no output.
func (o *conversion) checkUsed() error {
	splittable := func(f formats.Format) bool { return f.Splittable }
	classColumn := func(f formats.Format) bool { return f.ClassColumn }
	styled := func(f formats.Format) bool { return f.Styled }
	folder := func(f formats.Format) bool { return f.Folder }
	for _, flag := range []struct {
		name    string
		given   bool
		outputs string // those that use it
		used    func(formats.Format) bool
	}{
		{"csv-style", o.CSVStyle != "", formats.List(styled), styled},
		{"class-folders", o.ClassFolders != "", "PNG folders", folder},
		{"class-column", o.ClassColumn, formats.List(classColumn), classColumn},
		{"metadata-csv", o.MetadataCSV, "PNG folders", folder},
		{"channels", o.Channels != "", "PNG folders, tar, and the layout huggingface", func(f formats.Format) bool {
			l, err := layout.Get(o.formatOptions(f).Layout)
			return f.Images || f.Layouts != nil && err == nil && l.Images()
		}},
		{"rows-per-file", o.RowsPerFile > 0, formats.List(splittable), splittable},
	} {
		if flag.given && !o.makes(flag.used) {
			return usagef("no output uses --%s: it is for %s", flag.name, flag.outputs)
		}
	}
	if o.LabelColumn != "" && !o.placesLabel() && !o.makes(o.usesLabel) && !o.Stratify && !o.selectsClasses() {
		return usagef("no output uses --label-column").
			WithHint("it chooses the label of PNG folders, tar, the layout huggingface, --class-column, --stratify and --where class=…")
	}
	if e := o.unused("layout", slices.Sorted(maps.Keys(o.layouts)), func(f formats.Format) bool { return f.Layouts != nil }); e != nil {
		return e
	}
	if e := o.unused("compression", slices.Sorted(maps.Keys(o.compression)), func(f formats.Format) bool { return f.Codecs != nil }); e != nil {
		if !o.makes(func(f formats.Format) bool { return f.Compressible }) {
			return e
		}
		return e.WithHint("the file name selects the compression of CSV and IDX: -o data.csv.gz, or --to csv --compression csv=gzip for an output folder")
	}
	return nil
}

// unused returns an error if the flag has a value for a format that no output has. given lists the
// formats that have values; "" means every format for which general reports true.
func (o *conversion) unused(flag string, given []string, general func(formats.Format) bool) *fault.Error {
	for _, name := range given {
		if name == "" && !o.makes(general) {
			return usagef("no output uses --%s", flag)
		}
		if name != "" && !o.makes(func(f formats.Format) bool { return f.Name == name }) {
			return usagef("no output uses --%s %s=…", flag, name)
		}
	}
	return nil
}
