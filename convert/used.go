package convert

import (
	"maps"
	"slices"

	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/sink/layout"
	tables "github.com/idxport/idxport/source/formats"
)

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

// namesClasses tells whether outputs of f have a place for a column of class names.
func namesClasses(f formats.Format) bool { return f.Layouts != nil || f.Text() }

// usesLabel tells whether outputs of f depend on which column is the label.
func usesLabel(o *conversion, f formats.Format) bool {
	if _, numbered := o.numberAt(); numbered && !f.Stored { // it makes columns
		return true
	}
	return f.Images || o.ClassColumn && namesClasses(f) || f.Layouts != nil && o.formatOptions(f).Layout == "huggingface"
}

// usesChannels tells whether outputs of f hold images, as files or in a layout of images.
func usesChannels(o *conversion, f formats.Format) bool {
	l, err := layout.Get(o.formatOptions(f).Layout)
	return f.Images || f.Layouts != nil && err == nil && l.Images()
}

// checkClasses refuses --classes where neither outputs hold names nor folders of images have them for
// their labels.
func (o *conversion) checkClasses() error {
	read := slices.ContainsFunc(slices.Collect(maps.Values(o.others)), func(t tables.Table) bool { return t.Format.Name == "png" })
	if o.Classes == "" || read || slices.ContainsFunc(o.outputs, func(a outputArg) bool {
		return slices.ContainsFunc(a.formats, func(f formats.Format) bool {
			return f.Folder || namesClasses(f) && o.ClassColumn || f.Layouts != nil && o.formatOptions(f).Layout == "huggingface"
		})
	}) {
		return nil
	}
	return usagef("no output uses --classes").WithHint("--class-column writes the names; PNG folders and the layout huggingface hold them, too")
}

// checkUsed refuses flags that no output uses.
func checkUsed(o *conversion) error {
	var all []formats.Format
	for _, arg := range o.outputs {
		all = append(all, arg.formats...)
	}
	for _, flag := range formatFlags {
		if flag.given(o) && !slices.ContainsFunc(all, func(f formats.Format) bool { return flag.used(o, f) }) {
			e := usagef("no output uses --%s", flag.name)
			if flag.name == "label-column" {
				return e.WithHint("PNG folders, tar, the layout huggingface and --class-column have a place for one label; others have all columns")
			}
			return e
		}
	}
	if name, ok := unused(slices.Sorted(maps.Keys(o.layouts)), all, func(f formats.Format) bool { return f.Layouts != nil }); ok {
		return usagef("no output uses --layout%s", name)
	}
	if name, ok := unused(slices.Sorted(maps.Keys(o.compression)), all, func(f formats.Format) bool { return f.Codecs != nil }); ok {
		return usagef("no output uses --compression%s", name).
			WithHint("CSV and IDX are compressed by their names: -o data.csv.gz, or --compression csv=gzip for an output folder")
	}
	return nil
}

// unused finds a format that a flag's value is for, but that is not among all, and returns it as the user wrote it: " csv=…", or nothing where the
// value is for all formats that bare tells, and there is none.
func unused(names []string, all []formats.Format, bare func(formats.Format) bool) (text string, found bool) {
	for _, name := range names {
		if name == "" && !slices.ContainsFunc(all, bare) {
			return "", true
		}
		if name != "" && !slices.ContainsFunc(all, func(f formats.Format) bool { return f.Name == name }) {
			return " " + name + "=…", true
		}
	}
	return "", false
}
