package text

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable makes text from file names and file contents safe to show: it replaces line breaks,
// other control characters, and the Unicode marks that change the direction of text, with which one
// name can look like another (trojansource.codes). Bytes that are not UTF-8 are shown as \xff.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case moves(r):
			return '?'
		}
		return r
	}, Legible(s))
}

// moves reports whether r can move the cursor of a terminal or change the direction of text.
func moves(r rune) bool {
	return unicode.IsControl(r) || r == 0x2028 || r == 0x2029 || unicode.Is(unicode.Bidi_Control, r)
}

// Escaped returns JSON with \u and four digits for each character that Printable replaces.
func Escaped(json string) string {
	var b strings.Builder
	for _, r := range json {
		if moves(r) {
			fmt.Fprintf(&b, `\u%04x`, r) // all such characters are below U+10000
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Legible returns s or, if s is not valid UTF-8 (names of files need not be), s with each invalid
// byte written as \x and two digits, such as \xff, and each backslash as \\.
func Legible(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\\':
			b.WriteString(`\\`)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Thousands formats n with commas: 60,000.
func Thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count formats a number with a noun: Count(2, "row") is "2 rows".
func Count[T int | int64](n T, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Thousands(int64(n)) + " " + noun + "s"
}

// Bytes formats a number of bytes in decimal units, with three digits: 9.91 MB.
func Bytes(n int64) string {
	v, units := float64(n), []string{"bytes", "kB", "MB", "GB", "TB"}
	for len(units) > 1 && v >= 999.5 {
		v, units = v/1000, units[1:]
	}
	if units[0] == "bytes" {
		return Count(n, "byte")
	}
	return fmt.Sprintf("%.3g %s", v, units[0])
}

// Shape formats the shape of a record: 28×28, or "scalar" if it has no dimensions.
func Shape[T int | int64](shape []T) string {
	if len(shape) == 0 {
		return "scalar"
	}
	sizes := strings.Trim(fmt.Sprint(shape), "[]") // such as 28 28
	return strings.ReplaceAll(sizes, " ", "×")
}

// JSON returns v, of strings, numbers and booleans, as JSON without escapes for HTML.
func JSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // cannot fail: plain values into memory
	return strings.TrimSuffix(b.String(), "\n")
}
