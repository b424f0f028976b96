package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/display"
)

const verifyUsage = `idxport verify OUTPUT INPUT... [flags]

Compares OUTPUT, value by value, with the table that INPUT makes, as in convert. OUTPUT is a table in any format but tar: a file, or a folder of
images or of parts; or a folder of several splits, which must be those of INPUT, or those that --split names.
What was done to the data when OUTPUT was made (--transpose, --invert, --rows, …) is taken from its metadata where it has some, as Parquet and Arrow do; give the same flags for other formats.

The exit code is 0 if all is equal, and 1 if something differs: the first value that does is named, and how many do.`

// verifyCommand is `idxport verify`.
func (p *program) verifyCommand() *cli.Command {
	return p.command(&cli.Command{
		Name:      "verify",
		Usage:     "compare an output with its inputs, value by value",
		UsageText: verifyUsage,
	}, func(ctx context.Context, _ *cli.Command, s *settings, r *report) (err error) {
		switch len(s.Inputs) {
		case 0:
			return usagef("no output and no input").WithHint("give both, such as idxport verify out/train.parquet ./mnist, once idxport convert ./mnist -o out has made it")
		case 1:
			return usagef("found one path, expected an output and its inputs").WithHint("idxport verify %s ./mnist", s.Inputs[0])
		}
		output := s.Inputs[0]
		s.Inputs = s.Inputs[1:]
		r.Report, err = convert.Verify(ctx, output, s.Source, s.View)
		for _, v := range r.Verified {
			r.tell("verified", fmt.Sprintf("%s  %s equal: %s", filepath.ToSlash(v.Path), display.Count(v.Rows, "row"), strings.Join(v.Columns, ", ")))
		}
		return err
	})
}
