// Command idxport converts IDX files, the format of MNIST and its relatives, to Arrow IPC, Parquet,
// CSV, NumPy, PNG folders and WebDataset tars, and all of these except tar back to IDX.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v3"
)

func main() {
	os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr))
}

// run is the program; it returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := withSignals(context.Background())
	defer stop()
	p := &program{stdin: stdin, stdout: stdout, stderr: stderr}
	if len(args) > 1 && args[1] == completeCommand { // before anything interprets the words to complete
		return p.complete(p.root(), args[2:])
	}
	root := p.root()
	err := p.start(ctx, root, args)
	if err == nil {
		return exitOK
	}
	var done reported
	if !errors.As(err, &done) { // no command began
		r := p.newReport(commandOf(args))
		r.settings.json = slices.Contains(args, "--json")
		errors.As(r.end(err), &done)
	}
	return done.code
}

// start prints help, or runs a command.
func (p *program) start(ctx context.Context, root *cli.Command, args []string) error {
	if command, all, asked := helpAsked(args); asked {
		return p.help(root, command, all)
	}
	if len(args) == 2 && (args[1] == "--version" || args[1] == "-v") {
		args = []string{args[0], "version"}
	}
	switch c := root.Command(args[1]); {
	case strings.HasPrefix(args[1], "-"):
		return usagef("unknown flag %s", args[1]).WithHint("flags follow the command: see idxport --help")
	case c == nil:
		return unknownCommand(root, args[1])
	}
	p.words = args[2:]
	return root.Run(ctx, args[:2]) // the library does not see the flags, which parse reads
}

// root is the command `idxport` with its subcommands.
func (p *program) root() *cli.Command {
	return &cli.Command{
		Name:      "idxport",
		Usage:     "convert IDX files (MNIST and its relatives) to Parquet, Arrow, CSV, NumPy, PNG folders and WebDataset tars, and all of these except tar back to IDX",
		UsageText: "idxport COMMAND [flags]",
		Description: `  idxport convert ./fashion-mnist -o out --to parquet,arrow,csv,png
  idxport inspect ./fashion-mnist
  idxport preview ./fashion-mnist`,
		Commands: []*cli.Command{p.convertCommand(), p.verifyCommand(),
			p.inspectCommand(), p.previewCommand(), p.formatsCommand(), p.datasetsCommand(), p.versionCommand(), p.completionCommand()},
		HideHelp:  true, // start prints it
		Reader:    p.stdin,
		Writer:    p.stdout,
		ErrWriter: p.stderr,
		// The library would exit by itself: leave that to main.
		ExitErrHandler: func(context.Context, *cli.Command, error) {},
	}
}

// withSignals returns a context that the first SIGINT, SIGTERM or SIGHUP cancels; a second one ends
// the program at once. Writing to a closed pipe becomes an ordinary error, so that other outputs
// are discarded.
func withSignals(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	caught := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		// nohup starts a program with SIGHUP ignored, and a shell without job control starts
		// background jobs with SIGINT ignored; that stays so.
		if !signal.Ignored(s) {
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
