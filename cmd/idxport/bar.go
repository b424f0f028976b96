package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/idxport/idxport/display"
)

const barEvery = 100 * time.Millisecond

// A bar is a line of a terminal that is redrawn while rows are read. (The popular library for this
// links an HTTP server, which would be an eighth of the binary and of its start-up time.)
type bar struct {
	w     io.Writer
	title string
	total int64 // rows, −1 if unknown
	start time.Time

	mu     sync.Mutex // rows may be called after done, see convert.Events
	drawn  time.Time
	closed bool
}

// rows draws the bar after n rows.
func (b *bar) rows(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.closed || now.Sub(b.drawn) < barEvery {
		return
	}
	b.drawn = now
	// "\x1b[K" erases the rest of the previous line. Errors of a display do not matter.
	fmt.Fprintf(b.w, "\r%s\x1b[K", b.text(n, now.Sub(b.start), columns(b.w)-1))
}

// done erases the line.
func (b *bar) done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed && !b.drawn.IsZero() {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
	b.closed = true
}

// text returns the line, at most columns wide, such as
// "train  40% ████████░░░░░░░░░░░░ 24,000 of 60,000 rows, 3s left". The bar takes the columns that
// the words leave; if there are none, the title is cut.
func (b *bar) text(n int64, elapsed time.Duration, columns int) string {
	if b.total <= 0 {
		return fit(b.title, fmt.Sprintf(": %s rows", display.Thousands(n)), columns)
	}
	n = min(n, b.total)
	percent, words := fmt.Sprintf(" %3d%% ", 100*n/b.total), fmt.Sprintf(" %s of %s rows", display.Thousands(n), display.Thousands(b.total))
	if n > 0 {
		left := time.Duration(float64(elapsed) * float64(b.total-n) / float64(n))
		words += fmt.Sprintf(", %v left", left.Round(time.Second))
	}
	cells := max(0, columns-width(b.title+percent+words))
	full := int(float64(cells) * float64(n) / float64(b.total))
	return fit(b.title, percent+strings.Repeat("█", full)+strings.Repeat("░", cells-full)+words, columns)
}

// fit returns title followed by text, shortened to a width of columns.
func fit(title, text string, columns int) string {
	return shorten(shorten(title, columns-width(text))+text, columns)
}

// columns returns the width of the terminal w, or 80 if it is unknown.
func columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return 80
}

// shorten cuts off the end of text if it is more than columns wide: only a line that does not wrap
// can be redrawn.
func shorten(text string, columns int) string {
	for i, r := range text {
		if columns -= width(string(r)); columns < 0 {
			return text[:i]
		}
	}
	return text
}

// width returns the greatest number of columns that text can take. Characters from Hangul on may be
// twice as wide as letters, except the blocks of the bar.
func width(text string) (columns int) {
	for _, r := range text {
		columns++
		if r >= 0x1100 && r != '█' && r != '░' {
			columns++
		}
	}
	return columns
}

// terminal reports whether w is a terminal.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
