package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/sink/formats"
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
	return &cli.Command{
		Name:            "preview",
		Usage:           "show the images, on the terminal or on a contact sheet",
		UsageText:       previewUsage,
		Description:     previewExamples,
		Flags:           previewFlags(),
		HideHelpCommand: true,
		OnUsageError:    onUsageError,
		Action: func(ctx context.Context, c *cli.Command) error {
			return p.reporting(ctx, c, func(r *report) error {
				o, err := parsePreview(c)
				if err != nil {
					return err
				}
				r.dataOnStdout = r.dataOnStdout || len(o.outputs) == 0
				return p.preview(ctx, o, r)
			})
		},
	}
}

// previewFlags are those of `idxport preview`: some of convert's, and its own.
func previewFlags() []cli.Flag {
	flags := append(inputFlags(),
		&cli.StringSliceFlag{Name: "output", Aliases: []string{"o"}, Category: aboutOutput, Usage: "make a contact sheet: `SHEET` is a file.png, a folder, or - for standard output"},
		&cli.IntFlag{Name: "images", Category: aboutOutput, Usage: "show `N` images: on a sheet, of each class (default 10), or in all if there are no labels (default 100); without -o, in all (default: a line)", HideDefault: true},
		&cli.IntFlag{Name: "scale", Category: aboutOutput, Usage: "draw every pixel `N` times as wide and high; default: on a sheet, small images about 64 pixels large", HideDefault: true},
	)
	for _, f := range convertFlags() {
		if slices.Contains([]string{"overwrite", "rows", "transpose", "invert", "channels", "label-column"}, f.Names()[0]) {
			flags = append(flags, f)
		}
	}
	return append(flags, slices.DeleteFunc(runFlags(), func(f cli.Flag) bool { return f.Names()[0] == "workers" })...)
}

// previewOptions are the validated flags of preview.
type previewOptions struct {
	convertOptions     // outputs holds the sheet, or nothing: then the picture goes to standard output
	images         int // 0: the default
	scale          int // 0: the default
}

// parsePreview validates the command line of preview.
func parsePreview(c *cli.Command) (*previewOptions, error) {
	in, err := parseInput(c)
	if err != nil {
		return nil, err
	}
	o := &previewOptions{convertOptions: convertOptions{inputOptions: in, overwrite: c.Bool("overwrite")}, images: c.Int("images"), scale: c.Int("scale")}
	if err := o.parseView(c); err != nil {
		return nil, err
	}
	if c.IsSet("images") && (o.images < 1 || o.images > maxImages) {
		return nil, usagef("--images %d, expected 1 to %d", o.images, maxImages)
	}
	if o.scale < 0 || o.scale > maxScale {
		return nil, usagef("--scale %d, expected 0 to %d", o.scale, maxScale)
	}
	outputs, err := o.takeAll(c.StringSlice("output"))
	if err != nil {
		return nil, err
	}
	switch {
	case len(outputs) > 1:
		return nil, usagef("%d outputs, expected at most one sheet", len(outputs)).WithHint("{split} in its name is filled in: -o 'sheet-{split}.png'")
	case len(outputs) == 1:
		var sheet outputArg
		sheet, err = parseSheet(outputs[0])
		o.outputs = []outputArg{sheet}
	case o.overwrite:
		err = usagef("--overwrite is for sheets, but there is no -o")
	}
	return o, err
}

// parseSheet understands the -o argument of preview.
func parseSheet(arg string) (outputArg, error) {
	o := outputArg{path: arg, formats: []formats.Format{sheetFormat()}}
	f, path, named, err := cutFormat(arg)
	switch {
	case arg == "":
		return o, usagef("-o is empty")
	case err != nil:
		return o, err
	case object.IsURL(path):
		return o, usagef("preview writes no objects").WithHint("write a local file")
	case named && f.Name != o.formats[0].Name:
		return o, usagef("-o %s: a sheet is a PNG file", arg).WithHint("write -o png=%s; idxport convert writes the data in other formats", path)
	case named:
		o.path, o.named = path, true
		return o, nil
	}
	o.container = arg != stdout && isFolder(arg)
	if ext := filepath.Ext(placeholder().ReplaceAllString(arg, "")); !o.container && arg != stdout && !strings.EqualFold(ext, o.formats[0].Extension) {
		if ext != "" {
			return o, usagef("-o %s: a sheet is a PNG file, found the ending %s", arg, ext).
				WithHint("write -o %s; idxport convert writes the data in other formats", shell.Path(strings.TrimSuffix(strings.TrimSuffix(arg, ext), ".png")+".png"))
		}
		o.container = true
	}
	return o, nil
}

// sheetFormat is what reports call sheets. It is no format of convert: a sheet does not hold the data.
func sheetFormat() formats.Format {
	return formats.Format{Name: "png", Extension: ".png", Images: true}
}
