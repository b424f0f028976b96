package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/idxport/idxport/display"
)

// terminal tells whether w is a terminal.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// linesEvery is how often progress is told where there is no terminal to draw on.
const linesEvery = 5 * time.Second

// progress is the display for a pass of total rows, −1 if unknown; label says what is read.
func (r *report) progress(label string, total int64) (read func(int64), end func()) {
	switch {
	case r.draws():
		b := &bar{w: r.program.stderr, label: label, total: total, start: time.Now()}
		return b.rows, b.done
	case r.asked.show == "always" && !r.asked.quiet && !terminal(r.program.stderr):
		return r.lines(label, total), func() {}
	}
	return nil, func() {}
}

// draws reports whether progress is drawn on a terminal.
func (r *report) draws() bool {
	return !r.asked.quiet && !r.logsJSON() && r.asked.show != "never" && terminal(r.program.stderr)
}

// lines tells the progress now and then, a line each.
func (r *report) lines(label string, total int64) func(int64) {
	last := time.Now()
	return func(n int64) {
		if time.Since(last) < linesEvery && n != total {
			return
		}
		last = time.Now()
		text := fmt.Sprintf("%s: %s rows", label, display.Thousands(n))
		if total > 0 {
			text += fmt.Sprintf(" of %s (%d%%)", display.Thousands(total), 100*n/total)
		}
		if r.logsJSON() {
			r.logJSON("progress", text, "")
			return
		}
		fmt.Fprintln(r.program.stderr, text)
	}
}
