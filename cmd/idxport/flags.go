package main

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/idxport/idxport/convert"
)

// settings are what the flags of any command say.
type settings struct {
	convert.Options
	plan, part      string
	rowsPerPart     int64
	images, scale   int64
	quiet, json     bool
	logFormat, show string
}

// Categories of flags in the help text.
const (
	aboutInput  = "Input"
	aboutOutput = "Output"
	aboutFormat = "Formats"
	aboutRun    = "Run"
)

// Commands of flags. That called part is convert with --plan.
const (
	reading = "convert verify inspect preview "
	viewing = "convert verify preview "
	working = "convert part verify plan commit status abort inspect "
	onPlans = "commit status abort "
)

// A flagSpec is a row of the table of all flags: parsing, checks, help and completion are made of
// it.
type flagSpec struct {
	name     string
	commands string // that have it
	about    string // its category in the help
	usage    string // `X` is what its value is called
	preset   string // the value that it has when it is not given
	choices  []string
	bounds   [2]int64 // of a number; 0 at the end: there is none
	// to is where its value goes: a *string, *[]string, *bool, **bool, *int or *int64.
	to func(*settings) any
	// parse is there in place of to for a value that has a form of its own.
	parse func(s *settings, text string) error
}

// flags is the table of all flags.
func flags() []flagSpec {
	return slices.Concat(inputFlags(), outputFlags(), planFlags(), formatFlags(), runFlags())
}

// inputFlags are about what is read.
func inputFlags() []flagSpec {
	choices := convert.Choices
	return []flagSpec{
		{name: "split", commands: reading + "plan", about: aboutInput, usage: "take only the split `NAME`, such as train or test; may be repeated",
			to: func(s *settings) any { return &s.Split }},
		{name: "dataset", commands: reading + "plan", about: aboutInput, usage: "the files are the data set `NAME` (see idxport datasets), or none: no class names, no transposition",
			to: func(s *settings) any { return &s.Dataset }},
		{name: "classes", commands: reading + "plan", about: aboutInput, usage: "read the class names from `FILE`: a name a line, or lines of label and code point",
			to: func(s *settings) any { return &s.Classes }},
		{name: "reshape", commands: reading + "plan", about: aboutInput, usage: "read the data as an array of other `DIMS`, such as -1x28x28, in C order",
			parse: func(s *settings, text string) (err error) { s.Reshape, err = parseShape("reshape", text); return err }},
		{name: "byte-order", commands: reading + "plan", about: aboutInput, preset: "big", usage: "the `ORDER` of bytes in the payload: big, or little for files that a careless writer made",
			choices: choices("byte-order"), to: func(s *settings) any { return &s.ByteOrder }},
		{name: "dtype", commands: reading, about: aboutInput, usage: "the `TYPE` of the elements of inputs that do not tell it, as text and PNG: uint8, int8, int16, int32, float32 or float64",
			choices: choices("dtype"), to: func(s *settings) any { return &s.DType }},
		{name: "shape", commands: reading, about: aboutInput, usage: "the `SHAPE` of one record of inputs that do not tell it, as text and lists: 28x28",
			parse: func(s *settings, text string) (err error) { s.Shape, err = parseShape("shape", text); return err }},
		{name: "header", commands: reading, about: aboutInput, usage: "whether the first line of text names the columns (`YES-OR-NO`); needed where it counts them",
			choices: []string{"yes", "no"}, parse: func(s *settings, text string) error { yes := text == "yes"; s.Header = &yes; return nil }},
		{name: "salvage", commands: reading, about: aboutInput, usage: "take the whole records of IDX files that are truncated, too long, or whose count is wrong",
			to: func(s *settings) any { return &s.Salvage }},
		{name: "max-record-bytes", commands: reading + "plan", about: aboutInput, preset: strconv.Itoa(convert.DefaultMaxRecordBytes), usage: "refuse records of more than `N` bytes; memory grows with it",
			bounds: [2]int64{1, convert.MaxRecordBytes}, to: func(s *settings) any { return &s.MaxRecordBytes }},
	}
}

// outputFlags are about what is written.
func outputFlags() []flagSpec {
	return []flagSpec{
		{name: "output o", commands: "convert plan", about: aboutOutput, usage: "write to `OUT`; may be repeated",
			to: func(s *settings) any { return &s.Outputs }},
		{name: "output o", commands: "preview", about: aboutOutput, usage: "make a contact sheet: `SHEET` is a file.png, a folder, or - for standard output",
			to: func(s *settings) any { return &s.Outputs }},
		{name: "to", commands: "convert plan", about: aboutOutput, usage: "the `FORMATS` of an output folder (default parquet) or of standard output, separated by commas",
			parse: func(s *settings, text string) error {
				if text != "" {
					s.To = strings.Split(text, ",")
				}
				return nil
			}},
		{name: "overwrite", commands: "convert preview", about: aboutOutput, usage: "replace outputs that exist, each in one step",
			to: func(s *settings) any { return &s.Overwrite }},
		{name: "overwrite", commands: "plan", about: aboutOutput, usage: "replace a plan that exists",
			to: func(s *settings) any { return &s.Overwrite }},
		{name: "rows-per-file", commands: "convert", about: aboutOutput, usage: "make every output a folder of files with `N` rows each, and an empty _SUCCESS; for Parquet, Arrow, CSV and tar",
			bounds: [2]int64{1, 0}, to: func(s *settings) any { return &s.RowsPerFile }},
		{name: "file-size", commands: "convert", about: aboutOutput, usage: "the same with files of about `SIZE`, such as 128MB or 64MiB; M is MB, 10^6 bytes",
			parse: func(s *settings, text string) (err error) { s.FileSize, err = parseSize("file-size", text); return err }},
		{name: "if-changed", commands: "convert", about: aboutOutput, usage: "do nothing if the outputs are there and were made of the same inputs with the same options; else replace them",
			to: func(s *settings) any { return &s.IfChanged }},
		{name: "verify", commands: "convert part", about: aboutOutput, usage: "read every output again before it appears, and compare it with the inputs, value by value",
			to: func(s *settings) any { return &s.Verify }},
		{name: "checksum", commands: "convert", about: aboutOutput, usage: "report the sha256 of every output file",
			to: func(s *settings) any { return &s.Checksum }},
		{name: "rows", commands: viewing, about: aboutOutput, usage: "take only the rows `A:B` of each split: from 0, B not included, negative from the end",
			parse: func(s *settings, text string) (err error) { s.Rows = text; return convert.CheckRows(text) }},
		{name: "transpose", commands: viewing + "plan", about: aboutOutput, usage: "swap rows and columns of the images; =false leaves EMNIST as it is stored",
			to: func(s *settings) any { return &s.Transpose }},
		{name: "invert", commands: viewing + "plan", about: aboutOutput, usage: "turn every pixel x into 255−x",
			to: func(s *settings) any { return &s.Invert }},
	}
}

// planFlags are those of plans, and of previews.
func planFlags() []flagSpec {
	return []flagSpec{
		{name: "plan", commands: "convert part", about: aboutOutput, usage: "make one part of the plan in `FILE`, which says all the rest: see idxport plan",
			to: func(s *settings) any { return &s.plan }},
		{name: "part", commands: "convert part", about: aboutOutput, usage: "which part: `N`, from 0, or env: what the scheduler of an array of jobs says in JOB_COMPLETION_INDEX, AWS_BATCH_JOB_ARRAY_INDEX or SLURM_ARRAY_TASK_ID",
			to: func(s *settings) any { return &s.part }},
		{name: "rows-per-part", commands: "plan", about: aboutOutput, usage: "how many rows a part has: `N`; about 256 MiB of the inputs if it is not given",
			bounds: [2]int64{1, 0}, to: func(s *settings) any { return &s.rowsPerPart }},
		{name: "plan", commands: "plan", about: aboutOutput, usage: "write the plan to `FILE`",
			to: func(s *settings) any { return &s.plan }},
		{name: "plan", commands: onPlans, about: aboutInput, usage: "the plan in `FILE`, as idxport plan wrote it",
			to: func(s *settings) any { return &s.plan }},
		{name: "images", commands: "preview", about: aboutOutput, usage: "show `N` images: on a sheet, of each class (default 10), or in all if there are no labels (default 100); without -o, in all (default: a line)",
			bounds: [2]int64{1, maxImages}, to: func(s *settings) any { return &s.images }},
		{name: "scale", commands: "preview", about: aboutOutput, usage: "draw every pixel `N` times as wide and high; default: on a sheet, small images about 64 pixels large",
			bounds: [2]int64{0, maxScale}, to: func(s *settings) any { return &s.scale }},
	}
}

// formatFlags are about how formats are written.
func formatFlags() []flagSpec {
	choices := convert.Choices
	return []flagSpec{
		{name: "compression", commands: "convert plan", about: aboutFormat, usage: "compress with `[FORMAT=]CODEC[:LEVEL]`; without FORMAT this is for Parquet (default zstd) and Arrow (default none)",
			to: func(s *settings) any { return &s.Compression }},
		{name: "layout", commands: "convert plan", about: aboutFormat, usage: "represent tensors in Parquet and Arrow as `[FORMAT=]NAME`: list (default), nested, tensor, fixed-binary, binary, spark-image, huggingface or columns",
			to: func(s *settings) any { return &s.Layout }},
		{name: "csv-style", commands: "convert plan", about: aboutFormat, usage: "lay out CSV as `STYLE`: kaggle (default), kaggle1, rowxcol, pjreddie or matrix",
			to: func(s *settings) any { return &s.CSVStyle }},
		{name: "class-folders", commands: "convert", about: aboutFormat, usage: "name the folders of PNG images by `WHAT`: labels (default, in order) or names",
			choices: choices("class-folders"), to: func(s *settings) any { return &s.ClassFolders }},
		{name: "metadata-csv", commands: "convert", about: aboutFormat, usage: "put a table, metadata.csv, into PNG folders: a line for each image with its file, label, class and other scalars",
			to: func(s *settings) any { return &s.MetadataCSV }},
		{name: "class-column", commands: "convert plan", about: aboutFormat, usage: "write the names of the classes as a column of text, class, behind the labels; for Parquet, Arrow and CSV",
			to: func(s *settings) any { return &s.ClassColumn }},
		{name: "label-column", commands: viewing + "plan", about: aboutFormat, usage: "take the column `NAME` for the label, where a format has one; or, where labels have several numbers, the number with this index, from 0",
			parse: func(s *settings, text string) error {
				if s.LabelColumn = text; text == "" {
					return usagef("--label-column is empty").WithHint("name the column, such as --label-column writer")
				}
				return nil
			}},
		{name: "channels", commands: "convert plan preview", about: aboutFormat, usage: "where the channels of colour images are (`WHERE`): last (default, H×W×3) or first (3×H×W); for PNG, tar, and the layouts huggingface and spark-image",
			choices: choices("channels"), to: func(s *settings) any { return &s.Channels }},
	}
}

// runFlags are those of all commands that report.
func runFlags() []flagSpec {
	return []flagSpec{
		{name: "workers", commands: working, about: aboutRun, usage: "work with `N` goroutines; 0: as many as there are processors",
			preset: "0", bounds: [2]int64{0, convert.MaxWorkers}, to: func(s *settings) any { return &s.Workers }},
		{name: "progress", commands: working + "preview", about: aboutRun, preset: "auto", usage: "show progress: auto (on a terminal), always or never (`WHEN`)",
			choices: []string{"auto", "always", "never"}, to: func(s *settings) any { return &s.show }},
		{name: "quiet q", commands: working + "preview", about: aboutRun, usage: "say nothing but warnings and errors",
			to: func(s *settings) any { return &s.quiet }},
		{name: "json", commands: working + "preview", about: aboutRun, usage: "print one JSON object about the run on standard output, also after a failure",
			to: func(s *settings) any { return &s.json }},
		{name: "log-format", commands: working + "preview", about: aboutRun, preset: "text", usage: "write messages as text or json (`FORMAT`)",
			choices: []string{"text", "json"}, to: func(s *settings) any { return &s.logFormat }},
	}
}

// flagsOf are the flags of a command.
func flagsOf(command string) []flagSpec {
	return slices.DeleteFunc(flags(), func(f flagSpec) bool { return !f.of(command) })
}

// of reports whether the flag is one of a command.
func (f flagSpec) of(command string) bool {
	return slices.Contains(strings.Fields(f.commands), command)
}

// long is the name of the flag without its short one.
func (f flagSpec) long() string { return strings.Fields(f.name)[0] }

// isSwitch reports whether the flag takes no value.
func (f flagSpec) isSwitch() bool {
	if f.to == nil {
		return false
	}
	switch f.to(new(settings)).(type) {
	case *bool, **bool:
		return true
	}
	return false
}

// cliFlags are the flags of a command as the library has them.
func cliFlags(command string) (all []cli.Flag) {
	for _, f := range flagsOf(command) {
		names := strings.Fields(f.name)
		var to any = new(string)
		if f.to != nil {
			to = f.to(new(settings))
		}
		switch to.(type) {
		case *[]string:
			all = append(all, &cli.StringSliceFlag{Name: names[0], Aliases: names[1:], Category: f.about, Usage: f.usage})
		case *bool, **bool:
			all = append(all, &cli.BoolFlag{Name: names[0], Aliases: names[1:], Category: f.about, Usage: f.usage})
		case *int, *int64:
			preset, _ := strconv.ParseInt(f.preset, 10, 64) // of the table: a number, or nothing
			all = append(all, &cli.Int64Flag{Name: names[0], Category: f.about, Usage: f.usage, Value: preset, HideDefault: preset == 0 && f.preset == "", OnlyOnce: true})
		default:
			all = append(all, &cli.StringFlag{Name: names[0], Category: f.about, Usage: f.usage, Value: f.preset, OnlyOnce: true})
		}
	}
	return all
}

// parse reads the flags and arguments of a command: all flags, also after an error, as some say how
// errors are shown.
func parse(c *cli.Command, s *settings) (err error) {
	for _, f := range flagsOf(c.Name) {
		if bad := f.read(c, s); err == nil {
			err = bad
		}
	}
	if err != nil {
		return err
	}
	s.Inputs = c.Args().Slice()
	if part := c.Name == "convert" && (s.plan != "" || c.IsSet("part")); len(s.Inputs) == 0 && !part && slices.Contains([]string{"convert", "plan", "inspect", "preview"}, c.Name) {
		return usagef("no input").WithHint("give a folder, files, or - for standard input: idxport %s ./mnist", c.Name)
	}
	return nil
}

// read puts the value of the flag into s, if it is given or has a preset.
func (f flagSpec) read(c *cli.Command, s *settings) error {
	name := f.long()
	if !c.IsSet(name) && f.preset == "" {
		return nil
	}
	if f.choices != nil {
		if err := convert.CheckChoice(name, c.String(name), f.choices); err != nil {
			return err
		}
	}
	if f.parse != nil {
		return f.parse(s, c.String(name))
	}
	switch to := f.to(s).(type) {
	case *string:
		*to = c.String(name)
	case *[]string:
		*to = c.StringSlice(name)
	case *bool:
		*to = c.Bool(name)
	case **bool:
		set := c.Bool(name)
		*to = &set
	case *int:
		*to = int(c.Int64(name))
		return f.checkRange(c.Int64(name))
	case *int64:
		*to = c.Int64(name)
		return f.checkRange(*to)
	}
	return nil
}

// checkRange refuses a number that is out of range.
func (f flagSpec) checkRange(n int64) error {
	switch first, last := f.bounds[0], f.bounds[1]; {
	case last == 0 && n < first:
		return usagef("--%s %d, expected at least %d", f.long(), n, first)
	case last > 0 && (n < first || n > last):
		return usagef("--%s %d, expected %d to %d", f.long(), n, first, last)
	}
	return nil
}

// units are the units of --file-size.
var units = map[string]int64{"B": 1, "K": 1e3, "KB": 1e3, "M": 1e6, "MB": 1e6, "G": 1e9, "GB": 1e9, "T": 1e12, "TB": 1e12,

	"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}

// parseSize reads a number of bytes such as 128MB. It must have a unit: 128 means megabytes to
// people.
func parseSize(flag, text string) (int64, error) {
	digits := strings.TrimRight(text, "BKMGTIbkmgti ")
	unit, known := units[strings.ToUpper(strings.TrimSpace(text[len(digits):]))]
	n, err := strconv.ParseFloat(digits, 64)
	if digits == text && n >= 1 && n < math.MaxInt64 {
		e := usagef("--%s %s has no unit", flag, text)
		if n >= 1e5 { // hardly megabytes
			return 0, e.WithHint("--%s %sB", flag, text)
		}
		return 0, e.WithHint("--%s %sMB; for bytes, --%[1]s %[2]sB", flag, text)
	}
	if !known || err != nil || !(n*float64(unit) >= 1 && n*float64(unit) < math.MaxInt64) {
		return 0, usagef("--%s %q is no size", flag, text).WithHint("for example --%s 128MB, or 64MiB", flag)
	}
	return int64(n * float64(unit)), nil
}

// parseShape reads dimensions such as -1x28x28, the value of a flag.
func parseShape(flag, s string) ([]int, error) {
	var dims []int
	elements := int64(1)
	for _, text := range strings.Split(strings.NewReplacer("×", "x", ",", "x").Replace(s), "x") {
		d, err := strconv.Atoi(text)
		if err == nil && flag == "shape" && d < 1 || err != nil || d < -1 {
			e := usagef("--%s %q: %q is no dimension", flag, s, text)
			if flag == "shape" {
				return nil, e.WithHint("for example --shape 28x28, the shape of one record")
			}
			return nil, e.WithHint("for example --reshape -1x28x28, where -1 is what is left")
		}
		dims = append(dims, d)
		if flag == "shape" {
			if int64(d) > math.MaxInt32/elements {
				return nil, usagef("--shape %q: found more than %d elements, expected the shape of one record", s, math.MaxInt32)
			}
			elements *= int64(d)
		}
	}
	return dims, nil
}

// Bounds of what is shown.
const (
	maxImages = 10_000
	maxScale  = 64
)
