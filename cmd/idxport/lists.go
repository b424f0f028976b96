package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/sinks"
	"github.com/idxport/idxport/internal/text"
)

func runFormats(_ context.Context, r *report) error {
	rows := [][]string{{"FORMAT", "ENDS IN", "WHAT: CODECS"}}
	for _, f := range sinks.All() {
		ends, what := strings.Join(append([]string{f.Extension}, f.Aliases...), " "), f.Title
		switch {
		case f.Compressible:
			ends += " (+ .gz .zst)"
		case f.Folder:
			ends = "(-o " + f.Name + "=DIR)"
		case f.Codecs != nil:
			what += ": " + strings.Join(f.Codecs, " ")
		}
		rows = append(rows, []string{f.Name, ends, what})
	}
	tables := [][][]string{rows}
	for _, f := range sinks.All() {
		listed := func(t [][]string) bool { return t[1][0] == f.Layouts[0].Name }
		if f.Layouts == nil || slices.ContainsFunc(tables, listed) {
			continue
		}
		alike := func(other sinks.Format) bool { return slices.Equal(other.Layouts, f.Layouts) }
		layouts := [][]string{{"LAYOUT", "OF " + sinks.List(alike)}}
		for _, l := range f.Layouts {
			layouts = append(layouts, []string{l.Name, l.Title})
		}
		tables = append(tables, layouts)
	}
	return printTables(r.stdout, tables...)
}

// printTables prints tables of at most 80 columns with empty lines between them.
func printTables(w io.Writer, tables ...[][]string) error {
	var texts []string
	for _, rows := range tables {
		texts = append(texts, table("", helpColumns, rows))
	}
	_, err := io.WriteString(w, strings.Join(texts, "\n"))
	return err
}

func runDatasets(_ context.Context, r *report) error {
	if len(r.settings.Inputs) > 0 {
		return printDataset(r.stdout, r.settings.Inputs[0])
	}
	rows := [][]string{{"DATASET", "TITLE", "IMAGE", "CLASSES", "SPLITS"}}
	for _, d := range dataset.Known() {
		classes := fmt.Sprint(len(slices.DeleteFunc(d.Classes, func(name string) bool { return name == "" })))
		rows = append(rows, []string{d.Name, d.Title, text.Shape(d.ImageShape), classes, splitsText(d)})
	}
	const note = "Data sets are recognised by their file names or labels. " +
		"--dataset NAME sets one, --dataset none turns recognition off."
	return printTables(r.stdout, rows, [][]string{{note}})
}

func printDataset(w io.Writer, name string) error {
	d, err := dataset.Lookup(name)
	if err != nil {
		return err
	}
	rows := [][]string{{"dataset", d.Name}, {"title", d.Title}, {"splits", splitsText(d)},
		{"image", text.Shape(d.ImageShape)}}
	if d.Transposed {
		rows = append(rows, []string{"stored", "transposed; idxport turns the images upright"})
	}
	if d.LabelColumns != nil {
		rows = append(rows, []string{"label columns", strings.Join(d.LabelColumns, ", ")})
	}
	rows = append(rows, []string{"license", cmp.Or(d.License, "-")}, []string{"homepage", d.Homepage})
	for label, class := range d.Classes {
		if class != "" {
			rows = append(rows, []string{fmt.Sprint("class ", label), class})
		}
	}
	return printTables(w, rows)
}

func splitsText(d dataset.Info) string {
	var parts []string
	for _, s := range d.Splits {
		parts = append(parts, fmt.Sprintf("%s=%d", s.Name, s.Records))
	}
	return strings.Join(parts, ", ")
}
