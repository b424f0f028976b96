package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/urfave/cli/v3"
)

// version of the program; it is written into outputs, so the same version writes the same bytes.
const version = "0.1.0"

// A program is what the commands share: the standard streams. Tests give others.
type program struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
}

// run is the whole program: it returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := withSignals(context.Background())
	defer stop()
	p := &program{stdin: stdin, stdout: stdout, stderr: stderr}
	err := p.root().Run(ctx, usual(args))
	if err == nil {
		return exitOK
	}
	var done reported
	if !errors.As(err, &done) { // found before a command began
		r := p.newReport(commandOf(args))
		r.jsonOut = slices.Contains(args, "--json")
		i := slices.Index(args, "--log-format")
		r.jsonLog = slices.Contains(args, "--log-format=json") || i >= 0 && i+1 < len(args) && args[i+1] == "json"
		errors.As(r.end(err), &done)
	}
	return done.code
}

// usual rewrites what users of other programs type into commands of ours: help, help COMMAND, --version; and it leaves only the command where
// help is asked for, as the library takes a word beside --help for the name of a topic.
func usual(args []string) []string {
	options := args
	if i := slices.Index(args, "--"); i >= 0 {
		options = args[:i]
	}
	command := commandOf(args)
	switch {
	case command == "help" && len(args) > 2:
		return []string{args[0], commandOf(args[1:]), "--help"}
	case command == "help":
		return []string{args[0], "--help"}
	case command != "" && (slices.Contains(options, "--help") || slices.Contains(options, "-h")):
		return []string{args[0], command, "--help"}
	case len(args) == 2 && (args[1] == "--version" || args[1] == "-v"):
		return []string{args[0], "version"}
	}
	return args
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
			p.abortCommand(), p.inspectCommand(), p.previewCommand(), p.formatsCommand(), p.datasetsCommand(), p.versionCommand()},
		EnableShellCompletion: true,
		ConfigureShellCompletionCommand: func(c *cli.Command) {
			c.Hidden = false
			c.Usage = "print the completion script for bash, zsh, fish or pwsh"
			c.Action = func(_ context.Context, c *cli.Command) error {
				return usagef("no script for shell %q, expected bash, zsh, fish or pwsh", c.Args().First()).hint("for example: source <(idxport completion bash)")
			}
		},
		HideHelpCommand: true, // so that a file called "help" is a file
		HideVersion:     true,
		Suggest:         true,
		Reader:          p.stdin,
		Writer:          p.stdout,
		ErrWriter:       p.stderr,
		// The library would exit by itself: leave that to main.
		ExitErrHandler: func(context.Context, *cli.Command, error) {},
		OnUsageError:   onUsageError,
		Action: func(_ context.Context, c *cli.Command) error {
			if c.Args().Present() {
				name := c.Args().First()
				return usagef("unknown command %q", name).hint("the commands are %s", strings.Join(commandNames(c), ", "))
			}
			return cli.ShowRootCommandHelp(c)
		},
	}
	for _, c := range root.Commands {
		c.DisableSliceFlagSeparator = true // a path may have commas; of the root's the library takes no notice here. Only --to splits at commas
	}
	return root
}

func commandNames(c *cli.Command) []string {
	var names []string
	for _, sub := range c.VisibleCommands() {
		names = append(names, sub.Name)
	}
	return names
}

// badValue matches the library's error for a flag's value that cannot be read.
var badValue = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^invalid value (".*") for flag -+([a-z-]+): (?:strconv\.)?(\w+)`)
})

// onUsageError puts the library's errors into our words.
func onUsageError(_ context.Context, c *cli.Command, err error, _ bool) error {
	text := strings.Replace(err.Error(), "flag provided but not defined: -", "unknown flag --", 1)
	text = strings.Replace(text, "flag needs an argument: ", "missing value after ", 1)
	if m := badValue().FindStringSubmatch(text); m != nil {
		expected := "true or false"
		if m[3] == "ParseInt" {
			expected = "a whole number"
		}
		text = fmt.Sprintf("--%s %s, expected %s", m[2], m[1], expected)
	}
	return usagef("%s", text).hint("see %s --help", c.FullName())
}

// A signalError is the cause of a context that a signal cancelled.
type signalError struct{ signal syscall.Signal }

func (e signalError) Error() string { return fmt.Sprintf("interrupted (%v)", e.signal) }

// withSignals cancels the context at the first SIGINT or SIGTERM; a second one ends the program at once, as if it was not caught. A closed pipe
// becomes an ordinary write error, so that outputs beside it are discarded.
func withSignals(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	caught := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		if !signal.Ignored(s) { // a shell without job control starts its background jobs so: Ctrl-C is not meant for them
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
