package card

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/layout"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
)

// A Card describes a data set.
type Card struct {
	Name     string           // of the data set, as people read it
	Homepage string           // URL, or empty
	License  string           // the publisher's words, or empty
	Sources  []string         // names of files
	Features []layout.Feature // of the columns of all splits: see Merge
	Splits   []Split
	Version  string // of the program
}

// A Split is a part of the data set, in the files data/<name>-*.
type Split struct {
	Name  string
	Rows  int64
	Files int
	Bytes int64
}

// Text returns the contents of README.md.
func (c Card) Text() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "---\npretty_name: %s\n", quoted(c.Name))
	has := func(kind string) bool {
		return slices.ContainsFunc(c.Features, func(f layout.Feature) bool { return f.Type == kind })
	}
	if has("Image") && has("ClassLabel") {
		b.WriteString("task_categories:\n- image-classification\n")
	}
	if c.License != "" { // as the Hub abbreviates it
		short := strings.ToLower(strings.ReplaceAll(c.License, " ", "-"))
		fmt.Fprintf(&b, "license: %s\n", quoted(strings.TrimSuffix(short, "-style")))
	}
	var rows, size int64
	for _, s := range c.Splits {
		rows, size = rows+s.Rows, size+s.Bytes
	}
	fmt.Fprintf(&b, "size_categories:\n- %s\n", sizeCategory(rows))
	b.WriteString("dataset_info:\n  features:\n")
	for _, f := range c.Features {
		writeFeature(&b, f)
	}
	b.WriteString("  splits:\n")
	for _, s := range c.Splits {
		fmt.Fprintf(&b, "  - name: %s\n    num_bytes: %d\n    num_examples: %d\n", quoted(s.Name), s.Bytes, s.Rows)
	}
	fmt.Fprintf(&b, "  download_size: %d\n  dataset_size: %[1]d\n", size)
	b.WriteString("configs:\n- config_name: default\n  data_files:\n")
	for _, s := range c.Splits {
		fmt.Fprintf(&b, "  - split: %s\n    path: %s\n", quoted(s.Name), quoted("data/"+s.Name+"-*"))
	}
	fmt.Fprintf(&b, "---\n\n# %s\n\n| split | rows | files | bytes |\n|---|--:|--:|--:|\n", oneLine(c.Name))
	for _, s := range c.Splits {
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", s.Name, s.Rows, s.Files, s.Bytes)
	}
	for _, line := range []struct{ what, value string }{{"Homepage", c.Homepage}, {"License", c.License}} {
		if line.value != "" {
			fmt.Fprintf(&b, "\n%s: %s\n", line.what, line.value)
		}
	}
	fmt.Fprintf(&b, "\nMade by idxport %s of %s.\n\n", c.Version, oneLine(strings.Join(c.Sources, ", ")))
	return b.Bytes()
}

// Merge appends to all, the features so far, those of s, the schema of another split. A column may
// be missing in some splits: the card declares it for all of them, so readers fill it with nulls
// there. Merge fails if a column has another type in s.
func Merge(all []layout.Feature, s *schema.Schema) ([]layout.Feature, error) {
	for _, f := range layout.Features(s) {
		i := slices.IndexFunc(all, func(other layout.Feature) bool { return other.Column == f.Column })
		if i < 0 {
			all = append(all, f)
			continue
		}
		if other := all[i]; other.DType != f.DType || !slices.Equal(other.Names, f.Names) { // they tell the Type
			return nil, fmt.Errorf("column %q differs between splits: found %s and %s", f.Column, kind(other), kind(f))
		}
	}
	return all, nil
}

// kind describes f, for errors.
func kind(f layout.Feature) string {
	switch f.Type {
	case "Value":
		return f.DType
	case "ClassLabel":
		return fmt.Sprintf("a label with %d classes", len(f.Names))
	}
	return "an image"
}

// writeFeature writes the feature f as the datasets library does.
func writeFeature(b *bytes.Buffer, f layout.Feature) {
	fmt.Fprintf(b, "  - name: %s\n", quoted(f.Column))
	switch f.Type {
	case "Image":
		b.WriteString("    dtype: image\n")
	case "ClassLabel":
		b.WriteString("    dtype:\n      class_label:\n        names:\n")
		for label, name := range f.Names {
			fmt.Fprintf(b, "          '%d': %s\n", label, quoted(name))
		}
	default:
		fmt.Fprintf(b, "    dtype: %s\n", f.DType)
	}
}

// sizeCategory returns the Hub's category for a number of rows.
func sizeCategory(rows int64) string {
	names := strings.Fields("n<1K 1K<n<10K 10K<n<100K 100K<n<1M 1M<n<10M 10M<n<100M 100M<n<1B n>1B")
	return names[min(max(len(fmt.Sprint(rows))-3, 0), len(names)-1)] // by the number of digits
}

// quoted returns s as a YAML scalar: a JSON string in which all control characters are escaped.
func quoted(s string) string {
	scalar, _ := json.Marshal(s) // strings cannot fail
	return text.Escaped(string(scalar))
}

// oneLine replaces what would end a line or a table cell, or begin a comment.
func oneLine(s string) string {
	return strings.NewReplacer("\n", " ", "\r", " ", "|", " ", "<!--", " ").Replace(s)
}
