package sheet

import "strings"

// TextWidth is how many columns of a terminal text takes: two for a character of East Asian scripts.
func TextWidth(text string) int {
	n := 0
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

// runeWidth is the width of r, roughly after Unicode's East Asian Width.
func runeWidth(r rune) int {
	switch {
	case r >= 0x1100 && r <= 0x115f, // Hangul Jamo
		r >= 0x2e80 && r <= 0xa4cf && r != 0x303f, // CJK, kana, Yi
		r >= 0xac00 && r <= 0xd7a3,                // Hangul
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6,
		r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

// Shorten cuts text to at most width columns, the last of them "…" then.
func Shorten(text string, width int) string {
	if TextWidth(text) <= width {
		return text
	}
	var cut strings.Builder
	n := 0
	for _, r := range text {
		if n += runeWidth(r); n > width-1 {
			break
		}
		cut.WriteRune(r)
	}
	return cut.String() + "…"
}
