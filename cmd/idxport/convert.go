package main

import (
	"context"

	"github.com/idxport/idxport/convert"
)

const convertUsage = `idxport convert INPUT... -o OUT... [flags]

INPUT is a folder, a file, NAME=FILE to name the column, or - for standard input. The IDX files of a
folder are paired by names like MNIST's, train-images-idx3-ubyte with train-labels-idx1-ubyte: one
table for each split. Several files are the columns of one table. IDX and CSV files may be
compressed with gzip, zstd, xz or bzip2. Parquet, Arrow, CSV, .npy, .npz and folders of PNG images
are inputs too, but not tar. A file may be a URL: s3://BUCKET/KEY or https://HOST/PATH.

OUT is a file, whose extension selects the format; FORMAT=PATH; a folder, which gets a file for each
split in the formats of --to (default: parquet); or - for standard output. All outputs are written
in one pass, under hidden names, and get their own names when all of them are complete.

Exit codes: 0 success, 64 bad command line, 65 bad data, 66 no such input, 73 the output exists. See
https://github.com/idxport/idxport/blob/main/docs/cli.md for all of them.`

const convertExamples = `  idxport convert ./fashion-mnist -o out --to parquet,arrow,csv,png
  idxport convert ./mnist -o 'mnist-{split}.parquet'
  idxport convert images-idx3-ubyte.gz labels-idx1-ubyte.gz -o train.csv.gz
  idxport convert ./mnist -o 'png={split}-images' --class-folders names
  idxport convert broken-idx3-ubyte --salvage -o repaired-idx3-ubyte.gz
  curl -s … | idxport convert - -o csv=-`

// convertCommand is `idxport convert`.
var convertCommand = command{
	name:     "convert",
	usage:    "convert IDX files to other formats, and most formats back to IDX",
	text:     convertUsage,
	examples: convertExamples,
	inputs:   true,
	run: func(ctx context.Context, r *report) (err error) {
		r.Report, err = convert.Run(ctx, r.settings.Options)
		r.wroteAll()
		return err
	},
}
