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

// tables are the results as Markdown, with the number of wrong outcomes.
func (h *harness) tables(took time.Duration) (text string, wrong int) {
	var b strings.Builder
	var cases, runs, skipped int
	for i, r := range h.rows {
		if i == 0 || r.section != h.rows[i-1].section {
			fmt.Fprintf(&b, "\n## %s\n\n| fault | cases | runs | wrong |\n|---|---:|---:|---:|\n", r.section)
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
	form := "full"
	if h.quick {
		form = "quick"
	}
	system, _ := exec.Command("uname", "-sr").Output()       // empty if it fails
	version, _ := exec.Command(h.binary, "version").Output() // likewise
	first, _, _ := bytes.Cut(version, []byte("\n"))
	head := fmt.Sprintf("**In all: %d runs in %d cases, %d wrong outcomes, %d kinds of faults skipped.** "+
		"The %s form, %s, %.0f min on %s, %d processors; %s.\n", runs, cases, wrong, skipped, form,
		time.Now().UTC().Format(time.DateOnly), took.Minutes(), bytes.TrimSpace(system), runtime.NumCPU(), first)
	return head + b.String(), wrong
}

// writeTables puts the tables between their markers in the file.
func writeTables(path, tables string) error {
	const begin, end = "<!-- tables -->\n", "<!-- end of tables -->\n"
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return fmt.Errorf("%s: found no %q and %q", path, begin, end)
	}
	return os.WriteFile(path, []byte(before+begin+tables+end+after), 0o666)
}
