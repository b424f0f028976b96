package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// glob PATTERN COUNT demands so many files that match.
func glob(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: glob PATTERN COUNT")
	}
	found, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(found) != number(ts, args[1]) {
		ts.Fatalf("%s: found %q, expected %s", args[0], found, args[1])
	}
}

// join PATTERN TO joins CSV files, in the order of their names, under the header of the first.
func join(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: join PATTERN TO")
	}
	files, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	slices.Sort(files)
	var joined []byte
	for i, file := range files {
		text, err := os.ReadFile(file)
		ts.Check(err)
		if i > 0 {
			text = text[bytes.IndexByte(text, '\n')+1:]
		}
		joined = append(joined, text...)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), joined, 0o666))
}

func TestParseSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"1": 0, "128": 0, "1e3": 0, "128M": 128e6, "2k": 2000, "3G": 3e9, "1T": 1e12, "128MB": 128e6, "128MiB": 134217728, "128 MB": 128e6, "64MiB": 64 << 20, "1.5GB": 15e8, "2gib": 2 << 30, "1kB": 1000, "1B": 1, "8TiB": 8 << 40,
		"": 0, "0": 0, "-1": 0, "MB": 0, "1MM": 0, "1e3B": 1000, "1MBit": 0, "NaN": 0, "inf": 0, "9999999999TB": 0, "12 parsecs": 0,
	} {
		got, err := parseSize("file-size", text)
		if got != want || (err != nil) != (want == 0) || got == math.MaxInt64 {
			t.Errorf("%q: found %d, %v, expected %d", text, got, err, want)
		}
	}
}
