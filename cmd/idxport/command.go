package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v3"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/source/dataset"
)

// reporting parses the flags of c, calls f with a report that has these settings, and shows how f
// ended.
func (p *program) reporting(ctx context.Context, c *cli.Command, f func(*report) error) error {
	r := p.newReport(c.Name)
	err := pipeline.Recover(func() error {
		if err := parse(c, r.settings); err != nil {
			return err
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

// command sets the flags of c, and its action, which calls do and reports the outcome.
func (p *program) command(c *cli.Command, do func(context.Context, *cli.Command, *settings, *report) error) *cli.Command {
	c.Flags, c.HideHelp, c.OnUsageError = cliFlags(c.Name), true, onUsageError
	c.Action = func(ctx context.Context, c *cli.Command) error {
		return p.reporting(ctx, c, func(r *report) error { return do(ctx, c, r.settings, r) })
	}
	return c
}

// badValue matches the library's error for an invalid value of a flag.
var badValue = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)^invalid value (".*") for flag -+([a-z-]+): (?:strconv\.)?(\w+)`)
})

// onUsageError rewrites the library's errors.
func onUsageError(_ context.Context, c *cli.Command, err error, _ bool) error {
	if name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); ok {
		return unknownFlag(c, name)
	}
	text := strings.Replace(err.Error(), "flag needs an argument: ", "missing value after ", 1)
	if m := badValue().FindStringSubmatch(text); m != nil {
		if m[3] == "can" { // "can't duplicate this flag"
			return usagef("--%s is given twice", m[2]).WithHint("give it once%s", map[string]string{"to": ", with commas: --to csv,parquet", "columns": ", with commas: --columns label,image"}[m[2]])
		}
		expected := "true or false"
		if m[3] == "ParseInt" {
			expected = "a whole number"
			if strings.Contains(text, "out of range") {
				expected = "a smaller number"
			}
		}
		text = fmt.Sprintf("--%s %s, expected %s", m[2], m[1], expected)
	}
	return usagef("%s", text).WithHint("see %s --help", c.FullName())
}

// otherNames maps flag names of other programs to ours.
var otherNames = map[string]string{"format": "--to", "force": "--overwrite", "replace": "--overwrite", "file-size": "--rows-per-file", "log-format": "--json", "limit": "--take", "head": "--take", "val-split": "--holdout", "validation-split": "--holdout", "test-size": "--holdout", "random-seed": "--seed", "filter": "--where", "range": "--rows",
	"output-dir": "--output", "outdir": "--output", "compress": "--compression", "repair": "--salvage", "recover": "--salvage", "threads": "--workers", "jobs": "--workers", "silent": "--quiet", "select": "--columns", "usecols": "--columns"}

// commandsWith returns the names of the commands that have a flag called name: "convert, verify".
func commandsWith(commands []*cli.Command, name string) string {
	var names []string
	for _, c := range commands {
		if slices.ContainsFunc(flagsOf(c.Name), func(f flagSpec) bool { return f.long() == name }) {
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, ", ")
}

// unknownFlag returns the error for a name that no flag of c has.
func unknownFlag(c *cli.Command, name string) error {
	var words, short []string
	names := []string{"--help", "--help-all"}
	for _, f := range flagsOf(c.Name) {
		names = append(names, "--"+f.long())
		short = append(short, f.spellings()[1:]...)
	}
	if name == "" { // --=x
		return usagef("a flag has no name").WithHint("see %s --help", c.FullName())
	}
	if name == "help" { // --help=x
		return usagef("--help takes no value").WithHint("for all flags: %s --help-all", c.FullName())
	}
	if letters := strings.Join(short, ""); len(name) == 2 && strings.Trim(name, letters) == "" { // -qo
		return usagef("unknown flag -%s", name).WithHint("short flags cannot be combined: write them one by one")
	}
	if len(name) == 1 && short != nil {
		return usagef("unknown flag -%s", name).WithHint("the short flags are %s, -h", strings.Join(short, ", "))
	}
	if len(names) == 2 && c.Root() != c {
		return usagef("unknown flag %s%s", strings.Repeat("-", min(2, len(name))), name).WithHint("%s has no flags but --help", c.FullName())
	}
	if len(name) == 1 || c.Root() == c {
		return usagef("unknown flag %s%s", strings.Repeat("-", min(2, len(name))), name).WithHint("flags follow the command: see %s --help", c.FullName())
	}
	if hint := convert.Alternative(name); hint != "" && (name != "sample" || slices.Contains(names, "--take")) {
		return usagef("unknown flag --%s", name).WithHint("%s", hint)
	}
	if commands := commandsWith(c.Root().Commands, name); commands != "" {
		return usagef("unknown flag --%s", name).WithHint("it is a flag of %s", commands)
	}
	for word, ours := range otherNames {
		if slices.Contains(names, ours) {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	advice := dataset.DidYouMean(name, names)
	if plain, ok := strings.CutPrefix(name, "no-"); ok && slices.Contains(names, "--"+plain) {
		off := map[string]string{"transpose": "--transpose=false", "compression": "--compression none", "header": "--header no", "progress": "--progress never", "dataset": "--dataset none"}
		advice = "leave out --" + plain
		if instead, ok := off[plain]; ok {
			advice = "write " + instead
		}
	} else if word := dataset.Nearest(name, words); word != "" && (advice == "" || word == name) {
		advice = "did you mean " + otherNames[word] + "?"
	}
	return usagef("unknown flag --%s", name).WithHint("%s", cmp.Or(advice, "see "+c.FullName()+" --help"))
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

// plainCommand returns a command without flags, which calls print.
func plainCommand(name, text, usage string, print func(*cli.Command) error) *cli.Command {
	return &cli.Command{
		Name:         name,
		Usage:        usage,
		UsageText:    text,
		HideHelp:     true,
		OnUsageError: onUsageError,
		Action:       func(_ context.Context, c *cli.Command) error { return print(c) },
	}
}

// noArguments returns an error if c has arguments.
func noArguments(c *cli.Command) error {
	if c.Args().Present() {
		return usagef("unexpected argument %q", c.Args().First()).WithHint("%s takes none", c.FullName())
	}
	return nil
}

// dash returns s, or a dash if it is empty.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
