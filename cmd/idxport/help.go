package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// helpAsked reports whether the words after the program's name ask for help, as `help COMMAND`,
// `COMMAND --help` or `COMMAND --help-all`, and the command they name, if any.
func helpAsked(words []string) (command string, all, asked bool) {
	asked = len(words) == 0 || commandOf(words) == "help"
	topics := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return word == "help" })
	if i := slices.Index(words, "--"); i >= 0 {
		words = words[:i]
	}
	isHelp := func(word string) bool { return slices.Contains([]string{"--help", "-help", "-h"}, word) }
	all = slices.Contains(words, "--help-all")
	return commandOf(topics), all, asked || all || slices.ContainsFunc(words, isHelp)
}

// printHelp prints the help of the command, or of the program if name is empty: what it is for, its
// usage, examples, a description, and its flags, with their details if all is set.
func printHelp(w io.Writer, name string, all bool) error {
	c := allCommands()[0]
	if name != "" {
		var err error
		if c, err = commandNamed(name); err != nil {
			return err
		}
	}
	out := bufio.NewWriter(w) // Flush returns the first error of all writes
	out.WriteString(table("", helpColumns, [][]string{{strings.ToUpper(c.usage[:1]) + c.usage[1:] + "."}}))
	fmt.Fprintf(out, "\n%s\n", c.help)
	flags, heading := flagsOf(c.name), ""
	for _, f := range flags {
		if f.heading != heading {
			heading = f.heading
			fmt.Fprintf(out, "\n%s:\n", heading)
		}
		short := f.short
		if short != "" {
			short += ","
		}
		fmt.Fprintf(out, "  %-4s%-22s%s\n", short, "--"+f.name+" "+f.placeholder, f.usage)
		if all && f.detail != "" {
			out.WriteString(table(strings.Repeat(" ", 10), helpColumns, [][]string{{f.detail}}))
		}
	}
	switch {
	case name == "":
		for _, c := range commands() {
			fmt.Fprintf(out, "  %-12s%s\n", c.name, c.usage)
		}
		fmt.Fprintln(out, "\nidxport COMMAND --help explains a command and its flags.")
	case !all && len(flags) > 0:
		fmt.Fprintf(out, "\nidxport %s --help-all adds details.\n", c.name)
	}
	return out.Flush()
}
