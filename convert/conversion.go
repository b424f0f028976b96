package convert

import (
	"maps"
	"slices"

	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/sink/compressed"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/sink/layout"
	tables "github.com/idxport/idxport/source/formats"
)

// A conversion is Options that were checked.
type conversion struct {
	inputs
	View
	Target
	rows        rowRange
	wanted      []outputArg
	compression map[string]compressed.Codec // by format; "" for Parquet and Arrow
	layouts     map[string]string           // likewise
	classNames  []string                    // of Classes, once they are read
	planning    bool                        // every output is to be a folder of parts
	planID      string                      // of the plan that this is a part of, or empty
	pending     *object.PendingUpload       // of the object that is written and not to be published; nil: it is
}

// newConversion checks options.
func newConversion(o Options, planning bool, r *Report) (*conversion, error) {
	in, err := newInputs(o.Source, r)
	if err != nil {
		return nil, err
	}
	c := &conversion{inputs: in, View: o.View, Target: o.Target, planning: planning}
	c.Overwrite = c.Overwrite || c.IfChanged
	if c.RowsPerFile < 0 || c.FileSize < 0 {
		return nil, usagef("found --rows-per-file %d and --file-size %d, expected none below 0", c.RowsPerFile, c.FileSize)
	}
	if err := c.checkView(); err != nil {
		return nil, err
	}
	paths := make([]string, len(o.Outputs))
	for i, arg := range o.Outputs {
		if paths[i], err = parseURL(c.store, arg); err != nil {
			return nil, err
		}
	}
	if c.wanted, err = parseOutputs(paths, c.To, c.sharded()); err != nil {
		return nil, err
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
	return c, checkChoice("class-folders", c.ClassFolders)
}

// checkView checks what says which rows are taken and how they are seen.
func (c *conversion) checkView() (err error) {
	if c.View.Rows != "" {
		if c.rows, err = parseRows(c.View.Rows); err != nil {
			return err
		}
	}
	return checkChoice("channels", c.Channels)
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

// makes reports whether an output is wanted in a format of which is reports true.
func (o *conversion) makes(is func(formats.Format) bool) bool {
	return slices.ContainsFunc(o.wanted, func(a outputArg) bool { return slices.ContainsFunc(a.formats, is) })
}

// sharded reports whether outputs are to be many files.
func (o *conversion) sharded() bool { return o.RowsPerFile > 0 || o.FileSize > 0 || o.planning }

// formatFlags are the flags about formats: whether each is given, and which formats use it.
var formatFlags = []struct {
	name  string
	given func(o *conversion) bool
	used  func(o *conversion, f formats.Format) bool
}{
	{"compression", func(o *conversion) bool { return o.Compression != nil }, func(_ *conversion, f formats.Format) bool { return f.Codecs != nil || f.Wrapped }},
	{"layout", func(o *conversion) bool { return o.Layout != nil }, func(_ *conversion, f formats.Format) bool { return f.Layouts != nil }},
	{"csv-style", func(o *conversion) bool { return o.CSVStyle != "" }, func(_ *conversion, f formats.Format) bool { return f.Text() }},
	{"class-folders", func(o *conversion) bool { return o.ClassFolders != "" }, func(_ *conversion, f formats.Format) bool { return f.Folder }},
	{"class-column", func(o *conversion) bool { return o.ClassColumn }, func(_ *conversion, f formats.Format) bool { return namesClasses(f) }},
	{"metadata-csv", func(o *conversion) bool { return o.MetadataCSV }, func(_ *conversion, f formats.Format) bool { return f.Folder && f.Images }},
	{"label-column", func(o *conversion) bool { return o.LabelColumn != "" }, usesLabel},
	{"channels", func(o *conversion) bool { return o.Channels != "" }, usesChannels},
	{"rows-per-file", func(o *conversion) bool { return o.RowsPerFile > 0 }, func(_ *conversion, f formats.Format) bool { return f.Divisible }},
	{"file-size", func(o *conversion) bool { return o.FileSize > 0 }, func(_ *conversion, f formats.Format) bool { return f.Divisible }},
}

// namesClasses reports whether outputs of f have a place for a column of class names.
func namesClasses(f formats.Format) bool { return f.Layouts != nil || f.Text() }

// usesLabel reports whether outputs of f depend on which column is the label.
func usesLabel(o *conversion, f formats.Format) bool {
	if _, numbered := o.numberAt(); numbered && !f.Stored { // it makes columns
		return true
	}
	return f.Images || o.ClassColumn && namesClasses(f) || o.isHub(f)
}

// isHub reports whether outputs of f have the layout of Hugging Face's Hub.
func (o *conversion) isHub(f formats.Format) bool {
	return f.Layouts != nil && o.formatOptions(f).Layout == "huggingface"
}

// usesChannels reports whether outputs of f hold images, as files or in a layout of images.
func usesChannels(o *conversion, f formats.Format) bool {
	l, err := layout.Get(o.formatOptions(f).Layout)
	return f.Images || f.Layouts != nil && err == nil && l.Images()
}

// checkClasses refuses --classes where neither outputs hold names nor folders of images have them
// for their labels.
func (o *conversion) checkClasses() error {
	read := slices.ContainsFunc(slices.Collect(maps.Values(o.foreign)), func(t tables.Table) bool { return t.Format.Name == "png" })
	if o.Classes == "" || read || o.makes(func(f formats.Format) bool {
		return f.Folder || namesClasses(f) && o.ClassColumn || o.isHub(f)
	}) {
		return nil
	}
	return usagef("no output uses --classes").WithHint("--class-column writes the names; PNG folders and the layout huggingface hold them, too")
}

// checkUsed refuses flags that no output uses.
func (o *conversion) checkUsed() error {
	for _, flag := range formatFlags {
		if flag.given(o) && !o.makes(func(f formats.Format) bool { return flag.used(o, f) }) {
			e := usagef("no output uses --%s", flag.name)
			if flag.name == "label-column" {
				return e.WithHint("PNG folders, tar, the layout huggingface and --class-column have a place for one label; others have all columns")
			}
			return e
		}
	}
	if name, ok := o.unused(slices.Sorted(maps.Keys(o.layouts)), func(f formats.Format) bool { return f.Layouts != nil }); ok {
		return usagef("no output uses --layout%s", name)
	}
	if name, ok := o.unused(slices.Sorted(maps.Keys(o.compression)), func(f formats.Format) bool { return f.Codecs != nil }); ok {
		return usagef("no output uses --compression%s", name).
			WithHint("CSV and IDX are compressed by their names: -o data.csv.gz, or --compression csv=gzip for an output folder")
	}
	return nil
}

// unused finds a format that the value of a flag is for and that no output has, and returns it as
// the user wrote it: " csv=…". It returns nothing for a value that is for all formats of which bare
// reports true, where no output has one of them.
func (o *conversion) unused(names []string, bare func(formats.Format) bool) (text string, found bool) {
	for _, name := range names {
		if name == "" && !o.makes(bare) {
			return "", true
		}
		if name != "" && !o.makes(func(f formats.Format) bool { return f.Name == name }) {
			return " " + name + "=…", true
		}
	}
	return "", false
}
