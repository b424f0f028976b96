package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"text/tabwriter"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/sink/layout"
	"github.com/idxport/idxport/source/dataset"
)

// formatsCommand is `idxport formats`.
var formatsCommand = command{
	name:  "formats",
	usage: "list output formats, layouts and CSV styles",
	text:  "idxport formats",
	run:   func(_ context.Context, r *report) error { return printFormats(r.program.stdout) },
}

func printFormats(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FORMAT\tENDS IN\tCOMPRESSION\tLAYOUTS\tWHAT")
	for _, f := range formats.All() {
		ends := strings.Join(append([]string{f.Extension}, f.Aliases...), " ")
		codecs := strings.Join(f.Codecs, " ")
		if f.Compressible {
			ends, codecs = ends+" (+ .gz .zst)", "by name"
		}
		if f.Folder {
			ends = "(-o " + f.Name + "=DIR)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", f.Name, ends, dash(codecs), dash(strings.Join(f.Layouts, " ")), f.Title)
	}
	fmt.Fprintln(w, "\nLAYOUT\tA TENSOR BECOMES\tFOR")
	for _, name := range layout.Names() {
		l, err := layout.Get(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", l.Name, l.Title, l.Readers)
	}
	fmt.Fprintln(w, "\nCSV STYLE\tLINES")
	for _, s := range csv.Styles() {
		fmt.Fprintf(w, "%s\t%s\n", s.Name, s.Description)
	}
	return w.Flush()
}

// datasetsCommand is `idxport datasets`.
var datasetsCommand = command{
	name:      "datasets",
	usage:     "list the known data sets, or the class names of one",
	text:      "idxport datasets [NAME]",
	arguments: 1,
	run: func(_ context.Context, r *report) error {
		if len(r.settings.Inputs) == 0 {
			return printDatasets(r.program.stdout)
		}
		return printDataset(r.program.stdout, r.settings.Inputs[0])
	},
}

func printDatasets(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "DATASET\tSPLITS\tIMAGE\tCLASSES\tTITLE")
	for _, d := range dataset.Known() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", d.Name, splitsText(d), display.Shape(d.ImageShape), len(d.Classes)-d.FirstLabel, d.Title)
	}
	fmt.Fprintln(w, "\nData sets are recognised by their file names or by the SHA-256 of the labels. --dataset NAME sets one, --dataset none turns recognition off.")
	return w.Flush()
}

func printDataset(out io.Writer, name string) error {
	if name == dataset.DatasetNone {
		return usagef("none is a value of --dataset, not a data set")
	}
	d, err := dataset.Lookup(name)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "dataset\t%s\ntitle\t%s\nsplits\t%s\nimage\t%s\n", d.Name, d.Title, splitsText(d), display.Shape(d.ImageShape))
	if d.Transposed {
		fmt.Fprintln(w, "stored\ttransposed; idxport turns the images upright")
	}
	if d.LabelColumns != nil {
		fmt.Fprintf(w, "label columns\t%s\n", strings.Join(d.LabelColumns, ", "))
	}
	fmt.Fprintf(w, "license\t%s\nhomepage\t%s\n", dash(d.License), d.Homepage)
	for label, class := range d.Classes {
		if class != "" {
			fmt.Fprintf(w, "class %d\t%s\n", label, class)
		}
	}
	return w.Flush()
}

func splitsText(d dataset.Info) string {
	var parts []string
	for _, s := range d.Splits {
		parts = append(parts, fmt.Sprintf("%s %d", s.Name, s.Records))
	}
	return strings.Join(parts, ", ")
}

// buildCommit returns the commit of the build, such as " (commit 0123456789ab)", with "+changes" if
// files differed from it. It is empty if the program was built outside a checkout.
func buildCommit() string {
	info, _ := debug.ReadBuildInfo() // nil: built without modules
	settings := map[string]string{}
	if info != nil {
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
	}
	revision := settings["vcs.revision"]
	if len(revision) < 12 {
		return ""
	}
	if settings["vcs.modified"] == "true" {
		return fmt.Sprintf(" (commit %s+changes)", revision[:12])
	}
	return fmt.Sprintf(" (commit %s)", revision[:12])
}

// versionCommand is `idxport version`.
var versionCommand = command{
	name:  "version",
	usage: "print the version and the commit of the build",
	text:  "idxport version",
	run: func(_ context.Context, r *report) error {
		_, err := fmt.Fprintf(r.program.stdout, "idxport %s %s/%s %s%s\n",
			convert.Version, runtime.GOOS, runtime.GOARCH, runtime.Version(), buildCommit())
		return err
	},
}

// dash returns s, or a dash if it is empty.
func dash(s string) string { return cmp.Or(s, "-") }
