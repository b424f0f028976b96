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
	"channels":      func(f formats.Format) bool { return f.Folder },
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
	for _, m := range []struct {
		flag string
		keys []string
	}{{"compression", keys(o.compression)}, {"layout", keys(o.layouts)}} {
		for _, name := range m.keys {
			if !slices.ContainsFunc(all, func(f formats.Format) bool {
				return f.Name == name || name == "" && (m.flag == "layout" && f.Layouts != nil || m.flag == "compression" && f.Codecs != nil)
			}) {
				return usagef("no output uses --%s%s", m.flag, map[bool]string{true: "", false: " " + name + "=…"}[name == ""]).
					hint("CSV and IDX are compressed by their names: -o data.csv.gz, or --compression csv=gzip for an output folder")
			}
		}
	}
	return nil
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
