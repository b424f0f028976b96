package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/sheet"
)

const inspectUsage = `idxport inspect INPUT... [flags]

INPUT is as in convert, but inputs need not form one table. Inspect reads every file to its end and
prints its shape, type and sizes, whether it is complete, the range of its values, its labels with
their class names, and the files it is paired with. The exit code is 65 if a file is damaged, or if
the columns of a table have different numbers of records, unless --salvage is given.`

// inspectCommand is `idxport inspect`.
var inspectCommand = command{
	name:   "inspect",
	usage:  "show what files contain, and whether they are complete",
	text:   inspectUsage,
	inputs: true,
	run: func(ctx context.Context, r *report) (err error) {
		r.Report, err = convert.Inspect(ctx, r.settings.Source, func(f *convert.File) error {
			found := fileReport{File: f}
			if f.Problem != nil {
				found.Problem = describeError(f.Problem)
			}
			r.Files = append(r.Files, found)
			if r.settings.JSON {
				return nil
			}
			return printFile(r.program.stdout, found)
		})
		return err
	},
}

// maxBars limits the different labels that are shown; a column with more has no histogram.
const maxBars = 100

// maxName is the width of the longest name of a class beside its bar.
const maxName = 28

// printFile prints what inspect found in a file.
func printFile(out io.Writer, f fileReport) error {
	limit := 0 // lines for programs such as grep are not broken
	if terminal(out) {
		limit = min(helpColumns, columns(out))
	}
	err := errors.Join(show(out, "%s\n", f.Path), table(out, "  ", limit, fileRows(f)))
	for _, c := range f.Columns {
		named := c.Name == "label" || f.Role == "label" && len(f.Columns) == 1
		if named && len(c.Labels) <= maxBars {
			err = errors.Join(err, printLabels(out, c))
		}
	}
	return errors.Join(err, show(out, "\n"))
}

// fileRows returns what inspect found in a file, as rows of a table.
func fileRows(f fileReport) [][]string {
	what := f.Role
	switch {
	case f.Split != "" && f.Format != "":
		what = fmt.Sprintf("%s table of split %s", f.Format, f.Split)
	case f.Format != "":
		what = f.Format + " table"
	case f.Split != "":
		what += " column of split " + f.Split
	}
	if f.Dataset != "" {
		what += fmt.Sprintf(", %s (by %s)", f.Dataset, f.Evidence)
	}
	rows := [][]string{{"what", what}}
	add := func(name, text string) { rows = append(rows, []string{name, text}) }
	if f.Shape != nil {
		add("shape", f.DType+" "+display.Shape(f.Shape))
	}
	add("size", sizeText(f.File))
	switch {
	case f.Whole && f.Problem != nil:
		add("complete", "yes")
		add("problem", f.Problem.Message)
	case f.Whole:
		add("complete", "yes")
	case f.Problem != nil && f.Problem.Code == codeNames[exitUsage]: // the file may be complete
		add("problem", f.Problem.Message)
	case f.Problem != nil:
		add("complete", "no: "+f.Problem.Message)
	default:
		add("complete", "no: the values below are those of the complete records")
	}
	for _, c := range f.Columns {
		if c.DType != "" {
			add("shape of "+c.Name, c.DType+" "+display.Shape(c.Shape))
		}
	}
	for _, c := range f.Columns {
		add(c.Name, columnText(c))
	}
	if len(f.PairsWith) > 0 {
		add("pairs with", strings.Join(f.PairsWith, ", "))
	}
	return rows
}

// sizeText returns the sizes of a file and of its payload.
func sizeText(f *convert.File) string {
	payload := "payload " + display.Bytes(f.PayloadBytes)
	switch {
	case f.Whole:
	case f.PayloadBytes == 0 && f.FileBytes >= 0:
		return display.Bytes(f.FileBytes)
	default:
		payload = "expected " + payload
	}
	switch {
	case f.Format != "" && f.FileBytes < 0:
		return payload
	case f.Format != "":
		return fmt.Sprintf("%s, %s", display.Bytes(f.FileBytes), payload)
	case f.Shape == nil && f.FileBytes < 0:
		return "unknown"
	case f.Shape == nil:
		return display.Bytes(f.FileBytes)
	case f.FileBytes < 0:
		return payload
	case f.Compression == "none":
		return fmt.Sprintf("%s, %s", display.Bytes(f.FileBytes), payload)
	}
	return fmt.Sprintf("%s %s, %s", display.Bytes(f.FileBytes), f.Compression, payload)
}

// columnText summarises the values of a column on one line.
func columnText(c convert.Column) string {
	if c.Omitted != "" {
		return "skipped: " + c.Omitted
	}
	if c.Total == 0 {
		return "no values"
	}
	text := "no finite values"
	if c.Min != nil && c.Max != nil {
		text = fmt.Sprintf("%s … %s", numberText(*c.Min), numberText(*c.Max))
		if c.Mean != nil {
			text += ", mean " + strconv.FormatFloat(*c.Mean, 'g', 6, 64)
		}
	}
	text += fmt.Sprintf(", %.1f %% zeros", 100*float64(c.Zeros)/float64(c.Total))
	if c.NaNs > 0 {
		text += fmt.Sprintf(", %s NaN", display.Thousands(c.NaNs))
	}
	if c.Infs > 0 {
		text += fmt.Sprintf(", %s infinite", display.Thousands(c.Infs))
	}
	return text
}

// printLabels draws a histogram of labels.
func printLabels(out io.Writer, c convert.Column) error {
	largest := int64(1)
	for _, l := range c.Labels {
		largest = max(largest, l.Count)
	}
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, l := range c.Labels {
		bar := strings.Repeat("▇", int(max(1, 24*l.Count/largest)))
		name := sheet.Shorten(display.Printable(l.Name), maxName)
		if name == strconv.FormatInt(l.Label, 10) {
			name = "" // digits are named after themselves
		}
		fmt.Fprintf(w, "  %d\t%s\t%s\t %s\n", l.Label, name, display.Thousands(l.Count), bar)
	}
	_ = w.Flush() // into memory
	_, err := io.WriteString(out, forLocale(text.String()))
	return err
}

// numberText formats v, without an exponent if it is an integer of up to 15 digits.
func numberText(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}
