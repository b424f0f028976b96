package convert

import (
	"maps"
	"slices"

	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/sink/layout"
	tables "github.com/idxport/idxport/source/formats"
)

// flagUsers tell for each flag about formats which formats use it.
var flagUsers = map[string]func(o *conversion, f formats.Format) bool{
	"compression":   func(_ *conversion, f formats.Format) bool { return f.Codecs != nil || f.Wrapped },
	"layout":        func(_ *conversion, f formats.Format) bool { return f.Layouts != nil },
	"csv-style":     func(_ *conversion, f formats.Format) bool { return f.Text() },
	"class-folders": func(_ *conversion, f formats.Format) bool { return f.Folder },
	"class-column":  func(_ *conversion, f formats.Format) bool { return namesClasses(f) },
	"metadata-csv":  func(_ *conversion, f formats.Format) bool { return f.Folder && f.Images },
	"label-column":  usesLabel,
	"channels":      usesChannels,
	"rows-per-file": func(_ *conversion, f formats.Format) bool { return f.Divisible },
	"file-size":     func(_ *conversion, f formats.Format) bool { return f.Divisible },
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

// given are the flags about formats that were given.
func (o *conversion) given() (flags []string) {
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"compression", o.Compression != nil}, {"layout", o.Layout != nil}, {"csv-style", o.CSVStyle != ""}, {"class-folders", o.ClassFolders != ""},
		{"class-column", o.ClassColumn}, {"metadata-csv", o.MetadataCSV}, {"label-column", o.LabelColumn != ""}, {"channels", o.Channels != ""},
		{"rows-per-file", o.RowsPerFile > 0}, {"file-size", o.FileSize > 0},
	} {
		if f.given {
			flags = append(flags, f.name)
		}
	}
	return flags
}

// checkUsed refuses flags that no output uses.
func checkUsed(o *conversion) error {
	var all []formats.Format
	for _, arg := range o.outputs {
		all = append(all, arg.formats...)
	}
	for _, flag := range o.given() {
		if !slices.ContainsFunc(all, func(f formats.Format) bool { return flagUsers[flag](o, f) }) {
			e := usagef("no output uses --%s", flag)
			if flag == "label-column" {
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
