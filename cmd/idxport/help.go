package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

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
	isHelp := func(option string) bool { return slices.Contains([]string{"--help", "-help", "-h"}, option) }
	return command, all, all || len(args) == 1 || slices.ContainsFunc(options, isHelp)
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
