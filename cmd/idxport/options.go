package main

import (
	"bufio"
	"math"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/sink/compressed"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
	"github.com/idxport/idxport/source/formats"
	"github.com/idxport/idxport/source/idx"
)

// inputOptions are the validated flags of all commands that read IDX files.
type inputOptions struct {
	inputs        []dataset.Input
	objects       *object.Store // what URLs among the arguments ask for; nil: there are no arguments yet
	opened        *opened       // what is known of inputs from having opened them
	splits        []string
	dataset       string
	classes       string                   // path, or empty
	others        map[string]formats.Table // inputs of other formats than IDX, by path; found by find
	counted       bool                     // they must tell their number of rows
	place         source.Files             // where the inputs of a part of a plan are; nil: it is none
	stdin         *bufio.Reader
	dtype         idx.DType // of what they hold, where they cannot tell; 0: not said
	shape         []int     // of its records, likewise; nil: not said
	header        *bool     // whether text begins with the names of its columns; nil: not said
	labelColumn   string    // which column is the label: its name, or the index of a number of a label; empty: not said
	reshape       []int     // nil: as in the header
	asTold        bool      // shapes are not guessed
	described     bool      // --dtype and --shape are used elsewhere, for an output that is verified
	littleEndian  bool
	salvage       bool
	maxRecordSize int64
}

// convertOptions are the validated flags of convert.
type convertOptions struct {
	inputOptions
	outputs      []outputArg
	overwrite    bool
	verify       bool
	ifChanged    bool
	names        []string // of the classes, once they are read
	rowsPerFile  int64    // 0: no limit
	fileSize     int64    // bytes, 0: no limit
	checksum     bool
	planning     bool                  // every output is to be a folder of parts
	planID       string                // of the plan that this is a part of, or empty
	staged       *object.PendingUpload // of the object that is made, which is not to be published; nil: it is
	rows         rowRange
	transpose    *bool // nil: what the data set says
	invert       bool
	compression  map[string]compressed.Codec // by format; "" for Parquet and Arrow
	layouts      map[string]string           // by format; "" for Parquet and Arrow
	style        string
	classFolders string
	classColumn  bool
	metadataCSV  bool // PNG folders hold metadata.csv
	channels     string
	workers      int
	given        []string // flags about formats that were given, to find those that no output uses
}

// maxRecordSize is the most that --max-record-bytes takes. A program of 32 bits can address a few buffers of that size, and no more.
const maxRecordSize = min(math.MaxInt32, math.MaxInt/8)

// parseInput validates the flags and arguments that say what to read.
func parseInput(c *cli.Command) (o inputOptions, err error) {
	o.opened = new(opened)
	if !c.Args().Present() {
		return o, usagef("no input").WithHint("give a folder, files, or - for standard input: idxport %s ./mnist", c.Name)
	}
	for _, arg := range c.Args().Slice() {
		if arg == "" {
			return o, usagef("an input is empty").WithHint("perhaps a variable of the shell is not set")
		}
		if arg, err = o.take(arg); err != nil {
			return o, err
		}
		o.inputs = append(o.inputs, dataset.ParseInput(arg))
	}
	o.stdin = bufio.NewReader(c.Root().Reader)
	if o.classes, err = o.take(c.String("classes")); err != nil {
		return o, err
	}
	o.splits, o.dataset = c.StringSlice("split"), c.String("dataset")
	o.salvage, o.maxRecordSize = c.Bool("salvage"), c.Int64("max-record-bytes")
	if o.maxRecordSize < 1 || o.maxRecordSize > maxRecordSize {
		return o, usagef("--max-record-bytes %d, expected 1 to %d", o.maxRecordSize, maxRecordSize)
	}
	if c.IsSet("reshape") {
		if o.reshape, err = parseShape("reshape", c.String("reshape")); err != nil {
			return o, err
		}
	}
	if err := o.parseOthers(c); err != nil {
		return o, err
	}
	order, err := oneOf(c, "byte-order")
	o.littleEndian = order == "little"
	return o, err
}

// parseOthers validates the flags about inputs of other formats.
func (o *inputOptions) parseOthers(c *cli.Command) (err error) {
	if c.IsSet("dtype") {
		name, err := oneOf(c, "dtype")
		if err != nil {
			return err
		}
		o.dtype = idx.DTypes()[slices.Index(choices("dtype"), name)]
	}
	if c.IsSet("shape") {
		if o.shape, err = parseShape("shape", c.String("shape")); err != nil {
			return err
		}
	}
	if c.IsSet("header") {
		said, err := oneOf(c, "header")
		yes := said == "yes"
		o.header = &yes
		return err
	}
	return nil
}

// parseConvert validates the command line of convert, or of plan.
func parseConvert(c *cli.Command, planning bool) (*convertOptions, error) {
	in, err := parseInput(c)
	if err != nil {
		return nil, err
	}
	o := &convertOptions{inputOptions: in, overwrite: c.Bool("overwrite"), checksum: c.Bool("checksum"), classColumn: c.Bool("class-column"), planning: planning,
		metadataCSV: c.Bool("metadata-csv")}
	if o.workers, err = parseWorkers(c); err != nil {
		return nil, err
	}
	for _, name := range []string{"compression", "layout", "csv-style", "class-folders", "class-column", "metadata-csv", "label-column", "channels", "rows-per-file", "file-size"} {
		if c.IsSet(name) {
			o.given = append(o.given, name)
		}
	}
	for _, parse := range []func() error{
		func() error { return o.parseDivision(c) },
		func() (err error) {
			outputs, err := o.takeAll(c.StringSlice("output"))
			if err != nil {
				return err
			}
			o.outputs, err = parseOutputs(outputs, c.String("to"), o.divided())
			return err
		},
		func() error { return o.parseView(c) },
		func() (err error) { o.compression, err = parseCompression(c.StringSlice("compression")); return err },
		func() (err error) { o.layouts, err = parseLayouts(c.StringSlice("layout")); return err },
		func() (err error) { o.style = c.String("csv-style"); return checkStyle(o.style) },
		func() (err error) { o.classFolders, err = oneOf(c, "class-folders"); return err },
	} {
		if err := parse(); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// parseDivision validates the flags that make many files of an output.
func (o *convertOptions) parseDivision(c *cli.Command) (err error) {
	o.verify, o.ifChanged = c.Bool("verify"), c.Bool("if-changed")
	o.overwrite = o.overwrite || o.ifChanged
	o.rowsPerFile = c.Int64("rows-per-file")
	if o.rowsPerFile < 0 || c.IsSet("rows-per-file") && o.rowsPerFile == 0 {
		return usagef("--rows-per-file %d, expected at least 1", o.rowsPerFile)
	}
	if c.IsSet("file-size") {
		o.fileSize, err = parseSize("file-size", c.String("file-size"))
	}
	return err
}

// parseView validates the flags that say which rows are taken and how they are seen as images.
func (o *convertOptions) parseView(c *cli.Command) (err error) {
	o.invert, o.labelColumn = c.Bool("invert"), c.String("label-column")
	if c.IsSet("label-column") && o.labelColumn == "" {
		return usagef("--label-column is empty").WithHint("name the column, such as --label-column writer")
	}
	if c.IsSet("transpose") {
		t := c.Bool("transpose")
		o.transpose = &t
	}
	if c.IsSet("rows") {
		if o.rows, err = parseRows(c.String("rows")); err != nil {
			return err
		}
	}
	o.channels, err = oneOf(c, "channels")
	return err
}

// parseWorkers validates --workers.
func parseWorkers(c *cli.Command) (int, error) {
	n := c.Int("workers")
	if n < 0 || n > maxWorkers {
		return 0, usagef("--workers %d, expected 0 to %d", n, maxWorkers)
	}
	return n, nil
}

// maxWorkers bounds the number of goroutines; more than there are processors gain nothing.
const maxWorkers = 4096

// choices are the values of a flag that has a few of its own; nil: it has others.
func choices(flag string) (values []string) {
	switch flag {
	case "byte-order":
		return []string{"big", "little"}
	case "channels":
		return []string{"last", "first"}
	case "class-folders":
		return []string{"labels", "names"}
	case "dtype":
		for _, d := range idx.DTypes() {
			values = append(values, d.String())
		}
	case "header":
		return []string{"yes", "no"}
	case "log-format":
		return []string{"text", "json"}
	case "progress":
		return []string{"auto", "always", "never"}
	}
	return values
}

// oneOf is the value of flag name, which must be one of its choices, or empty if the flag is not given and has no default.
func oneOf(c *cli.Command, name string) (string, error) {
	v, known := c.String(name), choices(name)
	if slices.Contains(known, v) || v == "" && !c.IsSet(name) {
		return v, nil
	}
	last := len(known) - 1
	return v, usagef("--%s %q, expected %s or %s", name, v, strings.Join(known[:last], ", "), known[last])
}
