package main

import (
	"strings"
	"testing"
)

// bars returns a bar of full and empty cells.
func bars(full, empty int) string { return strings.Repeat("█", full) + strings.Repeat("░", empty) }

func TestBarText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		rows, total int64
		columns     int
		want        string
	}{
		{"nothing yet", 0, 60_000, 79, "train   0% " + bars(0, 51) + " 0 of 60,000 rows"},
		{"a third", 20_000, 60_000, 79, "train  33% " + bars(15, 31) + " 20,000 of 60,000 rows"},
		{"a narrow terminal", 20_000, 60_000, 59, "train  33% " + bars(8, 18) + " 20,000 of 60,000 rows"},
		{"a wide terminal", 30_000, 60_000, 142, "train  50% " + bars(54, 55) + " 30,000 of 60,000 rows"},
		{"no room for a bar", 20_000, 60_000, 31, "tr…  33%  20,000 of 60,000 rows"},
		{"no room for the words", 20_000, 60_000, 20, "…  33%  20,000 of 6…"},
		{"all", 60_000, 60_000, 79, "train 100% " + bars(46, 0) + " 60,000 of 60,000 rows"},
		{"more than there were to be", 70_000, 60_000, 79, "train 100% " + bars(46, 0) + " 60,000 of 60,000 rows"},
		{"no end known", 20_000, -1, 79, "train: 20,000 rows"},
		{"no end known, and narrow", 20_000, -1, 15, "t…: 20,000 rows"},
		{"no rows at all", 0, 0, 79, "train: 0 rows"},
		{"numbers near the largest", 1 << 56, 1 << 57, 99, "train  50% " + bars(16, 17) +
			" 72,057,594,037,927,936 of 144,115,188,075,855,872 rows"},
	}
	for _, test := range tests {
		b := bar{title: "train", total: test.total}
		if got := b.text(test.rows, test.columns); got != test.want {
			t.Errorf("%s:\nfound    %s\nexpected %s", test.name, got, test.want)
		}
	}
}

func TestBarLeavesNothing(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	b := bar{w: &out, title: "train", total: 10}
	b.rows(5)
	b.rows(6) // too soon to be drawn
	b.done()
	b.rows(7) // by a pass that was given up
	b.done()
	got, erased := out.String(), "\r"+strings.Repeat(" ", 79)+"\r"
	if strings.Count(got, "train") != 1 || !strings.HasSuffix(got, erased) ||
		strings.Count(got, "\r") != 3 || strings.Contains(got, "\x1b") {
		t.Errorf("found %q, expected one line and its erasure", got)
	}
}

func TestBarStaysOneLine(t *testing.T) {
	t.Parallel()
	const end = "  50%  5 of 10 rows"
	for label, want := range map[string]string{
		strings.Repeat("é", 100): strings.Repeat("é", 76-len(end)) + "…" + end,
		strings.Repeat("字", 100): strings.Repeat("字", (76-len(end))/2) + "…" + end, // two columns each
	} {
		var out strings.Builder
		b := bar{w: &out, title: label, total: 10}
		b.rows(5)
		if want = "\r" + want; out.String() != want {
			t.Errorf("found %q, expected %q", out.String(), want)
		}
	}
}
