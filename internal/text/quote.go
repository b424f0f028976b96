package text

import (
	"fmt"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote returns word as one word of a command line: unquoted where that is safe, otherwise in
// single quotes, or in double quotes on Windows. Except on Windows, if word has characters that a
// terminal cannot show, such as a newline or a byte that is not UTF-8, Quote returns a call of
// printf; a newline at the end of word is lost.
func Quote(word string) string { return quote(word, runtime.GOOS == "windows") }

// Path quotes the path of a file so that it is never taken for a flag: -x becomes ./-x.
func Path(path string) string {
	if strings.HasPrefix(path, "-") {
		path = "./" + path
	}
	return Quote(path)
}

func quote(word string, windows bool) string {
	safe, quoted := `_./:@+=,-`, quotePOSIX
	if windows {
		safe, quoted = `_./\:+=-`, quoteWindows // PowerShell has a meaning for a comma and an @
	}
	special := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(safe, r)
	}
	// zsh replaces =x by the path of the command x.
	if word == "" || word[0] == '=' || !utf8.ValidString(word) || strings.ContainsFunc(word, special) {
		return quoted(word)
	}
	return word
}

// quotePOSIX quotes word for POSIX shells (Shell Command Language, 2.2.2). Not all have $'…' yet.
func quotePOSIX(word string) string {
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

var quoteInWord = Pattern(`(\\*)"`) // and the slashes before it

// quoteWindows quotes word for programs on Windows: \ is doubled before a quote, and only there.
func quoteWindows(word string) string {
	word = quoteInWord().ReplaceAllString(word, `$1$1\"`)
	last := word[len(strings.TrimRight(word, `\`)):]
	return `"` + word + last + `"`
}
