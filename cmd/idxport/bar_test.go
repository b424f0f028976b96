package main

import (
	"strings"
	"testing"
	"time"
)

func TestBarText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		rows, total int64
		want        string
	}{
		{"nothing yet", 0, 60_000, "train   0% " + strings.Repeat("░", 30) + " 0 of 60,000 rows"},
		{"a third", 20_000, 60_000, "train  33% " + strings.Repeat("█", 10) + strings.Repeat("░", 20) + " 20,000 of 60,000 rows, 20s left"},
		{"all", 60_000, 60_000, "train 100% " + strings.Repeat("█", 30) + " 60,000 of 60,000 rows, 0s left"},
		{"more than there were to be", 70_000, 60_000, "train 100% " + strings.Repeat("█", 30) + " 60,000 of 60,000 rows, 0s left"},
		{"no end known", 20_000, -1, "train: 20,000 rows"},
		{"no rows at all", 0, 0, "train: 0 rows"},
		{"numbers near the largest", 1 << 56, 1 << 57, "train  50% " + strings.Repeat("█", 15) + strings.Repeat("░", 15) + " 72,057,594,037,927,936 of 144,115,188,075,855,872 rows, 10s left"},
	}
	for _, test := range tests {
		b := bar{label: "train", total: test.total}
		if got := b.text(test.rows, 10*time.Second); got != test.want {
			t.Errorf("%s:\nfound    %s\nexpected %s", test.name, got, test.want)
		}
	}
}

func TestBarLeavesNothing(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	b := bar{w: &out, label: "train", total: 10}
	b.rows(5)
	b.rows(6) // too soon to be drawn
	b.done()
	b.rows(7) // by a pass that was given up
	b.done()
	if got := out.String(); strings.Count(got, "train") != 1 || !strings.HasSuffix(got, "\r\x1b[K") || strings.Count(got, "\r") != 2 {
		t.Errorf("found %q, expected one line and its erasure", got)
	}
}

func TestBarStaysOneLine(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	b := bar{w: &out, label: strings.Repeat("é", 100), total: 10}
	b.rows(5)
	if want := "\r" + strings.Repeat("é", 79) + "\x1b[K"; out.String() != want {
		t.Errorf("found %q, expected %q", out.String(), want)
	}
}
