//go:build linux && amd64

package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// writeTable puts the table of a section between its markers in the file, or at its end.
func writeTable(path, name, table string) error {
	begins, ends := fmt.Sprintf("<!-- %s -->\n", name), fmt.Sprintf("<!-- end of %s -->\n", name)
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	before, rest, found := strings.Cut(string(text), begins)
	_, after, ended := strings.Cut(rest, ends)
	if !found || !ended {
		before, after = string(text)+"\n", ""
	}
	return os.WriteFile(path, []byte(before+begins+table+ends+after), 0o666)
}

// totals is the last line of a section's table, and form what stands below it.
var (
	totals = regexp.MustCompile(`(?m)^\| \*\*\d+ skipped\*\* \| \*\*(\d+)\*\* \| \*\*(\d+)\*\* \| \*\*(\d+)\*\* \|$`)
	form   = regexp.MustCompile(`(?m)^The (full|quick) form, ([0-9-]+),`)
)

// summarise puts the sums of all sections in the file into one table, and prints it.
func summarise(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprint(&b, "## In all\n\n| | cases | runs | of what | wrong outcomes | form |\n|---|---:|---:|---|---:|---|\n")
	var sums [3]int
	for _, s := range sections {
		_, table, _ := strings.Cut(string(text), fmt.Sprintf("<!-- %s -->\n", s.name))
		table, _, found := strings.Cut(table, fmt.Sprintf("<!-- end of %s -->\n", s.name))
		t, f := totals.FindStringSubmatch(table), form.FindStringSubmatch(table)
		if !found || t == nil || f == nil {
			fmt.Fprintf(&b, "| %s | | not run | %s | | |\n", s.title, s.unit)
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s, %s |\n", s.title, t[1], t[2], s.unit, t[3], f[1], f[2])
		for i := range sums {
			n, err := strconv.Atoi(t[i+1])
			if err != nil {
				return err
			}
			sums[i] += n
		}
	}
	fmt.Fprintf(&b, "| **All** | **%d** | **%d** | | **%d** | |\n", sums[0], sums[1], sums[2])
	fmt.Print(b.String())
	return writeTable(path, "summary", b.String())
}
