package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

const (
	barCells = 30
	barEvery = 100 * time.Millisecond
)

// A bar is a line on a terminal that is drawn again and again. (The usual library for it brings an HTTP server's code along, which
// is an eighth of the binary and of the time that it takes to start.)
type bar struct {
	w     io.Writer
	label string
	total int64 // rows, −1 if unknown
	start time.Time

	mu     sync.Mutex // a pass that was given up may still report
	drawn  time.Time
	closed bool
}

// rows draws that n are done.
func (b *bar) rows(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.closed || now.Sub(b.drawn) < barEvery {
		return
	}
	b.drawn = now
	// "\x1b[K" erases what is left of the line before. A display: errors do not matter.
	fmt.Fprintf(b.w, "\r%s\x1b[K", shorten(b.text(n, now.Sub(b.start)), columns(b.w)-1))
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

// text is the line after some time: as in "train  40% ████████████░░░░░░░░░░░░░░░░░░ 24,000 of 60,000 rows, 3s left".
func (b *bar) text(n int64, after time.Duration) string {
	if b.total <= 0 {
		return fmt.Sprintf("%s: %s rows", b.label, thousands(n))
	}
	n = min(n, b.total)
	full := int(n * barCells / b.total)
	text := fmt.Sprintf("%s %3d%% %s%s %s of %s rows", b.label, 100*n/b.total,
		strings.Repeat("█", full), strings.Repeat("░", barCells-full), thousands(n), thousands(b.total))
	if n > 0 {
		left := time.Duration(float64(after) * float64(b.total-n) / float64(n))
		text += fmt.Sprintf(", %v left", left.Round(time.Second))
	}
	return text
}

// columns is the width of a terminal, 80 if w is none or does not tell.
func columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return 80
}

// shorten cuts text to n characters, so that a line stays one: only then can it be drawn over.
func shorten(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:max(0, n)])
}
