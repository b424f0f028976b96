package main

import (
	"context"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/shell"
)

const previewUsage = `idxport preview INPUT... [-o SHEET] [flags]

INPUT is as in convert. Without -o, the first images of each split are drawn on standard output, with their labels below: in colours on a
terminal, else with letters. With -o, a contact sheet is made: a PNG file with the first images of each class in a line, or the first images
in lines where there are no labels. SHEET is a file that ends with .png, a folder that gets one sheet for each split, or - for standard output.

Reading stops when all images are found. Values that are not bytes are shown from the smallest, black, to the largest, white. With --json, the object
is on standard error, as the picture is on standard output; with -o SHEET it is on standard output.`

const previewExamples = `Examples:
   idxport preview ./fashion-mnist
   idxport preview ./fashion-mnist -o 'fashion-{split}.png'
   idxport preview ./mnist --split test -o digits.png --images 20 --scale 1
   idxport preview photos-idx4-ubyte --channels first --rows 100:`

// Bounds of what is shown.
const (
	maxImages = 10_000
	maxScale  = 64
)

// previewCommand is `idxport preview`.
func (p *program) previewCommand() *cli.Command {
	return p.command(&cli.Command{
		Name:        "preview",
		Usage:       "show the images, on the terminal or on a contact sheet",
		UsageText:   previewUsage,
		Description: previewExamples,
	}, func(ctx context.Context, _ *cli.Command, s *settings, r *report) error {
		sheet, err := parseSheets(s)
		if err != nil {
			return err
		}
		r.dataOnStdout = r.dataOnStdout || sheet == nil
		return p.preview(ctx, s, sheet, r)
	})
}

// A sheetArg is the -o argument of preview.
type sheetArg struct {
	path   string // with {split} and the like
	folder bool   // that gets one sheet for each split
}

// parseSheets understands the -o arguments of preview. There is no sheet without any.
func parseSheets(s *settings) (*sheetArg, error) {
	switch {
	case len(s.Outputs) > 1:
		return nil, usagef("%d outputs, expected at most one sheet", len(s.Outputs)).WithHint("{split} in its name is filled in: -o 'sheet-{split}.png'")
	case len(s.Outputs) == 1:
		return parseSheet(s.Outputs[0])
	case s.Overwrite:
		return nil, usagef("--overwrite is for sheets, but there is no -o")
	}
	return nil, nil
}

// parseSheet understands the -o argument of preview.
func parseSheet(arg string) (*sheetArg, error) {
	if arg == "" {
		return nil, usagef("-o is empty")
	}
	f, path, named, err := convert.CutFormat(convert.LocalPath(arg))
	switch {
	case err != nil:
		return nil, err
	case object.IsURL(path):
		return nil, usagef("preview writes no objects").WithHint("write a local file")
	case named && f.Name != "png":
		return nil, usagef("-o %s: a sheet is a PNG file", arg).WithHint("write -o png=%s; idxport convert writes the data in other formats", path)
	case named || path == convert.Stdio:
		return &sheetArg{path: path}, nil
	}
	ext := convert.Extension(path)
	switch {
	case convert.IsFolder(path) || ext == "":
		return &sheetArg{path: path, folder: true}, nil
	case !strings.EqualFold(ext, ".png"):
		return nil, usagef("-o %s: a sheet is a PNG file, found the ending %s", arg, ext).
			WithHint("write -o %s; idxport convert writes the data in other formats", shell.Path(strings.TrimSuffix(strings.TrimSuffix(arg, ext), ".png")+".png"))
	}
	return &sheetArg{path: path}, nil
}
