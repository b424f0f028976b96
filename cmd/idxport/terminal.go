package main

import (
	"fmt"
	"io"
	"os"
	"strings"

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
