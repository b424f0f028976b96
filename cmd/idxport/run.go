package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
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
	err := p.root().Run(ctx, args)
	var done reported
	if errors.As(err, &done) {
		return done.code
	}
	if err != nil {
		printError(stderr, err)
	}
	return exitCode(err)
}

// root is the command `idxport` with its subcommands.
func (p *program) root() *cli.Command {
	return &cli.Command{
		Name:  "idxport",
		Usage: "convert IDX files (MNIST and its relatives) to Parquet, Arrow, CSV and PNG folders, and back",
		UsageText: `idxport convert ./fashion-mnist -o out --to parquet,arrow,csv,png
idxport inspect ./fashion-mnist
idxport COMMAND --help`,
		Commands:              []*cli.Command{p.convertCommand(), p.inspectCommand(), p.formatsCommand(), p.datasetsCommand(), p.versionCommand()},
		EnableShellCompletion: true,
		ConfigureShellCompletionCommand: func(c *cli.Command) {
			c.Hidden = false
			c.Usage = "print the completion script for bash, zsh, fish or pwsh"
		},
		DisableSliceFlagSeparator: true, // only --to splits at commas
		HideHelpCommand:           true, // so that a file called "help" is a file
		HideVersion:               true,
		Suggest:                   true,
		Reader:                    p.stdin,
		Writer:                    p.stdout,
		ErrWriter:                 p.stderr,
		// The library would exit by itself: leave that to main.
		ExitErrHandler: func(context.Context, *cli.Command, error) {},
		OnUsageError:   onUsageError,
		Action: func(_ context.Context, c *cli.Command) error {
			if c.Args().Present() {
				name := c.Args().First()
				return usagef("unknown command %q", name).hint("did you mean %s? the commands are %s", cli.SuggestCommand(c.Commands, name), strings.Join(commandNames(c), ", "))
			}
			return cli.ShowRootCommandHelp(c)
		},
	}
}

func commandNames(c *cli.Command) []string {
	var names []string
	for _, sub := range c.VisibleCommands() {
		names = append(names, sub.Name)
	}
	return names
}

// onUsageError makes the library's errors ours.
func onUsageError(_ context.Context, c *cli.Command, err error, _ bool) error {
	text := strings.Replace(err.Error(), "flag provided but not defined: -", "unknown flag --", 1)
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
	signal.Notify(caught, syscall.SIGINT, syscall.SIGTERM)
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
