//go:build linux && amd64

package main

import (
	"fmt"
	"os"
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

// summary is the table of all sections, after a run of all.
func (h *harness) summary() string {
	var b strings.Builder
	fmt.Fprint(&b, "## In all\n\n| | cases | runs | of what | wrong outcomes |\n|---|---:|---:|---|---:|\n")
	var cases, runs, wrong int
	for _, s := range sections {
		var c, n, w int
		for _, r := range h.rows {
			if r.section == s.title {
				c, n, w = c+r.cases, n+r.runs, w+r.wrong
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %s | %d |\n", s.title, c, n, s.unit, w)
		cases, runs, wrong = cases+c, runs+n, wrong+w
	}
	fmt.Fprintf(&b, "| **All** | **%d** | **%d** | | **%d** |\n", cases, runs, wrong)
	return b.String()
}
