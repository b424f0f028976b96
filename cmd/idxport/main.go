// Command idxport converts IDX files, the format of MNIST and its relatives, to Arrow IPC, Parquet,
// CSV, NumPy, PNG folders and WebDataset tars, and all of these except tar back to IDX.
package main

import (
	"context"
	"errors"
	"io"
	"maps"
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
	if err := checkValues(args); err != nil {
		return err
	}
	return root.Run(ctx, args)
}

// checkValues returns an error if what follows a flag begins with a hyphen, as in -o --overwrite:
// it is taken for another flag instead of the value. Numbers, such as "-100:" for --rows, are
// values. It is also an error if no space follows -o, as in -oFILE.
func checkValues(args []string) error {
	placeholders := map[string]string{} // the placeholder of each flag's value, "" for a switch
	for _, f := range flagsOf(commandOf(args)) {
		for _, name := range f.spellings() {
			placeholders[name] = f.placeholder
		}
	}
	for i := 1; i+1 < len(args) && args[i] != "--"; i++ {
		flag, value := args[i], args[i+1]
		if placeholders[flag] != "" && len(value) > 1 && value[0] == '-' && !unicode.IsDigit(rune(value[1])) {
			e := usagef("%s is followed by %q, expected a value", flag, value)
			if slices.Contains([]string{"OUT", "FILE", "SHEET"}, placeholders[flag]) {
				return e.WithHint("a path that begins with - is written %s %s", flag, shell.Path("./"+value))
			}
			return e.WithHint("a value that begins with - is written %s=%s", flag, shell.Quote(value))
		}
	}
	for _, arg := range args[1:] {
		if arg == "--" {
			break
		}
		value, joined := strings.CutPrefix(arg, "-o")
		name, _, _ := strings.Cut(arg, "=")
		if joined && placeholders["-o"] != "" && name != "-o" && dataset.DidYouMean(name, slices.Collect(maps.Keys(placeholders))) == "" {
			return usagef("unknown flag %s", arg).WithHint("write -o %s", shell.Path(value))
		}
	}
	return nil
}

// root is the command `idxport` with its subcommands.
func (p *program) root() *cli.Command {
	root := &cli.Command{
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
		OnUsageError: func(ctx context.Context, c *cli.Command, err error, sub bool) error {
			if c.Args().Present() { // an unknown command, followed by flags
				return unknownCommand(c, c.Args().First())
			}
			return onUsageError(ctx, c, err, sub)
		},
		Action: func(_ context.Context, c *cli.Command) error {
			return unknownCommand(c, c.Args().First())
		},
	}
	for _, c := range root.Commands {
		// A path may have commas: --to and --columns are split by their own parsers. The library
		// ignores the root's setting.
		c.DisableSliceFlagSeparator = true
	}
	return root
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
