package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
)

// maxBars is how many different labels are shown; a column with more is summed up like any other.
const maxBars = 100

// printFile shows what inspect found in a file.
func (p *program) printFile(f *fileReport) error {
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, oneLine(f.Path))
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
	fmt.Fprintf(w, "  what\t%s\n", what)
	if f.Shape != nil {
		fmt.Fprintf(w, "  shape\t%s %s\n", f.DType, shapeText(f.Shape))
	}
	fmt.Fprintf(w, "  size\t%s\n", f.sizeText())
	if f.Problem != nil {
		fmt.Fprintf(w, "  whole\tno: %s\n", f.Problem.Message)
	} else if f.Whole {
		fmt.Fprintln(w, "  whole\tyes")
	} else {
		fmt.Fprintln(w, "  whole\tno: the records that are there were salvaged")
	}
	for _, c := range f.Columns {
		if c.DType != "" {
			fmt.Fprintf(w, "  shape of %s\t%s %s\n", c.Name, c.DType, shapeText(c.Shape))
		}
	}
	for _, c := range f.Columns {
		fmt.Fprintf(w, "  %s\t%s\n", c.Name, c.text())
	}
	if len(f.PairsWith) > 0 {
		fmt.Fprintf(w, "  pairs with\t%s\n", oneLine(strings.Join(f.PairsWith, ", ")))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, c := range f.Columns {
		if c.Name != "label" && f.Role != "label" || len(c.Labels) > maxBars || len(f.Columns) > 1 && c.Name != "label" {
			continue
		}
		if err := p.printLabels(c); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(p.stdout)
	return err
}

// sizeText is the size of a file and of its payload.
func (f *fileReport) sizeText() string {
	payload := "payload " + bytesText(f.PayloadBytes)
	switch {
	case f.Format != "" && f.FileBytes < 0:
		return payload
	case f.Format != "":
		return fmt.Sprintf("%s, %s", bytesText(f.FileBytes), payload)
	case f.Shape == nil && f.FileBytes < 0:
		return "unknown"
	case f.Shape == nil:
		return bytesText(f.FileBytes)
	case f.FileBytes < 0:
		return payload
	case f.Compression == "none":
		return fmt.Sprintf("%s, %s", bytesText(f.FileBytes), payload)
	}
	compression := f.Compression
	if f.Seekable {
		compression = "seekable " + compression
	}
	return fmt.Sprintf("%s %s, %s", bytesText(f.FileBytes), compression, payload)
}

// text sums up the values of a column on one line.
func (c columnReport) text() string {
	if c.omitted != "" {
		return "passed over: " + c.omitted
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
		text += fmt.Sprintf(", %s NaN", thousands(c.NaNs))
	}
	if c.Infs > 0 {
		text += fmt.Sprintf(", %s infinite", thousands(c.Infs))
	}
	return text
}

// printLabels draws a histogram of labels.
func (p *program) printLabels(c columnReport) error {
	most := int64(1)
	for _, l := range c.Labels {
		most = max(most, l.Count)
	}
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, l := range c.Labels {
		bar := strings.Repeat("▇", int(max(1, 24*l.Count/most)))
		name := oneLine(l.Name) // it may come from a file
		if name == strconv.FormatInt(l.Label, 10) {
			name = "" // digits are called what they are
		}
		fmt.Fprintf(w, "  %d\t%s\t%s\t %s\n", l.Label, name, thousands(l.Count), bar)
	}
	return w.Flush()
}

// numberText is v without an exponent where it is an integer that people can read.
func numberText(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// finite is v, or nil if JSON has no way to write it.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
