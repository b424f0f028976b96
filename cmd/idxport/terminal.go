package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/idxport/idxport/internal/sheet"
	"github.com/idxport/idxport/internal/text"
)

// show writes text for people to w. Each string among args, which may be the name of a file, column
// or class, goes through text.Printable, as all text does that is not ours.
func show(w io.Writer, format string, args ...any) error {
	for i, arg := range args {
		if s, ok := arg.(string); ok {
			args[i] = text.Printable(s)
		}
	}
	_, err := fmt.Fprintf(w, format, args...)
	return err
}

const (
	helpColumns = 80 // the greatest width of help and lists
	leastCell   = 20 // the least width of a cell that is broken into lines
)

// table lays out rows in columns, with two spaces between them and before each line of an indented
// table. Lines are at most limit columns wide, 0 for any: the last cell of a row is continued below
// its beginning or, after a long name, on lines of its own.
func table(indent string, limit int, rows [][]string) string {
	widths := make([]int, len(rows[0])) // all rows have as many cells
	for _, row := range rows {
		for i, cell := range row[:len(row)-1] {
			if n := sheet.TextWidth(text.Printable(cell)); limit == 0 || n <= limit/2 {
				widths[i] = max(widths[i], n)
			}
		}
	}
	var out strings.Builder
	for _, row := range rows {
		line := indent
		for i, cell := range row[:len(row)-1] {
			cell = text.Printable(cell)
			line += cell + strings.Repeat(" ", max(0, widths[i]-sheet.TextWidth(cell))+2)
		}
		left := sheet.TextWidth(line)
		if limit > 0 && left > limit-leastCell {
			out.WriteString(strings.TrimRight(line, " ") + "\n")
			left = len(indent) + 2
			line = strings.Repeat(" ", left)
		}
		for _, part := range wrap(text.Printable(row[len(row)-1]), limit-left) {
			out.WriteString(line + part + "\n")
			line = strings.Repeat(" ", left)
		}
	}
	return out.String()
}

// wrap breaks text between words into lines of at most limit columns, if it is not too small.
func wrap(text string, limit int) (lines []string) {
	if limit < leastCell || sheet.TextWidth(text) <= limit {
		return []string{text}
	}
	for word := range strings.FieldsSeq(text) {
		if last := len(lines) - 1; last >= 0 && sheet.TextWidth(lines[last])+1+sheet.TextWidth(word) <= limit {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// columns returns the width of the terminal w, or 80 if it is unknown.
func columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return helpColumns
}

func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

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
	line, before := b.text(n, columns(b.w)-1-len(interruption)), b.used
	b.used = sheet.TextWidth(line)
	// Spaces cover the rest of the previous line. Errors of a display do not matter.
	_ = show(b.w, "\r%s%s", line, strings.Repeat(" ", max(0, before-b.used)))
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
