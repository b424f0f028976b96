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

Prints a script that completes commands, flags, their values and paths. It needs no other package
and never evaluates what was typed. Install it with the line for your shell:

  bash   echo 'eval "$(idxport completion bash)"' >> ~/.bashrc
  zsh    echo 'source <(idxport completion zsh)' >> ~/.zshrc
  fish   idxport completion fish > ~/.config/fish/completions/idxport.fish
  pwsh   New-Item -Force -ItemType Directory (Split-Path $PROFILE)
         idxport completion pwsh >> $PROFILE`

// completionScripts holds a script for each shell. A script splits the command line as its shell
// does, and runs
//
//	idxport __complete word=WORD BEFORE...
//
// where WORD is the word at the cursor, up to the cursor, and BEFORE the words between idxport and
// WORD. (Old PowerShells drop empty arguments, hence word=.) The program prints the candidates for
// WORD, each on a line with a tab and a description, and an empty line if the shell should complete
// paths too. The path is WORD, or the part of WORD after its last =. The script adds a space after
// each value that does not end with =.
//
//go:embed completion
var completionScripts embed.FS

// completeCommand is the first argument that the scripts pass.
const completeCommand = "__complete"

// shells returns the shells that have a script.
func shells() []string { return []string{"bash", "zsh", "fish", "pwsh"} }

// completionCommand is `idxport completion`.
func (p *program) completionCommand() *cli.Command {
	return p.plainCommand("completion", completionUsage, "print the completion script for bash, zsh, fish or pwsh", 1, func(arguments []string) error {
		extension := strings.Join(arguments, "")
		switch {
		case extension == "":
			return usagef("no shell, expected bash, zsh, fish or pwsh").WithHint("for example: idxport completion bash")
		case extension == "pwsh" || extension == "powershell":
			extension = "ps1"
		case !slices.Contains(shells(), extension):
			return usagef("no script for shell %q, expected bash, zsh, fish or pwsh", extension).WithHint("for example: idxport completion bash")
		}
		script, err := completionScripts.ReadFile("completion/idxport." + extension)
		if err != nil {
			return err
		}
		_, err = p.stdout.Write(script)
		return err
	})
}

// A candidate is a possible word at the cursor.
type candidate struct{ value, about string }

// complete answers a completion script. It never fails, since an error would appear in the command
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

// completions returns the candidates for word after the words before it, and whether it may be a
// path.
func completions(root *cli.Command, before []string, word string) (found []candidate, paths bool) {
	i := slices.IndexFunc(before, func(w string) bool { return w != "" && !strings.HasPrefix(w, "-") })
	if i < 0 || before[i] == "help" {
		for _, c := range root.Commands {
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
	flags := flagsOf(c.Name)
	find := func(word string) *flagSpec {
		for i := range flags {
			if slices.ContainsFunc(flags[i].spellings(), func(name string) bool { return strings.TrimLeft(name, "-") == strings.TrimLeft(word, "-") }) {
				return &flags[i]
			}
		}
		return nil
	}
	var waiting *flagSpec // the flag whose value is the next word
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
			if f := find(w); f != nil && f.placeholder != "" {
				waiting = f
			}
		}
	}
	name, value, valued := strings.Cut(word, "=")
	switch {
	case waiting != nil:
		return waiting.values(word)
	case ended || !strings.HasPrefix(word, "-"):
		return argumentValues(c, arguments)
	case !valued:
		return flagNames(flags), false
	}
	f := find(name)
	if f == nil {
		return nil, false
	}
	found, paths = f.values(value)
	for i := range found {
		found[i].value = name + "=" + found[i].value
	}
	return found, paths
}

// argumentValues returns the candidates for an argument of c; before is the number of arguments
// before it.
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

// flagNames returns all spellings of flags.
func flagNames(flags []flagSpec) []candidate {
	found := []candidate{{"--help", "show help"}}
	for _, f := range flags {
		for _, name := range f.spellings() {
			found = append(found, candidate{name, f.usage})
		}
	}
	return found
}

// values returns the candidates for the value of f, and whether it may be a path. value is what has
// been typed so far. Other than -o, only flags with a closed list of values have candidates.
func (f *flagSpec) values(value string) (found []candidate, paths bool) {
	switch {
	case f.placeholder == "":
		return named("true", "false"), false
	case f.placeholder == "OUT":
		for _, f := range formats.All() {
			found = append(found, candidate{f.Name + "=", f.Title})
		}
		return found, true
	case f.placeholder == "FILE", f.placeholder == "SHEET":
		return nil, true
	case f.name == "to":
		return formatList(value), false
	case f.name == "layout":
		return perFormat(value, layout.Names(), func(f formats.Format) []string { return f.Layouts }), false
	case f.name == "compression":
		var codecs []string
		for _, f := range formats.All() {
			codecs = append(codecs, f.Codecs...)
		}
		slices.Sort(codecs)
		return perFormat(value, slices.Compact(codecs), convert.CodecsOf), false
	case f.name == "csv-style":
		for _, s := range csv.Styles() {
			found = append(found, candidate{s.Name, s.Description})
		}
		return found, false
	case f.name == "dataset":
		return append(datasets(), candidate{dataset.DatasetNone, "no class names, no transposition"}), false
	}
	return named(f.choices...), false
}

// formatList returns the candidates for list, formats separated by commas, the last incomplete. The
// formats before it must be known: they are part of each candidate, and text that is not a format
// is never printed back.
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

// perFormat returns the candidates for [FORMAT=]VALUE: values, and the formats that accept one;
// after FORMAT=, the values that this format accepts.
func perFormat(value string, values []string, valuesOf func(formats.Format) []string) []candidate {
	found := named(values...)
	for _, f := range formats.All() {
		prefix, accepted := f.Name+"=", valuesOf(f)
		if strings.HasPrefix(value, prefix) {
			for _, v := range accepted {
				found = append(found, candidate{value: prefix + v})
			}
		} else if len(accepted) > 0 {
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
