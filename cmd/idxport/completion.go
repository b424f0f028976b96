package main

import (
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/formats"
)

// completeCommand is the first argument that the scripts pass.
const completeCommand = "__complete"

// complete answers a completion script. It never fails, since an error would appear in the command
// line that the user is typing.
func (p *program) complete(args []string) int {
	if len(args) == 0 {
		return exitOK
	}
	word := strings.TrimPrefix(args[0], "word=")
	found, paths := completions(args[1:], word)
	var out strings.Builder
	for _, line := range found {
		if strings.HasPrefix(line, word) {
			out.WriteString(line + "\n")
		}
	}
	if paths && !strings.Contains(word, "://") {
		out.WriteString("\n")
	}
	_ = write(p.stdout, out.String())
	return exitOK
}

// completions returns the candidates for word after the words before it, each with a tab and its
// description, and whether word may be a path.
func completions(before []string, word string) (found []string, paths bool) {
	i := slices.IndexFunc(before, func(w string) bool { return w != "" && !strings.HasPrefix(w, "-") })
	if i < 0 || before[i] == "help" {
		if strings.HasPrefix(word, "-") {
			return []string{"--help\tshow help", "--version\tprint the version"}, false
		}
		for _, c := range commands() {
			found = append(found, c.name+"\t"+c.usage)
		}
		return found, false
	}
	c, err := commandNamed(before[i])
	if err != nil {
		return nil, false
	}
	flags := flagsOf(c.name)
	waiting, ended, arguments := position(flags, before[i+1:])
	name, value, valued := strings.Cut(word, "=")
	switch f := flagNamed(flags, name); {
	case waiting != nil:
		return waiting.values(word)
	case (ended || !strings.HasPrefix(word, "-")) && c.readsInputs():
		return nil, true
	case ended || !strings.HasPrefix(word, "-"):
		return c.argumentValues(arguments), false
	case !valued:
		return flagNames(flags), false
	case f != nil:
		found, paths = f.values(value)
		for i := range found {
			found[i] = name + "=" + found[i]
		}
	}
	return found, paths
}

// position returns what the words of a command leave open: the flag whose value is the next word,
// if any; whether only arguments follow; and how many arguments there were.
func position(flags []flagSpec, words []string) (waiting *flagSpec, ended bool, arguments int) {
	for _, w := range words {
		switch {
		case waiting != nil:
			waiting = nil
		case w == "--":
			ended = true
		case ended || w == "-" || !strings.HasPrefix(w, "-"):
			arguments++
		default:
			if f := flagNamed(flags, w); f != nil && f.placeholder != "" {
				waiting = f
			}
		}
	}
	return waiting, ended, arguments
}

// argumentValues returns the candidates for an argument of a command that reads no inputs; before
// is the number of arguments before it.
func (c command) argumentValues(before int) []string {
	switch {
	case before > 0:
		return nil
	case c.name == "completion":
		return named("bash", "zsh", "fish", "pwsh")
	case c.name == "datasets":
		return datasets()
	}
	return nil
}

// flagNames returns all spellings of flags.
func flagNames(flags []flagSpec) []string {
	found := []string{"--help\tshow help"}
	for _, f := range flags {
		for _, name := range f.spellings() {
			found = append(found, name+"\t"+f.usage)
		}
	}
	return found
}

// values returns the candidates for the value of f, and whether it may be a path. value is what has
// been typed so far. Other than -o, only flags with a closed list of values have candidates.
func (f *flagSpec) values(value string) (found []string, paths bool) {
	switch {
	case f.placeholder == "":
		return named("true", "false"), false
	case f.placeholder == "OUT":
		for _, f := range formats.All() {
			found = append(found, f.Name+"=\t"+f.Title)
		}
		return found, true
	case f.placeholder == "FILE", f.placeholder == "SHEET":
		return nil, true
	case f.name == "to":
		return formatList(value), false
	case f.name == "layout":
		return perFormat(value, formats.Format.LayoutNames), false
	case f.name == "compression":
		return perFormat(value, formats.Format.Compressions), false
	case f.name == "dataset":
		return append(datasets(), dataset.DatasetNone+"\tno class names, no transposition"), false
	}
	return named(f.choices...), false
}

// formatList returns the candidates for list, formats separated by commas, the last incomplete. The
// formats before it must be known: they are part of each candidate, and text that is not a format
// is never printed back.
func formatList(list string) (found []string) {
	names := strings.Split(list, ",")
	before := names[:len(names)-1]
	for _, name := range before {
		if _, ok := formats.Named(name); !ok {
			return nil
		}
	}
	for _, f := range formats.All() {
		if !slices.Contains(before, f.Name) {
			found = append(found, strings.Join(append(slices.Clip(before), f.Name), ",")+"\t"+f.Title)
		}
	}
	return found
}

// perFormat returns the candidates for [FORMAT=]VALUE: the values of all formats, and the formats
// that accept one; after FORMAT=, the values that this format accepts.
func perFormat(value string, valuesOf func(formats.Format) []string) []string {
	var values []string
	for _, f := range formats.All() {
		values = append(values, valuesOf(f)...)
	}
	slices.Sort(values)
	found := named(slices.Compact(values)...)
	for _, f := range formats.All() {
		prefix, accepted := f.Name+"=", valuesOf(f)
		if strings.HasPrefix(value, prefix) {
			for _, v := range accepted {
				found = append(found, prefix+v+"\t")
			}
		} else if len(accepted) > 0 {
			found = append(found, prefix+"\t"+f.Title)
		}
	}
	return found
}

// named returns candidates without a description.
func named(names ...string) (found []string) {
	for _, name := range names {
		found = append(found, name+"\t")
	}
	return found
}

func datasets() (found []string) {
	for _, d := range dataset.Known() {
		found = append(found, d.Name+"\t"+d.Title)
	}
	return found
}
