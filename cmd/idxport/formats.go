package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v3"

	"github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/sink/layout"
)

// formatsCommand is `idxport formats`.
func (p *program) formatsCommand() *cli.Command {
	return &cli.Command{
		Name:            "formats",
		Usage:           "list the output formats, their layouts and CSV styles",
		UsageText:       "idxport formats",
		HideHelpCommand: true,
		OnUsageError:    onUsageError,
		Action: func(_ context.Context, c *cli.Command) error {
			if err := noArguments(c); err != nil {
				return err
			}
			return p.printFormats()
		},
	}
}

// noArguments refuses arguments of commands that take none.
func noArguments(c *cli.Command) error {
	if c.Args().Present() {
		return usagef("unexpected argument %q", c.Args().First()).WithHint("%s takes none", c.FullName())
	}
	return nil
}

func (p *program) printFormats() error {
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FORMAT\tENDS IN\tCOMPRESSION\tLAYOUTS\tWHAT")
	for _, f := range formats.All() {
		ends := strings.Join(append([]string{f.Extension}, f.Also...), " ")
		codecs := strings.Join(f.Codecs, " ")
		if f.Wrapped {
			ends, codecs = ends+" (+ .gz .zst)", "by ending"
		}
		if f.Folder {
			ends = "(-o " + f.Name + "=DIR)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", f.Name, ends, dash(codecs), dash(strings.Join(f.Layouts, " ")), f.Title)
	}
	fmt.Fprintln(w, "\nLAYOUT\tA TENSOR BECOMES\tFOR")
	for _, name := range layout.Names() {
		l, err := layout.Get(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", l.Name, l.Title, l.Readers)
	}
	fmt.Fprintln(w, "\nCSV STYLE\tLINES")
	for _, s := range csv.Styles() {
		fmt.Fprintf(w, "%s\t%s\n", s.Name, s.Description)
	}
	return w.Flush()
}

// dash is s, or a dash if it is empty.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
