package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/internal/sheet"
	"github.com/idxport/idxport/internal/text"
)

func runInspect(ctx context.Context, r *report) (err error) {
	r.Report, err = convert.Inspect(ctx, r.settings.Source, func(f *convert.File) error {
		found := fileReport{File: f}
		if f.Problem != nil {
			found.Problem = r.describeError(f.Problem)
		}
		r.Files = append(r.Files, found)
		if r.settings.JSON {
			return nil
		}
		return printFile(r.stdout, found)
	})
	return err
}

const (
	maxBars = 100 // different labels in a histogram; a column with more has none
	maxName = 28  // the width of the longest name of a class beside its bar
)

func printFile(out io.Writer, f fileReport) error {
	limit := 0 // lines for programs such as grep are not broken
	if terminal(out) {
		limit = min(helpColumns, columns(out))
	}
	lines := text.Printable(f.Path) + "\n" + table("  ", limit, fileRows(f))
	for _, c := range f.Columns {
		if (c.Name == "label" || f.Role == "label" && len(f.Columns) == 1) && len(c.Labels) <= maxBars {
			lines += histogram(c)
		}
	}
	_, err := io.WriteString(out, lines+"\n")
	return err
}

// fileRows returns what inspect found in a file, as rows of a table.
func fileRows(f fileReport) [][]string {
	what := f.Role
	if f.Format != "" {
		what = f.Format + " table"
	} else if f.Split != "" {
		what += " column"
	}
	if f.Split != "" {
		what += " of split " + f.Split
	}
	rows := [][]string{{"what", what}}
	add := func(name, text string) { rows = append(rows, []string{name, text}) }
	if f.Dataset != "" {
		add("data set", fmt.Sprintf("%s (by %s)", f.Dataset, f.Evidence))
	}
	if f.Shape != nil {
		add("shape", f.DType+" "+text.Shape(f.Shape))
	}
	add("size", sizeText(f.File))
	if f.Whole {
		add("complete", "yes")
	}
	switch {
	case f.Problem != nil && (f.Whole || f.Problem.Exit == exitUsage || f.Format == "" && f.Problem.Path != f.Path):
		add("problem", f.Problem.Message) // the file may be complete: a list of names beside it may be damaged
	case f.Problem != nil:
		add("complete", "no: "+f.Problem.Message)
	case !f.Whole:
		add("complete", "no: the values below are those of the complete records")
	}
	for _, c := range f.Columns {
		if c.DType != "" {
			add("shape of "+c.Name, c.DType+" "+text.Shape(c.Shape))
		}
	}
	for _, c := range f.Columns {
		add(c.Name, columnText(c))
	}
	return rows
}

// sizeText returns the sizes of a file and of its payload.
func sizeText(f *convert.File) string {
	var sizes []string
	if f.FileBytes >= 0 {
		sizes = append(sizes, text.Bytes(f.FileBytes))
		if f.Compression != "none" {
			sizes[0] += " " + f.Compression
		}
	}
	switch {
	case f.Whole:
		sizes = append(sizes, "payload "+text.Bytes(f.PayloadBytes))
	case f.PayloadBytes > 0:
		sizes = append(sizes, "expected payload "+text.Bytes(f.PayloadBytes))
	}
	return cmp.Or(strings.Join(sizes, ", "), "unknown")
}

// columnText summarises the values of a column on one line.
func columnText(c convert.Column) string {
	if c.Omitted != "" {
		return "skipped: " + c.Omitted
	}
	if c.Total == 0 {
		return "no values"
	}
	said := "no finite values"
	if c.Min != nil && c.Max != nil {
		said = fmt.Sprintf("%s … %s", numberText(*c.Min), numberText(*c.Max))
		if c.Mean != nil {
			said += ", mean " + strconv.FormatFloat(*c.Mean, 'g', 6, 64)
		}
	}
	said += fmt.Sprintf(", %.1f %% zeros", 100*float64(c.Zeros)/float64(c.Total))
	if c.NaNs > 0 {
		said += fmt.Sprintf(", %s NaN", text.Thousands(c.NaNs))
	}
	if c.Infs > 0 {
		said += fmt.Sprintf(", %s infinite", text.Thousands(c.Infs))
	}
	return said
}

// histogram draws how often each label occurs.
func histogram(c convert.Column) string {
	largest := int64(1)
	for _, l := range c.Labels {
		largest = max(largest, l.Count)
	}
	var lines strings.Builder
	w := tabwriter.NewWriter(&lines, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, l := range c.Labels {
		bar := strings.Repeat("▇", int(max(1, 24*l.Count/largest)))
		name := sheet.Shorten(text.Printable(l.Name), "…", maxName)
		if name == strconv.FormatInt(l.Label, 10) {
			name = "" // digits are named after themselves
		}
		fmt.Fprintf(w, "  %d\t%s\t%s\t %s\n", l.Label, name, text.Thousands(l.Count), bar)
	}
	_ = w.Flush() // into memory
	return lines.String()
}

// numberText formats v, without an exponent if it is an integer of up to 15 digits.
func numberText(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}
