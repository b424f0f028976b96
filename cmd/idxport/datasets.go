package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v3"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/source/dataset"
)

// datasetsCommand is `idxport datasets`.
func (p *program) datasetsCommand() *cli.Command {
	return &cli.Command{
		Name:            "datasets",
		Usage:           "list the published data sets that are known, or the class names of one",
		UsageText:       "idxport datasets [NAME]",
		HideHelpCommand: true,
		OnUsageError:    onUsageError,
		Action: func(_ context.Context, c *cli.Command) error {
			switch c.Args().Len() {
			case 0:
				return p.printDatasets()
			case 1:
				return p.printDataset(c.Args().First())
			}
			return usagef("%d data sets, expected one name", c.Args().Len())
		},
	}
}

func (p *program) printDatasets() error {
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "DATASET\tSPLITS\tIMAGE\tCLASSES\tTITLE")
	for _, d := range dataset.Known() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", d.Name, splitsText(d), display.Shape(d.ImageShape), len(d.Classes)-d.FirstLabel, d.Title)
	}
	fmt.Fprintln(w, "\nThe data set is told from unmistakable file names or the sha256 of the labels; --dataset NAME says it, --dataset none turns it off.")
	return w.Flush()
}

// printDataset shows all that is known of one data set.
func (p *program) printDataset(name string) error {
	d, err := dataset.Lookup(name)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "dataset\t%s\ntitle\t%s\nsplits\t%s\nimage\t%s\n", d.Name, d.Title, splitsText(d), display.Shape(d.ImageShape))
	if d.Transposed {
		fmt.Fprintln(w, "stored\ttransposed; idxport turns the images upright")
	}
	if d.LabelColumns != nil {
		fmt.Fprintf(w, "label columns\t%s\n", strings.Join(d.LabelColumns, ", "))
	}
	fmt.Fprintf(w, "license\t%s\nhomepage\t%s\n", dash(d.License), d.Homepage)
	for label, class := range d.Classes {
		if class != "" {
			fmt.Fprintf(w, "class %d\t%s\n", label, class)
		}
	}
	return w.Flush()
}

func splitsText(d dataset.Info) string {
	var parts []string
	for _, s := range d.Splits {
		parts = append(parts, fmt.Sprintf("%s %d", s.Name, s.Records))
	}
	return strings.Join(parts, ", ")
}
