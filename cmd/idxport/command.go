package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/source/dataset"
)

// reporting parses the words after the command, calls f with a report that has these settings, and
// shows how f ended.
func (p *program) reporting(ctx context.Context, command string, f func(*report) error) error {
	r := p.newReport(command)
	err := pipeline.Recover(func() error {
		if err := r.settings.parse(command, p.words); err != nil {
			return err
		}
		if len(r.settings.Inputs) == 0 && command != "verify" {
			return usagef("no input").WithHint("give a folder or files: idxport %s ./mnist%s", command, map[string]string{"convert": " -o out"}[command])
		}
		r.settings.Stdin, r.settings.Stdout, r.settings.Events = p.stdin, p.stdout, r.events()
		r.Report = convert.NewReport(r.settings.Events)
		return f(r)
	})
	if errors.Is(err, context.Canceled) && ctx.Err() != nil { // say which signal it was
		err = context.Cause(ctx)
	}
	return r.end(err)
}

// command sets the action of c, which calls do and reports the outcome.
func (p *program) command(c *cli.Command, do func(context.Context, *settings, *report) error) *cli.Command {
	c.HideHelp = true
	c.Action = func(ctx context.Context, c *cli.Command) error {
		return p.reporting(ctx, c.Name, func(r *report) error { return do(ctx, r.settings, r) })
	}
	return c
}

// commandOf returns the first argument that is not a flag, or "".
func commandOf(args []string) string {
	for _, a := range args[min(1, len(args)):] {
		if !strings.HasPrefix(a, "-") {
			return a
		}
	}
	return ""
}

// unknownCommand returns the error for a name that no command of root has.
func unknownCommand(root *cli.Command, name string) error {
	if _, err := os.Stat(name); err == nil {
		return usagef("unknown command %q", name).WithHint("begin with the command: idxport convert %s -o out", shell.Path(name))
	}
	var names []string
	for _, c := range root.Commands {
		names = append(names, c.Name)
	}
	advice := dataset.DidYouMean(name, append(names, "help"))
	return usagef("unknown command %q", name).WithHint("%s", cmp.Or(advice, "the commands are "+strings.Join(names, ", ")))
}

// plainCommand returns a command without flags, which calls print with its arguments, at most
// limit.
func (p *program) plainCommand(name, text, usage string, limit int, print func(arguments []string) error) *cli.Command {
	return &cli.Command{
		Name:      name,
		Usage:     usage,
		UsageText: text,
		HideHelp:  true,
		Action: func(context.Context, *cli.Command) error {
			var s settings
			if err := s.parse(name, p.words); err != nil {
				return err
			}
			if len(s.Inputs) > limit {
				return usagef("unexpected argument %q", s.Inputs[limit]).WithHint("usage: %s", text)
			}
			return print(s.Inputs)
		},
	}
}

// dash returns s, or a dash if it is empty.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
