package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/testscript"
)

// glob PATTERN COUNT demands so many files that match.
func glob(ts *testscript.TestScript, args []string) {
	found, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(found) != number(ts, args[1]) {
		ts.Fatalf("%s: found %q, expected %s", args[0], found, args[1])
	}
}

// join PATTERN TO joins CSV files, in the order of their names, under the header of the first.
func join(ts *testscript.TestScript, args []string) {
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
