package main

import (
	"slices"
	"strings"

	"github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/sink/formats"
)

// checkStyle demands a known CSV style.
func checkStyle(name string) error {
	var names []string
	for _, s := range csv.Styles() {
		names = append(names, s.Name)
	}
	if name == "" || slices.Contains(names, name) {
		return nil
	}
	return usagef("unknown CSV style %q, expected one of %s", name, strings.Join(names, ", "))
}

// flagUsers tell for each flag about formats which formats use it.
var flagUsers = map[string]func(f formats.Format) bool{
	"compression":   func(f formats.Format) bool { return f.Codecs != nil || f.Wrapped },
	"layout":        func(f formats.Format) bool { return f.Layouts != nil },
	"csv-style":     func(f formats.Format) bool { return f.Name == "csv" || f.Name == "tsv" },
	"class-folders": func(f formats.Format) bool { return f.Folder },
	"channels":      func(f formats.Format) bool { return f.Images },
}

// checkUsed refuses flags that no output uses.
func checkUsed(o *convertOptions) error {
	var all []formats.Format
	for _, arg := range o.outputs {
		all = append(all, arg.formats...)
	}
	for _, flag := range o.given {
		if !slices.ContainsFunc(all, flagUsers[flag]) {
			return usagef("no output uses --%s", flag)
		}
	}
	if name, ok := unused(keys(o.layouts), all, func(f formats.Format) bool { return f.Layouts != nil }); ok {
		return usagef("no output uses --layout%s", name)
	}
	if name, ok := unused(keys(o.compression), all, func(f formats.Format) bool { return f.Codecs != nil }); ok {
		return usagef("no output uses --compression%s", name).
			hint("CSV and IDX are compressed by their names: -o data.csv.gz, or --compression csv=gzip for an output folder")
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

// keys lists the keys of m in order.
func keys[V any](m map[string]V) []string {
	list := make([]string, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}
