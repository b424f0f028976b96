package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"
)

// helpColumns is the width of help, where the terminal is not narrower.
const helpColumns = 80

// helpAsked reports whether args ask for help, as `help COMMAND`, `COMMAND --help` or `COMMAND
// --help-all`, and the command they name, if any.
func helpAsked(args []string) (command string, all, asked bool) {
	options := args[min(1, len(args)):]
	if i := slices.Index(options, "--"); i >= 0 {
		options = options[:i]
	}
	command, all = commandOf(args), slices.Contains(options, "--help-all")
	if command == "help" {
		topic := commandOf(args[slices.Index(args, command):])
		if topic == "help" {
			topic = ""
		}
		return topic, all, true
	}
	return command, all, all || len(args) == 1 || slices.Contains(options, "--help") || slices.Contains(options, "-h")
}

// help prints the help of the command, or of the program if command is empty.
func (p *program) help(root *cli.Command, command string, all bool) error {
	c := root
	if command != "" {
		if c = root.Command(command); c == nil {
			return unknownCommand(root, command)
		}
	}
	out := bufio.NewWriter(p.stdout)
	h := helpPage{w: out, columns: min(helpColumns, columns(p.stdout))}
	h.page(c, all)
	return out.Flush()
}

// A helpPage prints help.
type helpPage struct {
	w       io.Writer
	columns int
}

// page prints the help of c: what it is for, its usage, examples, the rest of its text, and its
// flags: for convert, those that are needed often; for other commands, all. If all is set, it
// prints all flags with their details.
func (h helpPage) page(c *cli.Command, all bool) {
	usage, text, _ := strings.Cut(c.UsageText, "\n\n")
	h.text("", strings.ToUpper(c.Usage[:1])+c.Usage[1:]+".")
	h.text("", "\nUsage: "+usage)
	if c.Description != "" {
		h.text("", "\nExamples:\n"+c.Description)
	}
	if text != "" {
		h.text("", "\n"+text)
	}
	if len(c.Commands) > 0 {
		h.text("", "\nCommands:")
		for _, sub := range c.Commands {
			fmt.Fprintf(h.w, "  %-12s%s\n", sub.Name, sub.Usage)
		}
		h.text("", "\nidxport COMMAND --help explains a command and its flags.")
		return
	}
	specs := flagsOf(c.Name)
	if len(specs) == 0 {
		return
	}
	if all {
		h.all(specs)
		return
	}
	shown := slices.DeleteFunc(slices.Clone(specs), func(f flagSpec) bool { return c.Name == "convert" && !f.often })
	h.text("", "\nFlags:")
	for _, f := range shown {
		h.flag(f)
	}
	if len(shown) < len(specs) {
		h.text("", fmt.Sprintf("\nidxport %s --help-all shows all %d flags, with details.", c.Name, len(specs)))
	} else {
		h.text("", fmt.Sprintf("\nidxport %s --help-all adds details.", c.Name))
	}
}

// all prints all flags under their headings, with their details.
func (h helpPage) all(specs []flagSpec) {
	for _, heading := range []string{headingOutput, headingInput, headingRows, headingFormat, headingRun} {
		first := true
		for _, f := range specs {
			if f.heading != heading {
				continue
			}
			if first {
				h.text("", "\n"+heading+":")
				first = false
			}
			h.flag(f)
			if f.detail != "" {
				h.text(strings.Repeat(" ", 10), f.detail)
			}
		}
	}
}

func (h helpPage) flag(f flagSpec) {
	short := "    "
	if names := f.spellings(); len(names) > 1 {
		short = names[1] + ", "
	}
	fmt.Fprintf(h.w, "  %-26s%s\n", strings.TrimRight(short+"--"+f.long()+" "+f.placeholder, " "), f.usage)
}

// text prints paragraphs, which end at an empty line, wrapped between words and indented. A line
// that begins with a space is printed as it is.
func (h helpPage) text(indent, text string) {
	used := 0 // columns of the current line
	end := func() {
		if used > 0 {
			fmt.Fprintln(h.w)
		}
		used = 0
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || line[0] == ' ' {
			end()
			fmt.Fprintln(h.w, line)
			continue
		}
		for word := range strings.FieldsSeq(line) {
			switch {
			case used > 0 && used+1+width(word) <= h.columns:
				fmt.Fprint(h.w, " ")
				used++
			default:
				end()
				fmt.Fprint(h.w, indent)
				used = len(indent)
			}
			fmt.Fprint(h.w, word)
			used += width(word)
		}
	}
	end()
}
