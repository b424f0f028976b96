package main

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"

	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/source/dataset"
)

// A command is one of the commands of the program.
type command struct {
	name, usage string // usage says what it does, for the list of commands
	text        string // its usage line, and a description after an empty line
	examples    string
	// inputs is set if the command has flags and reads inputs. The others print something, and have
	// at most so many arguments.
	inputs    bool
	arguments int
	run       func(context.Context, *report) error
}

// commandNamed returns the command of all that has the name.
func commandNamed(all []command, name string) (command, error) {
	i := slices.IndexFunc(all, func(c command) bool { return c.name == name })
	if i < 0 {
		return command{}, unknownCommand(all, name)
	}
	return all[i], nil
}

// start parses the words after the command and runs it.
func (c command) start(ctx context.Context, r *report, words []string) error {
	s := r.settings
	s.JSON = s.JSON && !c.inputs // those that read inputs have the flag
	err := s.parse(c.name, words)
	switch {
	case err != nil:
		return err
	case !c.inputs && len(s.Inputs) > c.arguments:
		return usagef("unexpected argument %q", s.Inputs[c.arguments]).WithHint("usage: %s", c.text)
	case c.inputs && len(s.Inputs) == 0 && c.name != "verify":
		output := map[string]string{"convert": " -o out"}[c.name]
		return usagef("no input").WithHint("give a folder or files: idxport %s ./mnist%s", c.name, output)
	}
	s.Stdin, s.Stdout, s.Events = r.program.stdin, r.program.stdout, r.events()
	return c.run(ctx, r)
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

// unknownCommand returns the error for a name that no command of all has.
func unknownCommand(all []command, name string) error {
	if _, err := os.Stat(name); err == nil {
		return usagef("unknown command %q", name).
			WithHint("begin with the command: idxport convert %s -o out", shell.Path(name))
	}
	var names []string
	for _, c := range all {
		names = append(names, c.name)
	}
	advice := dataset.DidYouMean(name, append(names, "help"))
	advice = cmp.Or(advice, "the commands are "+strings.Join(names, ", "))
	return usagef("unknown command %q", name).WithHint("%s", advice)
}
