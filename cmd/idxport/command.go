package main

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/sinks"
	"github.com/idxport/idxport/internal/text"
)

// A command is one of the commands of the program.
type command struct {
	name, usage string // usage says what it does, for the list of commands
	synopsis    string // its arguments, after "idxport"
	help        string // its help after the usage: its synopsis, examples and a description
	run         func(context.Context, *report) error
}

// commandTable has the help of the program and of its commands: for each, a line with its name and
// its usage, and the rest of its help as it is printed.
//
//go:embed commands.txt
var commandTable string

// allCommands returns the entries of commandTable, the program first.
var allCommands = sync.OnceValue(func() (all []command) {
	run := map[string]func(context.Context, *report) error{"convert": runConvert, "verify": runVerify,
		"inspect": runInspect, "preview": runPreview, "formats": runFormats, "datasets": runDatasets,
		"version": runVersion, "completion": runCompletion}
	for entry := range strings.SplitSeq(strings.TrimPrefix(commandTable, "# "), "\n# ") {
		head, help, _ := strings.Cut(entry, "\n")
		name, usage, _ := strings.Cut(head, ": ")
		synopsis, _, _ := strings.Cut(strings.TrimPrefix(help, "Usage: idxport "), "\n")
		all = append(all, command{name, usage, synopsis, strings.TrimSpace(help), run[name]})
	}
	return all
})

func commands() []command { return allCommands()[1:] }

func commandNamed(name string) (command, error) {
	var names []string
	for _, c := range commands() {
		if c.name == name {
			return c, nil
		}
		names = append(names, c.name)
	}
	advice := cmp.Or(text.DidYouMean(name, append(names, "help")), "the commands are "+strings.Join(names, ", "))
	if _, err := os.Stat(name); err == nil {
		advice = fmt.Sprintf("begin with the command: idxport convert %s -o out", text.Path(name))
	}
	return command{}, usagef("unknown command %q", name).WithHint("%s", advice)
}

// start parses the words after the command and runs it. A command without flags reads no inputs: it
// prints something, and has as many arguments as its synopsis.
func (c command) start(ctx context.Context, r *report, words []string) error {
	s, prints := r.settings, len(flagsOf(c.name)) == 0
	s.JSON = s.JSON && prints // the others have the flag
	if err := s.parse(c.name, words); err != nil {
		return err
	}
	if most := len(strings.Fields(c.synopsis)) - 1; prints && len(s.Inputs) > most {
		return usagef("unexpected argument %q", s.Inputs[most]).WithHint("usage: idxport %s", c.synopsis)
	}
	s.Stdin, s.Stdout, s.Reported = r.stdin, r.stdout, s.JSON
	s.Events = convert.Events{Progress: r.progress, Message: r.message}
	return c.run(ctx, r)
}

// commandOf returns the first of the words after the program's name that is not a flag, or "".
func commandOf(words []string) string {
	for _, word := range words {
		if !strings.HasPrefix(word, "-") {
			return word
		}
	}
	return ""
}

func runConvert(ctx context.Context, r *report) (err error) {
	r.Report, err = convert.Run(ctx, r.settings.Options)
	r.wroteAll("row")
	return err
}

func runVerify(ctx context.Context, r *report) (err error) {
	s := r.settings
	if len(s.Inputs) < 2 {
		example := strings.Join(s.Inputs, "") // the output, if it is given
		return usagef("found %s, expected an output and its inputs", text.Count(len(s.Inputs), "path")).
			WithHint("give both, such as idxport verify %s ./mnist", text.Path(cmp.Or(example, "out/train.parquet")))
	}
	output := s.Inputs[0]
	s.Inputs = s.Inputs[1:]
	r.Report, err = convert.Verify(ctx, output, s.Source, s.View)
	for _, v := range r.Verified {
		r.say("verified", fmt.Sprintf("%s  %s equal: %s", filepath.ToSlash(strings.Join(v.Paths, ", ")),
			text.Count(v.Rows, "row"), strings.Join(v.Columns, ", ")), "")
	}
	return err
}

func runVersion(_ context.Context, r *report) error {
	build := "" // Go's version of the module, which names the commit
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(info.Main.Version, "v") {
		build = " (" + info.Main.Version + ")"
	}
	_, err := fmt.Fprintf(r.stdout, "idxport %s %s/%s %s%s\n",
		convert.Version, runtime.GOOS, runtime.GOARCH, runtime.Version(), build)
	return err
}

// completionFlag follows the words before the cursor when a completion script asks what can follow
// them. Package cli answers, a line each: the commands or, if the last of these words begins with a
// hyphen, the flags, with a colon and a description. The scripts end the words with - or x.
const completionFlag = "--generate-shell-completion"

// completionScripts holds a script for each shell. (Those of package cli will not do: the one for
// bash evaluates what was typed, so that Tab behind "> FILE" truncates FILE, and needs another
// package; the one for fish completes no paths.)
//
//go:embed completion
var completionScripts embed.FS

func runCompletion(_ context.Context, r *report) error {
	shell := strings.Join(r.settings.Inputs, "")
	extension := map[string]string{"bash": "bash", "zsh": "zsh", "fish": "fish",
		"pwsh": "ps1", "powershell": "ps1"}[shell]
	script, err := completionScripts.ReadFile("completion/idxport." + extension)
	if err != nil {
		return usagef("unknown shell %q, expected bash, zsh, fish or pwsh", shell).WithHint("idxport completion bash")
	}
	_, err = r.stdout.Write(script)
	return err
}

func runFormats(_ context.Context, r *report) error {
	rows := [][]string{{"FORMAT", "ENDS IN", "WHAT: CODECS"}}
	for _, f := range sinks.All() {
		ends, what := strings.Join(append([]string{f.Extension}, f.Aliases...), " "), f.Title
		switch {
		case f.Compressible:
			ends += " (+ .gz .zst)"
		case f.Folder:
			ends = "(-o " + f.Name + "=DIR)"
		case f.Codecs != nil:
			what += ": " + strings.Join(f.Codecs, " ")
		}
		rows = append(rows, []string{f.Name, ends, what})
	}
	tables := [][][]string{rows}
	for i, f := range sinks.All() {
		alike := func(other sinks.Format) bool { return slices.Equal(other.Layouts, f.Layouts) }
		if f.Layouts == nil || slices.IndexFunc(sinks.All(), alike) < i { // a table has them
			continue
		}
		layouts := [][]string{{"LAYOUT", "OF " + sinks.List(alike)}}
		for _, l := range f.Layouts {
			layouts = append(layouts, []string{l.Name, l.Title})
		}
		tables = append(tables, layouts)
	}
	return printTables(r.stdout, tables...)
}

// printTables prints tables of at most 80 columns with empty lines between them.
func printTables(w io.Writer, tables ...[][]string) error {
	var texts []string
	for _, rows := range tables {
		texts = append(texts, table("", helpColumns, rows))
	}
	_, err := io.WriteString(w, strings.Join(texts, "\n"))
	return err
}

func runDatasets(_ context.Context, r *report) error {
	if len(r.settings.Inputs) > 0 {
		return printDataset(r.stdout, r.settings.Inputs[0])
	}
	rows := [][]string{{"DATASET", "TITLE", "IMAGE", "CLASSES", "SPLITS"}}
	for _, d := range dataset.Known() {
		classes := fmt.Sprint(len(slices.DeleteFunc(d.Classes, func(name string) bool { return name == "" })))
		rows = append(rows, []string{d.Name, d.Title, text.Shape(d.ImageShape), classes, splitsText(d)})
	}
	const note = "Data sets are recognised by their file names or labels. " +
		"--dataset NAME sets one, --dataset none turns recognition off."
	return printTables(r.stdout, rows, [][]string{{note}})
}

func printDataset(w io.Writer, name string) error {
	d, err := dataset.Lookup(name)
	if err != nil {
		return err
	}
	rows := [][]string{{"dataset", d.Name}, {"title", d.Title}, {"splits", splitsText(d)},
		{"image", text.Shape(d.ImageShape)}}
	if d.Transposed {
		rows = append(rows, []string{"stored", "transposed; idxport turns the images upright"})
	}
	if d.LabelColumns != nil {
		rows = append(rows, []string{"label columns", strings.Join(d.LabelColumns, ", ")})
	}
	rows = append(rows, []string{"license", cmp.Or(d.License, "-")}, []string{"homepage", d.Homepage})
	for label, class := range d.Classes {
		if class != "" {
			rows = append(rows, []string{fmt.Sprint("class ", label), class})
		}
	}
	return printTables(w, rows)
}

func splitsText(d dataset.Info) string {
	var parts []string
	for _, s := range d.Splits {
		parts = append(parts, fmt.Sprintf("%s=%d", s.Name, s.Records))
	}
	return strings.Join(parts, ", ")
}
