// Command idxport converts IDX files, the format of MNIST and its relatives, to Arrow IPC, Parquet,
// CSV, NumPy, PNG folders and WebDataset tars, and all of these except tar back to IDX.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v3"

	"github.com/idxport/idxport/pipeline"
)

func main() {
	if os.Getenv("GOMEMLIMIT") == "" { // buffers are freed soon, instead of when the heap has doubled
		debug.SetMemoryLimit(64 << 20)
	}
	os.Exit(run(append([]string{"idxport"}, os.Args[min(1, len(os.Args)):]...), os.Stdin, os.Stdout, os.Stderr))
}

// run is the program; it returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	log.SetOutput(io.Discard) // package http logs what servers send too much
	ctx, stop := withSignals(context.Background())
	defer stop()
	r := newReport(commandOf(args[1:]), stdin, stdout, stderr)
	if last := len(args) - 1; last > 0 && args[last] == completionFlag { // before anything interprets the words
		_ = r.library(true).Run(ctx, args) // an error would appear in the line that the user is typing
		return exitOK
	}
	r.settings.JSON = slices.Contains(args, "--json")
	return r.end(ctx, pipeline.Recover(func() error { return start(ctx, r, args) }))
}

// start prints help, or runs a command.
func start(ctx context.Context, r *report, args []string) error {
	if name, all, asked := helpAsked(args[1:]); asked {
		err := printHelp(r.stdout, name, all)
		r.settings.JSON = r.settings.JSON && err != nil
		return err
	}
	if len(args) == 2 && (args[1] == "--version" || args[1] == "-v") {
		args = []string{args[0], "version"}
	}
	if strings.HasPrefix(args[1], "-") {
		return usagef("unknown flag %s", args[1]).WithHint("flags follow the command: see idxport --help")
	}
	if _, err := commandNamed(args[1]); err != nil {
		return err
	}
	return r.library(false).Run(ctx, args)
}

// library returns the commands for package cli, which calls the one that was named or, if completes
// is set, lists what can follow. Flags are added only for that list; in a run, parse reads them.
func (r *report) library(completes bool) *cli.Command {
	root := &cli.Command{Name: "idxport", HideHelp: true, EnableShellCompletion: completes,
		Reader: r.stdin, Writer: r.stdout, ErrWriter: r.stderr,
		ExitErrHandler: func(context.Context, *cli.Command, error) {}} // it would exit by itself
	for _, c := range commands() {
		command := &cli.Command{Name: c.name, Usage: c.usage, HideHelp: true, SkipFlagParsing: true,
			Action: func(ctx context.Context, l *cli.Command) error { return c.start(ctx, r, l.Args().Slice()) }}
		if completes {
			for _, f := range flagsOf(c.name) {
				command.Flags = append(command.Flags, &cli.BoolFlag{Name: f.name, Usage: f.usage})
			}
			command.Flags = append(command.Flags, &cli.BoolFlag{Name: "help", Usage: "show help"})
		}
		root.Commands = append(root.Commands, command)
	}
	return root
}

// withSignals returns a context that the first SIGINT, SIGTERM or SIGHUP cancels; a second ends the
// program at once. Writing to a closed pipe becomes an error, so that other outputs are discarded.
func withSignals(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	caught := make(chan os.Signal, 1)
	for s := range signalNames {
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
			cancel(signalError{s.(syscall.Signal)}) // as all of signalNames are
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(caught)
		cancel(nil)
	}
}
