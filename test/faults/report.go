//go:build linux && amd64

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// A row is one kind of fault.
type row struct {
	section, name string
	skipped       string // the reason, if it could not be run here

	h                  *harness
	cases, runs, wrong int // scenarios in states; runs with a fault; wrong outcomes of those
	note               string
}

// row makes a row of the table; rows keep their order.
func (h *harness) row(section, name string) *row {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := &row{section: section, name: name, h: h}
	h.rows = append(h.rows, r)
	if h.verbose {
		fmt.Fprintf(os.Stderr, "%s: %s\n", section, name)
	}
	return r
}

// skip records why a row could not be run here.
func (r *row) skip(format string, args ...any) {
	r.skipped = fmt.Sprintf(format, args...)
	fmt.Fprintf(os.Stderr, "%s: %s: SKIPPED: %s\n", r.section, r.name, r.skipped)
}

func (r *row) addCase() {
	r.h.mu.Lock()
	defer r.h.mu.Unlock()
	r.cases++
}

// shown is how many wrong outcomes of a row are printed.
const shown = 8

// add counts a run and prints what was wrong with it. what identifies the run.
func (r *row) add(what string, wrong []string) {
	r.h.mu.Lock()
	defer r.h.mu.Unlock()
	r.runs++
	if len(wrong) == 0 {
		return
	}
	r.wrong++
	if r.wrong <= shown && !strings.HasPrefix(r.name, "self-check") {
		fmt.Fprintf(os.Stderr, "WRONG %s: %s: %s:\n    %s\n", r.section, r.name, what, strings.Join(wrong, "\n    "))
	}
}

// expectWrong ends a self-check: wrong outcomes are right, and none is wrong.
func (r *row) expectWrong() {
	r.note = fmt.Sprintf("%d noticed", r.wrong)
	r.wrong = 0
	if r.note == "0 noticed" {
		r.wrong = 1
	}
}

// table is the result of one section as Markdown.
func (h *harness) table(title string, took time.Duration) string {
	var b strings.Builder
	form := "full"
	if h.quick {
		form = "quick"
	}
	fmt.Fprintf(&b, "## %s\n\n| fault | cases | runs | wrong |\n|---|---:|---:|---:|\n", title)
	var cases, runs, wrong, skipped int
	for _, r := range h.rows {
		if r.section != title {
			continue
		}
		if r.skipped != "" {
			skipped++
			fmt.Fprintf(&b, "| %s | | skipped: %s | |\n", r.name, r.skipped)
			continue
		}
		name := r.name
		if r.note != "" {
			name += ": " + r.note
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", name, r.cases, r.runs, r.wrong)
		cases, runs, wrong = cases+r.cases, runs+r.runs, wrong+r.wrong
	}
	fmt.Fprintf(&b, "| **%d skipped** | **%d** | **%d** | **%d** |\n", skipped, cases, runs, wrong)
	fmt.Fprintf(&b, "\nThe %s form, %s, %.0f s on %s; %s.\n", form, time.Now().UTC().Format(time.DateOnly), took.Seconds(), systemName(), h.version())
	return b.String()
}

func systemName() string {
	text, _ := exec.Command("uname", "-sr").Output() // empty if it fails
	return fmt.Sprintf("%s, %d processors", bytes.TrimSpace(text), runtime.NumCPU())
}

func (h *harness) version() string {
	text, _ := exec.Command(h.binary, "version").Output()
	first, _, _ := bytes.Cut(text, []byte("\n"))
	return string(first)
}

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
