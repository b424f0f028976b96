package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"github.com/urfave/cli/v3"

	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/source/dataset"
)

// run is the whole program: it returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := withSignals(context.Background())
	defer stop()
	p := &program{stdin: stdin, stdout: stdout, stderr: stderr}
	if len(args) > 1 && args[1] == completeCommand { // before anything looks into the words that are to be completed
		return p.complete(p.root(), args[2:])
	}
	root := p.root()
	help := bufio.NewWriter(stdout) // the library ignores errors: Flush returns the first
	root.Writer = help
	line := usual(args)
	err := checkValues(line)
	if err == nil {
		err = root.Run(ctx, line)
	}
	if errors.As(err, new(cli.ExitCoder)) { // help for a command that there is not
		err = unknownCommand(root, line[1])
	}
	if ferr := help.Flush(); err == nil {
		err = ferr
	}
	if err == nil {
		return exitOK
	}
	var done reported
	if !errors.As(err, &done) { // found before a command began
		r := p.newReport(commandOf(args))
		r.asked.json = slices.Contains(args, "--json")
		i := slices.Index(args, "--log-format")
		if slices.Contains(args, "--log-format=json") || i >= 0 && i+1 < len(args) && args[i+1] == "json" {
			r.asked.logFormat = "json"
		}
		errors.As(r.end(err), &done)
	}
	return done.code
}

// usual rewrites what users of other programs type into commands of ours: help, help COMMAND,
// --version; and it leaves only the command where help is asked for, as the library takes a word
// beside --help for the name of a topic.
func usual(args []string) []string {
	options := args
	if i := slices.Index(args, "--"); i >= 0 {
		options = args[:i]
	}
	command := commandOf(args)
	switch {
	case command == "help":
		if topic := commandOf(args[slices.Index(args, command):]); topic != "" && topic != command {
			return []string{args[0], topic, "--help"}
		}
		return []string{args[0], "--help"}
	case command != "" && (slices.Contains(options, "--help") || slices.Contains(options, "-h")):
		return []string{args[0], command, "--help"}
	case len(args) == 2 && (args[1] == "--version" || args[1] == "-v"):
		return []string{args[0], "version"}
	}
	return args
}

// checkValues refuses a flag as the value of another, as in -o --overwrite: the value was
// forgotten. Numbers such as -100: are none.
func checkValues(args []string) error {
	taking := map[string]bool{}
	for _, f := range flagsOf(commandOf(args)) {
		for _, name := range strings.Fields(f.name) {
			taking[strings.Repeat("-", min(len(name), 2))+name] = !f.isSwitch()
		}
	}
	for i := 1; i+1 < len(args) && args[i] != "--"; i++ {
		flag, value := args[i], args[i+1]
		if !taking[flag] {
			continue
		}
		if i++; len(value) > 1 && value[0] == '-' && !unicode.IsDigit(rune(value[1])) {
			return usagef("%s took %q as its value", flag, value).WithHint("give it a value; a path that begins so is written %s %s", flag, shell.Path("./"+value))
		}
	}
	return nil
}

// commandOf is the first argument that is no flag.
func commandOf(args []string) string {
	for _, a := range args[min(1, len(args)):] {
		if !strings.HasPrefix(a, "-") {
			return a
		}
	}
	return ""
}

// root is the command `idxport` with its subcommands.
func (p *program) root() *cli.Command {
	root := &cli.Command{
		Name:  "idxport",
		Usage: "convert IDX files (MNIST and its relatives) to Parquet, Arrow, CSV, PNG folders, WebDataset and NumPy, and back",
		UsageText: `idxport convert ./fashion-mnist -o out --to parquet,arrow,csv,png
idxport inspect ./fashion-mnist
idxport COMMAND --help`,
		Commands: []*cli.Command{p.convertCommand(), p.verifyCommand(), p.planCommand(), p.commitCommand(), p.statusCommand(),
			p.abortCommand(), p.inspectCommand(), p.previewCommand(), p.formatsCommand(), p.datasetsCommand(), p.versionCommand(), p.completionCommand()},
		HideHelpCommand: true, // so that a file called "help" is a file
		HideVersion:     true,
		Suggest:         true,
		Reader:          p.stdin,
		Writer:          p.stdout,
		ErrWriter:       p.stderr,
		// The library would exit by itself: leave that to main.
		ExitErrHandler: func(context.Context, *cli.Command, error) {},
		OnUsageError: func(ctx context.Context, c *cli.Command, err error, sub bool) error {
			if c.Args().Present() { // the flags are of a command that there is not
				return unknownCommand(c, c.Args().First())
			}
			return onUsageError(ctx, c, err, sub)
		},
		Action: func(_ context.Context, c *cli.Command) error {
			if c.Args().Present() {
				return unknownCommand(c, c.Args().First())
			}
			return cli.ShowRootCommandHelp(c)
		},
	}
	for _, c := range root.Commands {
		c.DisableSliceFlagSeparator = true // a path may have commas; of the root's the library takes no notice here. Only --to splits at commas
	}
	return root
}

// unknownCommand is the error for a name that no command of root has.
func unknownCommand(root *cli.Command, name string) error {
	var names []string
	for _, c := range root.VisibleCommands() {
		names = append(names, c.Name)
	}
	advice := fmt.Sprintf("%s the commands are %s", dataset.DidYouMean(name, append(names, "help")), strings.Join(names, ", "))
	return usagef("unknown command %q", name).WithHint("%s", strings.TrimSpace(advice))
}

// withSignals cancels the context at the first SIGINT, SIGTERM or SIGHUP; a second one ends the
// program at once, as if it was not caught. A closed pipe becomes an ordinary write error, so that
// outputs beside it are discarded.
func withSignals(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	caught := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // nohup starts programs so, and a shell without job control its background jobs: Ctrl-C is not meant for them
			signal.Notify(caught, s)
		}
	}
	signal.Ignore(syscall.SIGPIPE)
	go func() {
		select {
		case s := <-caught:
			signal.Stop(caught)
			if n, ok := s.(syscall.Signal); ok {
				cancel(signalError{n})
			}
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(caught)
		cancel(nil)
	}
}
