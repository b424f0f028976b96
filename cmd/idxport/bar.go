package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/idxport/idxport/internal/sheet"
	"github.com/idxport/idxport/internal/text"
)

const (
	barEvery     = 100 * time.Millisecond
	interruption = "^C" // what a terminal shows behind the bar; it must not break the line
)

// A bar is a line of a terminal that is redrawn while rows are read. (The popular library for this
// links an HTTP server, which would be an eighth of the binary and of its start-up time.)
type bar struct {
	w     io.Writer
	title string
	total int64 // rows, −1 if unknown

	mu     sync.Mutex // rows may be called after done, see convert.Events
	drawn  time.Time
	used   int // columns of the line that is drawn
	closed bool
}

// rows draws the bar after n rows.
func (b *bar) rows(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || time.Since(b.drawn) < barEvery {
		return
	}
	b.drawn = time.Now()
	line := b.text(n, columns(b.w)-1-len(interruption))
	used := sheet.TextWidth(line)
	// Spaces cover the rest of the previous line. Errors of a display do not matter.
	_ = show(b.w, "\r%s%s", line, strings.Repeat(" ", max(0, b.used-used)))
	b.used = used
}

// done erases the line.
func (b *bar) done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed && !b.drawn.IsZero() {
		_ = show(b.w, "\r%s\r", strings.Repeat(" ", b.used+len(interruption)))
	}
	b.closed = true
}

// text returns the line, at most columns wide, such as "train  40% ███░░░░ 24,000 of 60,000 rows".
// The bar takes the columns that the words leave; if there are none, the title is cut.
func (b *bar) text(n int64, columns int) string {
	if b.total <= 0 {
		return fit(b.title, fmt.Sprintf(": %s rows", text.Thousands(n)), columns)
	}
	n = min(n, b.total)
	percent := fmt.Sprintf(" %3d%% ", 100*n/b.total)
	words := fmt.Sprintf(" %s of %s rows", text.Thousands(n), text.Thousands(b.total))
	cells := max(0, columns-sheet.TextWidth(b.title+percent+words))
	full := int(float64(cells) * float64(n) / float64(b.total))
	return fit(b.title, percent+strings.Repeat("█", full)+strings.Repeat("░", cells-full)+words, columns)
}

// fit returns title followed by text, shortened to a width of columns.
func fit(title, text string, columns int) string {
	return sheet.Shorten(sheet.Shorten(title, "…", columns-sheet.TextWidth(text))+text, "…", columns)
}
