package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/sheet"
)

// show writes text for people to w. Everything that is not ours, such as messages and the names of
// files, columns and classes, is a string among args: what would move the cursor, break the line or
// change the direction of text is replaced.
func show(w io.Writer, format string, args ...any) error {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = display.Printable(text)
		}
	}
	_, err := io.WriteString(w, forLocale(fmt.Sprintf(format, args...)))
	return err
}

// forLocale returns text in ASCII if the user's locale has another character set than UTF-8.
// Without any locale, as in many containers, terminals show UTF-8 all the same.
func forLocale(text string) string {
	if locale := locale(); locale == "" || strings.Contains(locale, "UTF-8") || strings.Contains(locale, "UTF8") {
		return text
	}
	return display.ASCII(text)
}

// locale returns the name of the user's locale in upper case; it often ends in the character set.
func locale() string {
	return strings.ToUpper(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG")))
}

// leastCell is the least width of a cell that is broken into lines.
const leastCell = 20

// table writes rows in columns, with two spaces between them and before each line of an indented
// table. Lines are at most limit columns wide, 0 for any: the last cell of a row is continued below
// its beginning or, after a long name, on lines of its own.
func table(w io.Writer, indent string, limit int, rows [][]string) error {
	var widths []int
	for _, row := range rows {
		for i, cell := range row[:len(row)-1] {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if n := sheet.TextWidth(display.Printable(cell)); limit == 0 || n <= limit/2 {
				widths[i] = max(widths[i], n)
			}
		}
	}
	for _, row := range rows {
		line := indent
		for i, cell := range row[:len(row)-1] {
			cell = display.Printable(cell)
			line += cell + strings.Repeat(" ", max(0, widths[i]-sheet.TextWidth(cell))+2)
		}
		left := sheet.TextWidth(line)
		if limit > 0 && left > limit-leastCell {
			if err := show(w, "%s\n", strings.TrimRight(line, " ")); err != nil {
				return err
			}
			left = len(indent) + 2
			line = strings.Repeat(" ", left)
		}
		for i, text := range wrap(row[len(row)-1], limit-left) {
			if i > 0 {
				line = strings.Repeat(" ", left)
			}
			if err := show(w, "%s\n", line+text); err != nil {
				return err
			}
		}
	}
	return nil
}

// wrap breaks text between words into lines of at most limit columns, if it is not too small for
// that.
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
	return 80
}

// terminal reports whether w is a terminal.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
