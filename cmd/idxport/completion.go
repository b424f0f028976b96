package main

import (
	"embed"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/sink/layout"
	"github.com/idxport/idxport/source/dataset"
)

const completionUsage = `idxport completion SHELL

Prints the completion script for SHELL: bash, zsh, fish or pwsh (PowerShell). The script completes commands, flags, their values, and paths; it needs no
other package and evaluates nothing that was typed. One of these lines installs it for new shells:

bash   echo 'eval "$(idxport completion bash)"' >> ~/.bashrc
zsh    echo 'source <(idxport completion zsh)' >> ~/.zshrc
fish   idxport completion fish > ~/.config/fish/completions/idxport.fish
pwsh   idxport completion pwsh >> $PROFILE`

// completionScripts holds a script for each shell. A script splits the command line as its shell
// does and runs
//
//	idxport __complete word=WORD BEFORE...
//
// where WORD is the word at the cursor, up to the cursor, and BEFORE the words between idxport and
// WORD. (Old PowerShells drop empty arguments, hence word=.) The program prints what may stand in
// place of WORD, a value, a tab and a description on each line; and an empty line if the shell is
// to complete paths too, in place of WORD or after its last =. The script adds a space after each
// value that does not end with =.
//
//go:embed completion
var completionScripts embed.FS

// completeCommand is the first argument by which the scripts ask.
const completeCommand = "__complete"

// shells are those that have a script.
func shells() []string { return []string{"bash", "zsh", "fish", "pwsh"} }

// completionCommand is `idxport completion`.
func (p *program) completionCommand() *cli.Command {
	return plainCommand("completion", completionUsage, "print the completion script for bash, zsh, fish or pwsh", func(c *cli.Command) error {
		if c.Args().Len() > 1 {
			return usagef("%d shells, expected one", c.Args().Len())
		}
		ending := c.Args().First()
		switch {
		case ending == "pwsh" || ending == "powershell":
			ending = "ps1"
		case !slices.Contains(shells(), ending):
			return usagef("no script for shell %q, expected bash, zsh, fish or pwsh", ending).WithHint("for example: idxport completion bash")
		}
		script, err := completionScripts.ReadFile("completion/idxport." + ending)
		if err != nil {
			return err
		}
		_, err = p.stdout.Write(script)
		return err
	})
}

// A candidate is what may stand in place of the word at the cursor.
type candidate struct{ value, about string }

// complete answers a completion script. It never fails: an error would be printed into the command
// line that the user is typing.
func (p *program) complete(root *cli.Command, args []string) int {
	if len(args) == 0 {
		return exitOK
	}
	word := strings.TrimPrefix(args[0], "word=")
	found, paths := completions(root, args[1:], word)
	var out strings.Builder
	for _, c := range found {
		if strings.HasPrefix(c.value, word) {
			out.WriteString(c.value + "\t" + c.about + "\n")
		}
	}
	if paths && !strings.Contains(word, "://") {
		out.WriteString("\n")
	}
	_, _ = io.WriteString(p.stdout, out.String())
	return exitOK
}

// completions are the candidates for word after the words before it; paths reports whether paths
// may stand there too.
func completions(root *cli.Command, before []string, word string) (found []candidate, paths bool) {
	i := slices.IndexFunc(before, func(w string) bool { return w != "" && !strings.HasPrefix(w, "-") })
	if i < 0 || before[i] == "help" {
		for _, c := range root.VisibleCommands() {
			found = append(found, candidate{c.Name, c.Usage})
		}
		if strings.HasPrefix(word, "-") {
			found = []candidate{{"--help", "show help"}, {"--version", "print the version"}}
		}
		return found, false
	}
	c := root.Command(before[i])
	if c == nil {
		return nil, false
	}
	var waiting cli.Flag // for its value
	ended, arguments := false, 0
	for _, w := range before[i+1:] {
		switch {
		case waiting != nil:
			waiting = nil
		case w == "--":
			ended = true
		case ended || w == "-" || !strings.HasPrefix(w, "-"):
			arguments++
		case !strings.Contains(w, "="):
			if f := findFlag(c, w); f != nil && takesValue(f) {
				waiting = f
			}
		}
	}
	name, value, valued := strings.Cut(word, "=")
	switch {
	case waiting != nil:
		return flagValues(waiting, word)
	case ended || !strings.HasPrefix(word, "-"):
		return argumentValues(c, arguments)
	case !valued:
		return flagNames(c), false
	}
	f := findFlag(c, name)
	if f == nil {
		return nil, false
	}
	found, paths = flagValues(f, value)
	for i := range found {
		found[i].value = name + "=" + found[i].value
	}
	return found, paths
}

// argumentValues are the candidates for an argument of c after a number of others. The first line
// of the usage text says what it may be.
func argumentValues(c *cli.Command, before int) (found []candidate, paths bool) {
	usage, _, _ := strings.Cut(c.UsageText, "\n")
	switch {
	case strings.Contains(usage, "INPUT"):
		return nil, true
	case before > 0:
	case strings.Contains(usage, "SHELL"):
		return named(shells()...), false
	case c.Name == "datasets":
		return datasets(), false
	}
	return nil, false
}

// findFlag is the flag of c that word spells, with its dashes, or nil.
func findFlag(c *cli.Command, word string) cli.Flag {
	name := strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-")
	for _, f := range c.Flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

// takesValue reports whether f has a value; all flags but switches do.
func takesValue(f cli.Flag) bool {
	d, ok := f.(cli.DocGenerationFlag)
	return ok && d.TakesValue()
}

// flagUsage is the usage text of f, and the name of its value, which is quoted there.
func flagUsage(f cli.Flag) (text, value string) {
	if d, ok := f.(cli.DocGenerationFlag); ok {
		text = d.GetUsage()
	}
	if parts := strings.Split(text, "`"); len(parts) > 2 {
		value = parts[1]
	}
	return strings.ReplaceAll(text, "`", ""), value
}

// flagNames are all spellings of the flags of c.
func flagNames(c *cli.Command) []candidate {
	found := []candidate{{"--help", "show help"}}
	for _, f := range c.VisibleFlags() {
		text, _ := flagUsage(f)
		for _, name := range f.Names() {
			dashes := "--"
			if len(name) == 1 {
				dashes = "-"
			}
			found = append(found, candidate{dashes + name, text})
		}
	}
	return found
}

// flagValues are the candidates for the value of f, of which value was typed. Only flags with a
// closed list of values are named here; the name of its value says whether a flag takes a path.
func flagValues(f cli.Flag, value string) (found []candidate, paths bool) {
	_, kind := flagUsage(f)
	switch name := f.Names()[0]; {
	case !takesValue(f):
		return named("true", "false"), false
	case kind == "OUT":
		for _, f := range formats.All() {
			found = append(found, candidate{f.Name + "=", f.Title})
		}
		return found, true
	case kind == "FILE", kind == "SHEET":
		return nil, true
	case name == "to":
		return formatList(value), false
	case name == "layout":
		return perFormat(value, layout.Names(), func(f formats.Format) []string { return f.Layouts }), false
	case name == "compression":
		var codecs []string
		for _, f := range formats.All() {
			codecs = append(codecs, f.Codecs...)
		}
		slices.Sort(codecs)
		return perFormat(value, slices.Compact(codecs), convert.CodecsOf), false
	case name == "csv-style":
		for _, s := range csv.Styles() {
			found = append(found, candidate{s.Name, s.Description})
		}
		return found, false
	case name == "dataset":
		return append(datasets(), candidate{dataset.DatasetNone, "no class names, no transposition"}), false
	default:
		for _, row := range flags() {
			if row.long() == name {
				found = append(found, named(row.choices...)...)
			}
		}
		return found, false
	}
}

// formatList are the candidates for list, formats separated by commas of which the last is not
// complete. The others must be formats, so that nothing but our own words is printed.
func formatList(list string) (found []candidate) {
	names := strings.Split(list, ",")
	before := names[:len(names)-1]
	for _, name := range before {
		if _, ok := formats.Named(name); !ok {
			return nil
		}
	}
	for _, f := range formats.All() {
		if !slices.Contains(before, f.Name) {
			found = append(found, candidate{strings.Join(append(slices.Clip(before), f.Name), ","), f.Title})
		}
	}
	return found
}

// perFormat are the candidates for [FORMAT=]VALUE: values, and the formats that have some; after
// FORMAT=, the values of that format.
func perFormat(value string, values []string, of func(formats.Format) []string) []candidate {
	found := named(values...)
	for _, f := range formats.All() {
		prefix, its := f.Name+"=", of(f)
		if strings.HasPrefix(value, prefix) {
			for _, v := range its {
				found = append(found, candidate{value: prefix + v})
			}
		} else if len(its) > 0 {
			found = append(found, candidate{prefix, f.Title})
		}
	}
	return found
}

func named(names ...string) (found []candidate) {
	for _, name := range names {
		found = append(found, candidate{value: name})
	}
	return found
}

func datasets() (found []candidate) {
	for _, d := range dataset.Known() {
		found = append(found, candidate{d.Name, d.Title})
	}
	return found
}
