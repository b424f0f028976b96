package main

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/idxport/idxport/convert"
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
	return p.command(&cli.Command{
		Name:        "convert",
		Usage:       "convert IDX files to Parquet, Arrow, CSV, PNG folders, WebDataset, NumPy or IDX",
		UsageText:   convertUsage,
		Description: convertExamples,
	}, func(ctx context.Context, c *cli.Command, s *settings, r *report) (err error) {
		if c.IsSet("plan") || c.IsSet("part") {
			return p.convertPart(ctx, c, s, r)
		}
		r.Report, err = convert.Run(ctx, s.Options)
		r.wroteAll()
		return err
	})
}
