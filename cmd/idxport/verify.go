package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/shell"
)

const verifyUsage = `idxport verify OUTPUT INPUT... [flags]

OUTPUT is a file, a folder of images or of part files, or a folder of several splits, in any format
but tar. It is compared with what convert would make of INPUT. Give the flags again with which it
was made (--transpose, --rows, …). If a Parquet or Arrow file was made with others, the hint shows
what it records of them.

The exit code is 0 if all values are equal, and 1 if any differs; the first difference and the
number of differences are printed.`

// verifyCommand is `idxport verify`.
var verifyCommand = command{
	name:   "verify",
	usage:  "compare an output with its inputs, value by value",
	text:   verifyUsage,
	inputs: true,
	run: func(ctx context.Context, r *report) (err error) {
		s := r.settings
		switch len(s.Inputs) {
		case 0:
			return usagef("no output and no input").WithHint("give both, such as " +
				"idxport verify out/train.parquet ./mnist, once idxport convert ./mnist -o out has made it")
		case 1:
			return usagef("found one path, expected an output and its inputs").
				WithHint("idxport verify %s ./mnist", shell.Path(s.Inputs[0]))
		}
		output := s.Inputs[0]
		s.Inputs = s.Inputs[1:]
		r.Report, err = convert.Verify(ctx, output, s.Source, s.View)
		for _, v := range r.Verified {
			equal := display.Count(v.Rows, "row") + " equal: " + strings.Join(v.Columns, ", ")
			r.print("verified", filepath.ToSlash(strings.Join(v.Paths, ", ")), equal)
		}
		return err
	},
}
