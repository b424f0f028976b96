package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/idxport/idxport/sheet"
)

// helpColumns is the width of help, where the terminal is not narrower.
const helpColumns = 80

const programUsage = "convert IDX files (MNIST and its relatives) to Parquet, Arrow, CSV, NumPy, PNG folders and " +
	"WebDataset tars, and all of these except tar back to IDX"

const programExamples = `  idxport convert ./fashion-mnist -o out --to parquet,arrow,csv,png
  idxport inspect ./fashion-mnist
  idxport preview ./fashion-mnist`

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

// help prints the help of the command, or of the program if name is empty.
func (p *program) help(commands []command, name string, all bool) error {
	c := command{usage: programUsage, text: "idxport COMMAND [flags]", examples: programExamples}
	if name != "" {
		var err error
		if c, err = commandNamed(commands, name); err != nil {
			return err
		}
	}
	out := bufio.NewWriter(p.stdout)
	h := helpPage{w: out, columns: min(helpColumns, columns(p.stdout))}
	h.page(c, all)
	if name == "" {
		h.commands(commands)
	}
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
func (h helpPage) page(c command, all bool) {
	usage, text, _ := strings.Cut(c.text, "\n\n")
	h.text("", strings.ToUpper(c.usage[:1])+c.usage[1:]+".")
	h.text("", "\nUsage: "+usage)
	if c.examples != "" {
		h.text("", "\nExamples:\n"+c.examples)
	}
	if text != "" {
		h.text("", "\n"+text)
	}
	specs := flagsOf(c.name)
	if len(specs) == 0 {
		return
	}
	if all {
		h.all(specs)
		return
	}
	rare := func(f flagSpec) bool { return c.name == "convert" && !f.has("often") }
	shown := slices.DeleteFunc(slices.Clone(specs), rare)
	h.text("", "\nFlags:")
	for _, f := range shown {
		h.flag(f)
	}
	if len(shown) < len(specs) {
		h.text("", fmt.Sprintf("\nidxport %s --help-all shows all %d flags, with details.", c.name, len(specs)))
	} else {
		h.text("", fmt.Sprintf("\nidxport %s --help-all adds details.", c.name))
	}
}

// commands prints what the commands do.
func (h helpPage) commands(all []command) {
	h.text("", "\nCommands:")
	for _, c := range all {
		fmt.Fprintf(h.w, "  %-12s%s\n", c.name, c.usage)
	}
	h.text("", "\nidxport COMMAND --help explains a command and its flags.")
}

// all prints all flags under their headings, with their details.
func (h helpPage) all(specs []flagSpec) {
	heading := ""
	for _, f := range specs {
		if f.heading != heading {
			heading = f.heading
			h.text("", "\n"+heading+":")
		}
		h.flag(f)
		if f.detail != "" {
			h.text(strings.Repeat(" ", 10), f.detail)
		}
	}
}

func (h helpPage) flag(f flagSpec) {
	short := "    "
	if f.short != "" {
		short = f.short + ", "
	}
	fmt.Fprintf(h.w, "  %-26s%s\n", strings.TrimRight(short+"--"+f.name+" "+f.placeholder, " "), f.usage)
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
			case used > 0 && used+1+sheet.TextWidth(word) <= h.columns:
				fmt.Fprint(h.w, " ")
				used++
			default:
				end()
				fmt.Fprint(h.w, indent)
				used = len(indent)
			}
			fmt.Fprint(h.w, word)
			used += sheet.TextWidth(word)
		}
	}
	end()
}
