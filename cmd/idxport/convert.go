package main

import (
	"context"

	"github.com/urfave/cli/v3"
)

const convertUsage = `idxport convert INPUT... -o OUT... [flags]

INPUT is a folder (its splits become tables), a file, NAME=FILE, or - for standard input (IDX, or an Arrow stream). Several files are columns of one table.
Files may be compressed with gzip, zstd, xz or bzip2; what they are is told by their content.

OUT is a file, whose name tells the format; FORMAT=PATH (a path that itself begins with WORD= is ./WORD=…); a folder that gets one output
for each split in the formats of --to (Parquet if there is no --to); or - for standard output. {split}, {dataset} and {format} in OUT are filled in. -o may be repeated: all
outputs are written in one pass. With --layout huggingface, a folder becomes a data set as Hugging Face's Hub has them.

Outputs appear whole or not at all, and nothing is overwritten without --overwrite.

The exit code is 0 if all is done, 64 for a command line that cannot be carried out, 65 for bad data, 66 for a missing input, 73 if the output
exists; the README lists them all.`

const convertExamples = `Examples:
   idxport convert ./fashion-mnist -o out --to parquet,arrow,csv,png
   idxport convert ./mnist -o 'mnist-{split}.parquet'
   idxport convert train-images-idx3-ubyte.gz train-labels-idx1-ubyte.gz -o train.parquet -o train.csv.gz
   idxport convert ./mnist -o 'png={split}-images' --class-folders names
   idxport convert damaged-idx3-ubyte --salvage -o repaired-idx3-ubyte.gz
   curl -s … | idxport convert - -o csv=-`

// convertCommand is `idxport convert`.
func (p *program) convertCommand() *cli.Command {
	return &cli.Command{
		Name:            "convert",
		Usage:           "convert IDX files to Parquet, Arrow, CSV, PNG folders, WebDataset, NumPy or IDX",
		UsageText:       convertUsage,
		Description:     convertExamples,
		Flags:           convertFlags(),
		HideHelpCommand: true,
		OnUsageError:    onUsageError,
		Action: func(ctx context.Context, c *cli.Command) error {
			return p.reporting(ctx, c, func(r *report) error {
				if c.IsSet("plan") || c.IsSet("part") {
					return p.convertPart(ctx, c, r)
				}
				o, err := parseConvert(c, false)
				if err != nil {
					return err
				}
				return p.convert(ctx, o, r)
			})
		},
	}
}

// Categories of flags in the help text.
const (
	aboutInput  = "Input"
	aboutOutput = "Output"
	aboutFormat = "Formats"
	aboutRun    = "Run"
)

// inputFlags are those of all commands that read IDX files.
func inputFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "split", Category: aboutInput, Usage: "take only the split `NAME`, such as train or test; may be repeated"},
		&cli.StringFlag{Name: "dataset", Category: aboutInput, Usage: "the files are the data set `NAME` (see idxport datasets), or none: no class names, no transposition"},
		&cli.StringFlag{Name: "classes", Category: aboutInput, Usage: "read the class names from `FILE`: a name a line, or lines of label and code point"},
		&cli.StringFlag{Name: "reshape", Category: aboutInput, Usage: "read the data as an array of other `DIMS`, such as -1x28x28, in C order"},
		&cli.StringFlag{Name: "byte-order", Category: aboutInput, Value: "big", Usage: "the `ORDER` of bytes in the payload: big, or little for files that a careless writer made"},
		&cli.StringFlag{Name: "dtype", Category: aboutInput, Usage: "the `TYPE` of the elements of inputs that do not tell it, as text and PNG: uint8, int8, int16, int32, float32 or float64"},
		&cli.StringFlag{Name: "shape", Category: aboutInput, Usage: "the `SHAPE` of one record of inputs that do not tell it, as text and lists: 28x28"},
		&cli.StringFlag{Name: "header", Category: aboutInput, Usage: "whether the first line of text names the columns (`YES-OR-NO`); needed where it counts them"},
		&cli.BoolFlag{Name: "salvage", Category: aboutInput, Usage: "take the whole records of IDX files that are truncated, too long, or whose count is wrong"},
		&cli.Int64Flag{Name: "max-record-bytes", Category: aboutInput, Value: 16 << 20, Usage: "refuse records of more than `N` bytes; memory grows with it"},
	}
}

// runFlags are those of all commands that report.
func runFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "workers", Category: aboutRun, Usage: "work with `N` goroutines; 0: as many as there are processors"},
		&cli.StringFlag{Name: "progress", Category: aboutRun, Value: "auto", Usage: "show progress: auto (on a terminal), always or never (`WHEN`)"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Category: aboutRun, Usage: "say nothing but errors"},
		&cli.BoolFlag{Name: "json", Category: aboutRun, Usage: "print one JSON object about the run on standard output, also after a failure"},
		&cli.StringFlag{Name: "log-format", Category: aboutRun, Value: "text", Usage: "write messages as text or json (`FORMAT`)"},
	}
}

// convertFlags are those of `idxport convert`.
func convertFlags() []cli.Flag {
	flags := []cli.Flag{
		&cli.StringSliceFlag{Name: "output", Aliases: []string{"o"}, Category: aboutOutput, Usage: "write to `OUT`; may be repeated"},
		&cli.StringFlag{Name: "to", Category: aboutOutput, Usage: "the `FORMATS` of an output folder (default parquet) or of standard output, separated by commas"},
		&cli.BoolFlag{Name: "overwrite", Category: aboutOutput, Usage: "replace outputs that exist, each in one step"},
		&cli.Int64Flag{Name: "rows-per-file", Category: aboutOutput, Usage: "make every output a folder of files with `N` rows each, and an empty _SUCCESS; for Parquet, Arrow, CSV and tar", HideDefault: true},
		&cli.StringFlag{Name: "file-size", Category: aboutOutput, Usage: "the same with files of about `SIZE`, such as 128MB or 64MiB; M is MB, 10^6 bytes"},
		&cli.BoolFlag{Name: "if-changed", Category: aboutOutput, Usage: "do nothing if the outputs are there and were made of the same inputs with the same options; else replace them"},
		&cli.BoolFlag{Name: "verify", Category: aboutOutput, Usage: "read every output again before it appears, and compare it with the inputs, value by value"},
		&cli.BoolFlag{Name: "checksum", Category: aboutOutput, Usage: "report the sha256 of every output file"},
		&cli.StringFlag{Name: "rows", Category: aboutOutput, Usage: "take only the rows `A:B` of each split: from 0, B not included, negative from the end"},
		&cli.StringFlag{Name: "plan", Category: aboutOutput, Usage: "make one part of the plan in `FILE`, which says all the rest: see idxport plan"},
		&cli.StringFlag{Name: "part", Category: aboutOutput, Usage: "which part: `N`, from 0, or env: what the scheduler of an array of jobs says in JOB_COMPLETION_INDEX, AWS_BATCH_JOB_ARRAY_INDEX or SLURM_ARRAY_TASK_ID"},
		&cli.BoolFlag{Name: "transpose", Category: aboutOutput, Usage: "swap rows and columns of the images; =false leaves EMNIST as it is stored"},
		&cli.BoolFlag{Name: "invert", Category: aboutOutput, Usage: "turn every pixel x into 255−x"},

		&cli.StringSliceFlag{Name: "compression", Category: aboutFormat, Usage: "compress with `[FORMAT=]CODEC[:LEVEL]`; without FORMAT this is for Parquet (default zstd) and Arrow (default none)"},
		&cli.StringSliceFlag{Name: "layout", Category: aboutFormat, Usage: "represent tensors in Parquet and Arrow as `[FORMAT=]NAME`: list (default), nested, tensor, fixed-binary, binary, spark-image, huggingface or columns"},
		&cli.StringFlag{Name: "csv-style", Category: aboutFormat, Usage: "lay out CSV as `STYLE`: kaggle (default), kaggle1, rowxcol, pjreddie or matrix"},
		&cli.StringFlag{Name: "class-folders", Category: aboutFormat, Usage: "name the folders of PNG images by `WHAT`: labels (default, in order) or names"},
		&cli.BoolFlag{Name: "metadata-csv", Category: aboutFormat, Usage: "put a table, metadata.csv, into PNG folders: a line for each image with its file, label, class and other scalars"},
		&cli.BoolFlag{Name: "class-column", Category: aboutFormat, Usage: "write the names of the classes as a column of text, class, behind the labels; for Parquet, Arrow and CSV"},
		&cli.StringFlag{Name: "label-column", Category: aboutFormat, Usage: "take the column `NAME` for the label, where a format has one; or, where labels have several numbers, the number with this index, from 0"},
		&cli.StringFlag{Name: "channels", Category: aboutFormat, Usage: "where the channels of colour images are (`WHERE`): last (default, H×W×3) or first (3×H×W); for PNG, tar, and the layouts huggingface and spark-image"},
	}
	return append(append(inputFlags(), flags...), runFlags()...)
}
