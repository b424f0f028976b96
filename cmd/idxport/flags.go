package main

import (
	_ "embed"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/sink/formats"
)

// settings holds the values of the flags of all commands.
type settings struct {
	convert.Options
	images, scale int64
	quiet, json   bool
}

// Headings of flags in the help text, in the order in which they are shown.
const (
	headingOutput = "Output"
	headingInput  = "Input"
	headingRows   = "Rows and columns"
	headingFormat = "Formats"
	headingRun    = "Run"
)

// Sets of commands.
const (
	inputCommands  = "convert verify inspect preview" // read inputs and report what they do
	viewCommands   = "convert verify preview"         // have a convert.View
	workerCommands = "convert verify inspect"         // have --workers
)

// A flagSpec is a row of the table of all flags, from which parsing, checks, help, completion and
// docs/cli.md are made.
type flagSpec struct {
	name        string // and its short form, after a space
	placeholder string // for its value, in the help; empty for a switch
	commands    string // the commands that have the flag
	often       bool   // shown by `convert --help`
	preset      string // value without the flag
	choices     []string
	bounds      [2]int64 // least and greatest number; a greatest of 0 means no limit
	// to is where the value goes: a *string, *[]string, *bool, **bool, *int or *int64.
	to any
	// parse is set instead of the field to, if the value has a syntax of its own.
	parse func(text string) error

	heading  string // of its section of the help
	flagText        // from flags.txt
}

// A flagText is what the help says about a flag.
type flagText struct {
	usage  string // what it does, in up to 52 characters: a line of help has 80
	detail string // more about it, shown by --help-all
}

// flagTexts holds the text of each flag: a line with its name and its usage, and its detail in
// lines that begin with a space. Of a flag whose text differs for a command, the name follows the
// command's. Lists of formats are filled in for words in double braces.
//
//go:embed flags.txt
var flagTexts string

// texts returns flagTexts by name.
var texts = sync.OnceValue(func() map[string]flagText {
	filled := strings.NewReplacer("{{formats}}", strings.Join(formats.Names(), ", "),
		"{{splittable}}", formats.List(func(f formats.Format) bool { return f.Splittable }),
		"{{class column}}", formats.List(func(f formats.Format) bool { return f.ClassColumn })).Replace(flagTexts)
	found := map[string]flagText{}
	for block := range strings.SplitSeq(filled, "\n\n") {
		head, detail, _ := strings.Cut(block, "\n")
		name, usage, _ := strings.Cut(head, ": ")
		found[name] = flagText{usage, strings.Join(strings.Fields(detail), " ")}
	}
	return found
})

// flags returns the table of all flags, whose values go to s. Those of one command are shown in
// this order.
func (s *settings) flags() []flagSpec {
	var all []flagSpec
	for _, section := range []struct {
		heading string
		flags   []flagSpec
	}{
		{headingOutput, s.outputFlags()}, {headingInput, s.inputFlags()}, {headingRows, s.rowFlags()},
		{headingFormat, s.formatFlags()}, {headingRun, s.runFlags()},
	} {
		for _, f := range section.flags {
			f.heading = section.heading
			f.flagText = texts()[f.textName()]
			all = append(all, f)
		}
	}
	return all
}

// textName returns the name of the flag in flags.txt.
func (f flagSpec) textName() string {
	if f.commands == "preview" {
		return "preview " + f.long()
	}
	return f.long()
}

// outputFlags returns the flags that choose what is written, and where.
func (s *settings) outputFlags() []flagSpec {
	return []flagSpec{
		{name: "output o", placeholder: "OUT", commands: "convert", often: true, to: &s.Outputs},
		{name: "output o", placeholder: "SHEET", commands: "preview", to: &s.Outputs},
		{name: "to", placeholder: "FORMATS", commands: "convert", often: true, parse: commaList(&s.To)},
		{name: "overwrite", commands: "preview", to: &s.Overwrite},
		{name: "overwrite", commands: "convert", often: true, to: &s.Overwrite},
		{name: "rows-per-file", placeholder: "N", commands: "convert", often: true,
			bounds: [2]int64{1, 0}, to: &s.RowsPerFile},
		{name: "if-changed", commands: "convert", often: true, to: &s.IfChanged},
		{name: "verify", commands: "convert", often: true, to: &s.Verify},
		{name: "checksum", commands: "convert", to: &s.Checksum},
		{name: "images", placeholder: "N", commands: "preview", bounds: [2]int64{1, maxImages}, to: &s.images},
		{name: "scale", placeholder: "N", commands: "preview", bounds: [2]int64{0, maxScale}, to: &s.scale},
	}
}

// inputFlags returns the flags that choose what is read, and how.
func (s *settings) inputFlags() []flagSpec {
	return []flagSpec{
		{name: "split", placeholder: "NAME", commands: inputCommands, often: true, to: &s.Split},
		{name: "dataset", placeholder: "NAME", commands: inputCommands, often: true, to: &s.Dataset},
		{name: "classes", placeholder: "FILE", commands: inputCommands, to: &s.Classes},
		{name: "transpose", commands: viewCommands, to: &s.Transpose},
		{name: "invert", commands: viewCommands, to: &s.Invert},
		{name: "reshape", placeholder: "DIMS", commands: inputCommands, parse: dimensions("reshape", &s.Reshape)},
		{name: "shape", placeholder: "SHAPE", commands: inputCommands, parse: dimensions("shape", &s.Shape)},
		{name: "dtype", placeholder: "TYPE", commands: inputCommands, choices: convert.Choices("dtype"), to: &s.DType},
		{name: "grey", commands: inputCommands, to: &s.Grey},
		{name: "resize", placeholder: "WxH", commands: inputCommands, parse: s.parseResize},
		{name: "header", placeholder: "YES-OR-NO", commands: inputCommands, choices: []string{"yes", "no"},
			parse: func(text string) error { yes := text == "yes"; s.Header = &yes; return nil }},
		{name: "byte-order", placeholder: "ORDER", commands: inputCommands, preset: "big",
			choices: convert.Choices("byte-order"), to: &s.ByteOrder},
		{name: "salvage", commands: inputCommands, to: &s.Salvage},
		{name: "max-record-bytes", placeholder: "N", commands: inputCommands,
			preset: strconv.Itoa(convert.DefaultMaxRecordBytes), bounds: [2]int64{1, convert.MaxRecordBytesLimit},
			to: &s.MaxRecordBytes},
	}
}

// rowFlags returns the flags that choose columns and rows.
func (s *settings) rowFlags() []flagSpec {
	return []flagSpec{
		{name: "columns", placeholder: "NAMES", commands: "convert verify", parse: commaList(&s.Columns)},
		{name: "rows", placeholder: "A:B", commands: viewCommands, often: true,
			parse: func(text string) error { s.Rows = text; return convert.CheckRows(text) }},
		{name: "where", placeholder: "COND", commands: viewCommands, often: true, to: &s.Where},
		{name: "holdout", placeholder: "NAME=N", commands: viewCommands, to: &s.Holdout},
		{name: "stratify", commands: viewCommands, to: &s.Stratify},
		{name: "shuffle", commands: viewCommands, to: &s.Shuffle},
		{name: "seed", placeholder: "N", commands: viewCommands, preset: "0",
			bounds: [2]int64{0, math.MaxInt64}, to: &s.Seed},
		{name: "take", placeholder: "N", commands: viewCommands, bounds: [2]int64{1, 0}, to: &s.Take},
		{name: "part", placeholder: "I/N", commands: "convert verify",
			parse: func(text string) error { s.Part = text; return convert.CheckPart(text) }},
	}
}

// formatFlags returns the flags that choose how formats are written.
func (s *settings) formatFlags() []flagSpec {
	return []flagSpec{
		{name: "layout", placeholder: "NAME", commands: "convert", often: true, to: &s.Layout},
		{name: "compression", placeholder: "CODEC", commands: "convert", often: true, to: &s.Compression},
		{name: "csv-style", placeholder: "STYLE", commands: "convert", often: true, to: &s.CSVStyle},
		{name: "class-column", commands: "convert", to: &s.ClassColumn},
		{name: "label-column", placeholder: "NAME", commands: viewCommands, to: &s.LabelColumn},
		{name: "class-folders", placeholder: "WHAT", commands: "convert",
			choices: convert.Choices("class-folders"), to: &s.ClassFolders},
		{name: "metadata-csv", commands: "convert", to: &s.MetadataCSV},
		{name: "channels", placeholder: "WHERE", commands: "convert preview",
			choices: convert.Choices("channels"), to: &s.Channels},
	}
}

// runFlags returns the flags that control how a command runs and reports.
func (s *settings) runFlags() []flagSpec {
	return []flagSpec{
		{name: "quiet q", commands: inputCommands, often: true, to: &s.quiet},
		{name: "json", commands: inputCommands, often: true, to: &s.json},
		{name: "workers", placeholder: "N", commands: workerCommands, preset: "0",
			bounds: [2]int64{0, convert.MaxWorkers}, to: &s.Workers},
	}
}

// flagsOf returns the flags of a command.
func flagsOf(command string) []flagSpec { return new(settings).flagsOf(command) }

// flagsOf returns the flags of a command, whose values go to s.
func (s *settings) flagsOf(command string) []flagSpec {
	return slices.DeleteFunc(s.flags(), func(f flagSpec) bool {
		return !slices.Contains(strings.Fields(f.commands), command)
	})
}

// long returns the name of the flag without its short form.
func (f flagSpec) long() string { return strings.Fields(f.name)[0] }

// spellings returns the names of the flag with their dashes, the long one first.
func (f flagSpec) spellings() []string {
	names := strings.Fields("--" + f.name)
	for i := range names[1:] {
		names[i+1] = "-" + names[i+1]
	}
	return names
}

// set stores the value of the flag.
func (f flagSpec) set(value string) (err error) {
	name := f.long()
	switch {
	case value == "":
		return usagef("--%s is empty", name).WithHint("perhaps a shell variable is not set")
	case f.choices != nil:
		if err := convert.CheckChoice(name, value, f.choices); err != nil {
			return err
		}
	}
	if f.parse != nil {
		return f.parse(value)
	}
	switch to := f.to.(type) {
	case *string:
		*to = value
	case *[]string:
		*to = append(*to, value)
	case *bool:
		*to, err = f.truth(value)
	case **bool:
		*to = new(bool)
		**to, err = f.truth(value)
	case *int:
		var n int64
		n, err = f.number(value)
		*to = int(n)
	case *int64:
		*to, err = f.number(value)
	}
	return err
}

// truth returns the value of a switch.
func (f flagSpec) truth(value string) (bool, error) {
	on, err := strconv.ParseBool(value)
	if err != nil {
		return false, usagef("--%s %q, expected true or false", f.long(), value)
	}
	return on, nil
}

// number returns the value of a flag for numbers.
func (f flagSpec) number(value string) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, usagef("--%s %q, expected a smaller number", f.long(), value)
	case err != nil:
		return 0, usagef("--%s %q, expected a whole number", f.long(), value)
	}
	return n, f.checkRange(n)
}

// checkRange returns an error if n is outside the bounds.
func (f flagSpec) checkRange(n int64) error {
	switch first, last := f.bounds[0], f.bounds[1]; {
	case last == 0 && n < first:
		return usagef("--%s %d, expected at least %d", f.long(), n, first)
	case last > 0 && (n < first || n > last):
		return usagef("--%s %d, expected %d to %d", f.long(), n, first, last)
	}
	return nil
}

// commaList returns a parser of a list with commas, which goes to the slice.
func commaList(to *[]string) func(string) error {
	return func(text string) error {
		*to = strings.Split(text, ",")
		return nil
	}
}

// dimensions returns a parser of the value of a flag, dimensions, which go to the slice.
func dimensions(flag string, to *[]int) func(string) error {
	return func(text string) (err error) {
		*to, err = parseShape(flag, text)
		return err
	}
}

// parseShape reads dimensions such as -1x28x28, the value of a flag.
func parseShape(flag, s string) ([]int, error) {
	var dims []int
	elements := int64(1)
	for _, text := range strings.Split(strings.NewReplacer("×", "x", ",", "x").Replace(s), "x") {
		d, err := strconv.Atoi(text)
		if err == nil && flag == "shape" && d < 1 || err != nil || d < -1 {
			e := usagef("--%s %q: %q is not a dimension", flag, s, text)
			if flag == "shape" {
				return nil, e.WithHint("for example --shape 28x28, the shape of one record")
			}
			return nil, e.WithHint("for example --reshape -1x28x28, where -1 stands for the rest")
		}
		dims = append(dims, d)
		if flag == "shape" {
			if int64(d) > math.MaxInt32/elements {
				return nil, usagef("--shape %q: found more than %d elements, expected the shape of one record",
					s, math.MaxInt32)
			}
			elements *= int64(d)
		}
	}
	return dims, nil
}

// maxSide is the longest side of --resize.
const maxSide = 1 << 14

// parseResize reads the value of --resize, a width and a height.
func (s *settings) parseResize(text string) error {
	width, height, _ := strings.Cut(strings.ReplaceAll(text, "×", "x"), "x")
	for i, side := range []string{width, height} {
		n, err := strconv.Atoi(side)
		if err != nil || n < 1 || n > maxSide {
			return usagef("--resize %q, expected WIDTHxHEIGHT, of 1 to %d pixels", text, maxSide).
				WithHint("for example --resize 28x28")
		}
		s.Resize[i] = n
	}
	return nil
}

// Limits of preview.
const (
	maxImages = 10_000
	maxScale  = 64
)
