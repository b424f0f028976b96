package shell

import (
	"fmt"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote returns word as one word of a command line: bare where that is safe, and otherwise in single quotes, or on Windows in double quotes. What a
// terminal cannot show, such as a newline or a byte that is not UTF-8, is written by printf; a newline at the end of word is lost.
func Quote(word string) string { return quote(word, runtime.GOOS == "windows") }

// Path is Quote for the path of a file, which is never taken for a flag: -x is ./-x.
func Path(path string) string {
	if strings.HasPrefix(path, "-") {
		path = "./" + path
	}
	return Quote(path)
}

// MakeFolder is the command that makes a folder and those above it. On Windows mkdir does so by itself, and would make one named -p.
func MakeFolder(path string) string { return makeFolder(path, runtime.GOOS == "windows") }

func makeFolder(path string, windows bool) string {
	if windows {
		return "mkdir " + quote(path, windows)
	}
	return "mkdir -p " + Path(path)
}

func quote(word string, windows bool) string {
	bare, quoted := `_./:@+=,-`, posix
	if windows {
		bare, quoted = `_./\:+=-`, doubled // PowerShell has a meaning for a comma and an @
	}
	special := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(bare, r)
	}
	if word == "" || word[0] == '=' || !utf8.ValidString(word) || strings.ContainsFunc(word, special) { // zsh looks =x up
		return quoted(word)
	}
	return word
}

// posix quotes as the shells of POSIX do (Shell Command Language, 2.2.2). $'…' is not in all of them yet.
func posix(word string) string {
	if utf8.ValidString(word) && !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	var b strings.Builder
	for _, c := range []byte(word) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '/' || c == '.' || c == '_' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, `\%03o`, c)
		}
	}
	return `"$(printf '` + b.String() + `')"`
}

// doubled quotes as programs on Windows read their command line: backslashes are doubled before a quote, and only there.
func doubled(word string) string {
	var b strings.Builder
	slashes := 0
	for _, c := range []byte(word) {
		switch c {
		case '\\':
			slashes++
		case '"':
			b.WriteString(strings.Repeat(`\`, slashes+1))
			slashes = 0
		default:
			slashes = 0
		}
		b.WriteByte(c)
	}
	return `"` + b.String() + strings.Repeat(`\`, slashes) + `"`
}
