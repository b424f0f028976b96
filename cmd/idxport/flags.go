package main

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/urfave/cli/v3"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/sink/formats"
)

// settings holds the values of the flags of all commands.
type settings struct {
	convert.Options
	images, scale int64
	quiet, json   bool
	progress      string
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
	heading     string // of its section of the help
	usage       string // what it does, in up to 52 characters: a line of help has 80
	detail      string // more about it, shown by --help-all
	often       bool   // shown by `convert --help`
	preset      string // value without the flag
	choices     []string
	bounds      [2]int64 // least and greatest number; a greatest of 0 means no limit
	// to returns where the value goes: a *string, *[]string, *bool, **bool, *int or *int64.
	to func(*settings) any
	// parse is set instead of the field to, if the value has a syntax of its own.
	parse func(s *settings, text string) error
}

// flags is the table of all flags. Those of one command are shown in this order.
var flags = sync.OnceValue(func() []flagSpec {
	return slices.Concat(outputFlags(), inputFlags(), rowFlags(), formatFlags(), runFlags())
})

// outputFlags returns the flags that choose what is written, and where.
func outputFlags() []flagSpec {
	return []flagSpec{
		{name: "output o", placeholder: "OUT", commands: "convert", heading: headingOutput, often: true, usage: "write to OUT; may be repeated",
			detail: "OUT is a file, whose extension selects the format; FORMAT=PATH; a folder; or - for standard output. " +
				"{split} and {format} in OUT are filled in. A word before = must be the name of a format: for a file named a=b.csv, write ./a=b.csv.",
			to: func(s *settings) any { return &s.Outputs }},
		{name: "output o", placeholder: "SHEET", commands: "preview", heading: headingOutput, usage: "write a contact sheet: a .png file, a folder, or -",
			to: func(s *settings) any { return &s.Outputs }},
		{name: "to", placeholder: "FORMATS", commands: "convert", heading: headingOutput, often: true, usage: "formats for an output folder, such as parquet,csv",
			detail: "Separate formats by commas: " + strings.Join(formats.Names(), ", ") + " (default: parquet). Also selects the format of -o -.", parse: parseTo},
		{name: "overwrite", commands: "preview", heading: headingOutput, usage: "replace existing sheets",
			to: func(s *settings) any { return &s.Overwrite }},
		{name: "overwrite", commands: "convert", heading: headingOutput, often: true, usage: "replace existing outputs",
			detail: "A file is replaced in one step, and a folder too if the file system can exchange folders. A folder is replaced only if idxport made it and no other files were added to it.",
			to:     func(s *settings) any { return &s.Overwrite }},
		{name: "rows-per-file", placeholder: "N", commands: "convert", heading: headingOutput, often: true, usage: "split every output into files of N rows",
			detail: "Each output becomes a folder of part files and an empty file named _SUCCESS; in the layout huggingface, the files are shards in data/. Only for " + splittable() + ".",
			bounds: [2]int64{1, 0}, to: func(s *settings) any { return &s.RowsPerFile }},
		{name: "if-changed", commands: "convert", heading: headingOutput, often: true, usage: "do nothing if the outputs are up to date",
			detail: "Outputs are up to date if an earlier run with --if-changed made them from the same inputs with the same options. To find out, such a run leaves an empty hidden file beside each output, with a hash of the inputs and options in its name. " +
				"If any output is not up to date, all outputs are replaced, as with --overwrite.",
			to: func(s *settings) any { return &s.IfChanged }},
		{name: "verify", commands: "convert", heading: headingOutput, often: true, usage: "read outputs back and compare before publishing",
			detail: "Every value is compared with the inputs. If one differs, nothing is published.",
			to:     func(s *settings) any { return &s.Verify }},
		{name: "checksum", commands: "convert", heading: headingOutput, usage: "report the SHA-256 of every output file",
			detail: "For a PNG folder, it is that of _manifest.json, which contains one hash over all files. For a folder of part files, one is reported for each file.",
			to:     func(s *settings) any { return &s.Checksum }},
		{name: "images", placeholder: "N", commands: "preview", heading: headingOutput, usage: "number of images to show",
			detail: "A sheet shows N images of each class (default 10), or just N if there are no labels (default 100). The terminal shows N of each split (default: one row of images, as wide as the terminal).",
			bounds: [2]int64{1, maxImages}, to: func(s *settings) any { return &s.images }},
		{name: "scale", placeholder: "N", commands: "preview", heading: headingOutput, usage: "draw every pixel N times as wide and high",
			detail: "By default, a sheet enlarges small images to about 64 pixels, and the terminal does not.",
			bounds: [2]int64{0, maxScale}, to: func(s *settings) any { return &s.scale }},
	}
}

// splittable returns the names of the formats whose outputs can be folders of part files.
func splittable() string { return formats.List(func(f formats.Format) bool { return f.Splittable }) }

// inputFlags returns the flags that choose what is read, and how.
func inputFlags() []flagSpec {
	choices := convert.Choices
	return []flagSpec{
		{name: "split", placeholder: "NAME", commands: inputCommands, heading: headingInput, often: true, usage: "only this split, such as test; may be repeated",
			to: func(s *settings) any { return &s.Split }},
		{name: "dataset", placeholder: "NAME", commands: inputCommands, heading: headingInput, often: true, usage: "set the data set (see idxport datasets), or none",
			detail: "By default it is recognised by the file names or by the SHA-256 of the labels. The value none turns recognition off: no class names, images as stored.",
			to:     func(s *settings) any { return &s.Dataset }},
		{name: "classes", placeholder: "FILE", commands: inputCommands, heading: headingInput, usage: "read class names from FILE, one per line",
			detail: "FILE may be a URL. The first line names label 0. EMNIST's mapping files (a label and a code point on each line) and KMNIST's class map (CSV) are read too; " +
				"other numbered lists, numbered CSV and JSON are refused.",
			to: func(s *settings) any { return &s.Classes }},
		{name: "transpose", commands: viewCommands, heading: headingInput, usage: "swap rows and columns of images",
			detail: "EMNIST stores its images transposed; by default they are turned upright, in IDX outputs too. --transpose=false leaves them as stored.",
			to:     func(s *settings) any { return &s.Transpose }},
		{name: "invert", commands: viewCommands, heading: headingInput, usage: "replace every pixel x by 255-x",
			to: func(s *settings) any { return &s.Invert }},
		{name: "reshape", placeholder: "DIMS", commands: inputCommands, heading: headingInput, usage: "read the data with other dimensions: -1x28x28",
			detail: "DIMS starts with the number of records; -1 stands for whatever remains. The elements stay in C order. Labels that are read together with other data keep their dimensions.",
			parse:  func(s *settings, text string) (err error) { s.Reshape, err = parseShape("reshape", text); return err }},
		{name: "shape", placeholder: "SHAPE", commands: inputCommands, heading: headingInput, usage: "shape of one record where the input has none: 28x28",
			detail: "Used for CSV, and for lists and bytes in Parquet and Arrow.",
			parse:  func(s *settings, text string) (err error) { s.Shape, err = parseShape("shape", text); return err }},
		{name: "dtype", placeholder: "TYPE", commands: inputCommands, heading: headingInput, usage: "element type where the input has none, as in CSV",
			detail:  "TYPE is uint8, int8, int16, int32, float32 or float64. Used for CSV and PNG; for bytes in Parquet and Arrow; and for integers of types that IDX lacks, such as int64, in Parquet, Arrow and NumPy files.",
			choices: choices("dtype"), to: func(s *settings) any { return &s.DType }},
		{name: "header", placeholder: "YES-OR-NO", commands: inputCommands, heading: headingInput, usage: "whether the first line of CSV names the columns",
			detail:  "Detected by default. If the first line is 0,1,2,… and could be a header or data, the file is refused unless this flag is given.",
			choices: []string{"yes", "no"}, parse: func(s *settings, text string) error { yes := text == "yes"; s.Header = &yes; return nil }},
		{name: "byte-order", placeholder: "ORDER", commands: inputCommands, heading: headingInput, preset: "big", usage: "byte order of IDX data: big (default) or little",
			detail:  "IDX is big-endian; little reads files whose values are little-endian; their header may have either order.",
			choices: choices("byte-order"), to: func(s *settings) any { return &s.ByteOrder }},
		{name: "salvage", commands: inputCommands, heading: headingInput, usage: "recover the complete records of damaged IDX files",
			detail: "For files that are truncated or too long, or whose header has a wrong count. If the count is too small, the records beyond it are not read, unless it is 0. If columns have different lengths, in any input format, only the rows that all columns have are read.",
			to:     func(s *settings) any { return &s.Salvage }},
		{name: "max-record-bytes", placeholder: "N", commands: inputCommands, heading: headingInput, preset: strconv.Itoa(convert.DefaultMaxRecordBytes),
			usage: "refuse larger records (default 16 MiB)", detail: "Memory use grows with it.",
			bounds: [2]int64{1, convert.MaxRecordBytesLimit}, to: func(s *settings) any { return &s.MaxRecordBytes }},
	}
}

// rowFlags returns the flags that choose columns and rows.
func rowFlags() []flagSpec {
	return []flagSpec{
		{name: "columns", placeholder: "NAMES", commands: "convert verify", heading: headingRows, usage: "only these columns, such as label or label,image",
			detail: "Separate names by commas; outputs have the columns in this order, but CSV has numbers before images. The values in IDX files of other columns are not read, but their headers and sizes are checked.",
			parse:  func(s *settings, text string) error { s.Columns = strings.Split(text, ","); return nil }},
		{name: "rows", placeholder: "A:B", commands: viewCommands, heading: headingRows, often: true, usage: "only these rows of each split, such as 0:1000",
			detail: "Rows are counted from 0, B is not included, and negative numbers count from the end.",
			parse:  func(s *settings, text string) (err error) { s.Rows = text; return convert.CheckRows(text) }},
		{name: "where", placeholder: "COND", commands: viewCommands, heading: headingRows, often: true, usage: "only rows with these values, such as label=0,1",
			detail: "COND is COLUMN=VALUES or COLUMN!=VALUES. COLUMN has one number in each row; VALUES are numbers or ranges such as 3-7, separated by commas. " +
				"class=NAMES selects by class name. May be repeated: a row must meet all conditions.",
			to: func(s *settings) any { return &s.Where }},
		{name: "holdout", placeholder: "NAME=N", commands: viewCommands, heading: headingRows, usage: "move N random rows of train to a new split NAME",
			detail: "N is a number of rows, or a percentage such as 10%. If there is only one split, its rows are taken, whatever its name. May be repeated.",
			to:     func(s *settings) any { return &s.Holdout }},
		{name: "stratify", commands: viewCommands, heading: headingRows, usage: "hold out the same share of every label",
			to: func(s *settings) any { return &s.Stratify }},
		{name: "shuffle", commands: viewCommands, heading: headingRows, usage: "put the rows of each split in a random order",
			detail: "Uncompressed IDX files on this machine are read in the shuffled order, without a copy. Other inputs are held in memory up to 32 MiB, and beyond that in a scratch file, beside the output or in TMPDIR. Standard input cannot be shuffled.",
			to:     func(s *settings) any { return &s.Shuffle }},
		{name: "seed", placeholder: "N", commands: viewCommands, heading: headingRows, preset: "0", usage: "seed of --holdout and --shuffle (default 0)",
			detail: "The same seed selects the same rows on every machine and in every later version.",
			bounds: [2]int64{0, math.MaxInt64}, to: func(s *settings) any { return &s.Seed }},
		{name: "take", placeholder: "N", commands: viewCommands, heading: headingRows, usage: "only the first N rows of each split",
			detail: "Flags that select rows apply in this order: --rows, --where, --holdout, --shuffle, --take.",
			bounds: [2]int64{1, 0}, to: func(s *settings) any { return &s.Take }},
	}
}

// formatFlags returns the flags that choose how formats are written.
func formatFlags() []flagSpec {
	choices := convert.Choices
	return []flagSpec{
		{name: "layout", placeholder: "NAME", commands: "convert", heading: headingFormat, often: true, usage: "how tensors are stored in Parquet and Arrow",
			detail: "NAME is list (default), nested, tensor, fixed-binary, binary, huggingface or columns: see idxport formats. " +
				"FORMAT=NAME applies to one format; the flag may be repeated.",
			to: func(s *settings) any { return &s.Layout }},
		{name: "compression", placeholder: "CODEC", commands: "convert", heading: headingFormat, often: true, usage: "codec: Parquet (default zstd), Arrow (default none)",
			detail: "[FORMAT=]CODEC[:LEVEL]; may be repeated. Parquet: zstd (default), none, snappy, gzip, lz4_raw. Arrow: none (default), lz4, zstd. " +
				"CSV and IDX files are compressed if their name ends in .gz or .zst; in an output folder, use csv=gzip or idx=zstd. IDX in zstd gets a seek table. zstd without a level is fastest for images. zstd levels 10 and higher use at most two workers, each with up to 51 MiB of memory.",
			to: func(s *settings) any { return &s.Compression }},
		{name: "csv-style", placeholder: "STYLE", commands: "convert", heading: headingFormat, often: true, usage: "columns of CSV, such as kaggle (default), pjreddie",
			detail: "STYLE is kaggle (default), kaggle1, rowxcol, pjreddie or matrix: see idxport formats.",
			to:     func(s *settings) any { return &s.CSVStyle }},
		{name: "class-column", commands: "convert", heading: headingFormat, usage: "add a text column with the class names",
			detail: "The column is named class and follows the label. Only for " +
				formats.List(func(f formats.Format) bool { return f.ClassColumn }) + "; CSV needs a style with a header.",
			to: func(s *settings) any { return &s.ClassColumn }},
		{name: "label-column", placeholder: "NAME", commands: viewCommands, heading: headingFormat, usage: "use this integer column as the label",
			detail: "Used by PNG folders, tar, the layout huggingface, --class-column, preview, --stratify and --where class=NAME. If the file of labels has several numbers in each record, without names, " +
				"give the index (from 0) of the number to use: with --label-column 1, that number is the column label, and the others are label_0, label_2, ….",
			to: func(s *settings) any { return &s.LabelColumn }},
		{name: "class-folders", placeholder: "WHAT", commands: "convert", heading: headingFormat, usage: "name class folders after labels (default) or names",
			choices: choices("class-folders"), to: func(s *settings) any { return &s.ClassFolders }},
		{name: "metadata-csv", commands: "convert", heading: headingFormat, usage: "add metadata.csv, a line per image, to PNG folders",
			detail: "Its columns are file_name, label, class (where class names are known) and the other scalar columns.",
			to:     func(s *settings) any { return &s.MetadataCSV }},
		{name: "channels", placeholder: "WHERE", commands: "convert preview", heading: headingFormat, usage: "channels of colour images: last (default) or first",
			detail:  "Images are H×W×3 with last, and 3×H×W with first. Used by PNG, tar, preview, and the layout huggingface.",
			choices: choices("channels"), to: func(s *settings) any { return &s.Channels }},
	}
}

// runFlags returns the flags that control how a command runs and reports.
func runFlags() []flagSpec {
	return []flagSpec{
		{name: "quiet q", commands: inputCommands, heading: headingRun, often: true, usage: "print no messages but warnings and errors",
			to: func(s *settings) any { return &s.quiet }},
		{name: "json", commands: inputCommands, heading: headingRun, often: true, usage: "print a JSON report to standard output",
			detail: "The report is one object on one line, even after a failure. If standard output carries data, it is the last line of standard error. " +
				"Messages on standard error are JSON, too, an object on each line.",
			to: func(s *settings) any { return &s.json }},
		{name: "progress", placeholder: "WHEN", commands: inputCommands, heading: headingRun, preset: "auto", usage: "show progress: auto (default), always or never",
			detail:  "With auto, it is shown if standard error is a terminal.",
			choices: []string{"auto", "always", "never"}, to: func(s *settings) any { return &s.progress }},
		{name: "workers", placeholder: "N", commands: workerCommands, heading: headingRun, usage: "number of workers (default: one per processor)",
			preset: "0", bounds: [2]int64{0, convert.MaxWorkers}, to: func(s *settings) any { return &s.Workers }},
	}
}

// flagsOf returns the flags of a command.
func flagsOf(command string) (found []flagSpec) {
	for _, f := range flags() {
		if f.belongsTo(command) {
			found = append(found, f)
		}
	}
	return found
}

// belongsTo reports whether a command has the flag.
func (f flagSpec) belongsTo(command string) bool {
	return slices.Contains(strings.Fields(f.commands), command)
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

// cliFlags returns the flags of a command in the library's form.
func cliFlags(command string) (all []cli.Flag) {
	for _, f := range flagsOf(command) {
		names := strings.Fields(f.name)
		var to any = new(string)
		if f.to != nil {
			to = f.to(new(settings))
		}
		switch to.(type) {
		case *[]string:
			all = append(all, &cli.StringSliceFlag{Name: names[0], Aliases: names[1:]})
		case *bool, **bool:
			all = append(all, &cli.BoolFlag{Name: names[0], Aliases: names[1:]})
		case *int, *int64:
			preset, _ := strconv.ParseInt(f.preset, 10, 64) // a number or "": it comes from the table
			all = append(all, &cli.Int64Flag{Name: names[0], Value: preset, OnlyOnce: true})
		default:
			all = append(all, &cli.StringFlag{Name: names[0], Value: f.preset, OnlyOnce: true})
		}
	}
	return all
}

// parse reads the flags and arguments of a command. After an error it still reads the other flags,
// because some decide how errors are shown.
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
	if len(s.Inputs) == 0 && c.Name != "verify" {
		example := map[string]string{"convert": " -o out"}[c.Name]
		return usagef("no input").WithHint("give a folder or files: idxport %s ./mnist%s", c.Name, example)
	}
	return nil
}

// read stores the value of the flag in s, if it is given or has a preset.
func (f flagSpec) read(c *cli.Command, s *settings) error {
	name := f.long()
	if !c.IsSet(name) && f.preset == "" {
		return nil
	}
	if c.Value(name) == any("") {
		return usagef("--%s is empty", name).WithHint("perhaps a shell variable is not set")
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

// parseTo reads the value of --to: names of formats, separated by commas.
func parseTo(s *settings, text string) error {
	s.To = strings.Split(text, ",")
	return nil
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
				return nil, usagef("--shape %q: found more than %d elements, expected the shape of one record", s, math.MaxInt32)
			}
			elements *= int64(d)
		}
	}
	return dims, nil
}

// Limits of preview.
const (
	maxImages = 10_000
	maxScale  = 64
)
