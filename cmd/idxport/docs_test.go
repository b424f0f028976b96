package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"

	"github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/sink/layout"
	"github.com/idxport/idxport/source/dataset"
)

// TestREADME demands that whatever the program takes and returns stands in the README.
func TestREADME(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	readme := string(data)
	for kind, names := range vocabulary() {
		for _, name := range names {
			if !strings.Contains(readme, "`"+name+"`") {
				t.Errorf("%s %s is not in the README", kind, name)
			}
		}
	}
	// A flag may stand with the name of its value: `--rows A:B`.
	for _, c := range (&program{}).root().Commands {
		if !regexp.MustCompile("`idxport " + c.Name + "[` ]").MatchString(readme) {
			t.Errorf("the command %s is not in the README", c.Name)
		}
		for _, f := range c.Flags {
			for _, name := range flagSpellings(f) {
				if !regexp.MustCompile("`" + regexp.QuoteMeta(name) + "[` =]").MatchString(readme) {
					t.Errorf("the flag %s of %s is not in the README", name, c.Name)
				}
			}
		}
	}
	for _, code := range allExitCodes() {
		if !regexp.MustCompile(fmt.Sprintf("(?m)^\\| [0-9`, ]*\\b%d\\b[0-9`, ]* \\|", code)).MatchString(readme) {
			t.Errorf("the exit code %d has no row in a table of the README", code)
		}
	}
}

// vocabulary are the words that users choose among, by kind.
func vocabulary() map[string][]string {
	words := map[string][]string{"format": formats.Names(), "layout": layout.Names()}
	for _, s := range csv.Styles() {
		words["CSV style"] = append(words["CSV style"], s.Name)
	}
	for _, f := range formats.All() {
		words["codec"] = append(words["codec"], f.Codecs...)
	}
	return words
}

// flagSpellings are the ways to write a flag.
func flagSpellings(f cli.Flag) []string {
	var all []string
	for _, name := range f.Names() {
		if len(name) == 1 {
			all = append(all, "-"+name)
		} else {
			all = append(all, "--"+name)
		}
	}
	return all
}

// allExitCodes are those that the program ends with.
func allExitCodes() []int {
	codes := []int{exitOK, exitInternal, exitIO, exitSignal + 1, exitSignal + 2, exitSignal + 13, exitSignal + 15} // SIGHUP, SIGINT, SIGPIPE, SIGTERM
	return append(codes, slices.Collect(maps.Values(exitCodes))...)
}

// TestLists demands a row for every format, layout, CSV style and data set in what the program lists.
func TestLists(t *testing.T) {
	t.Parallel()
	words := vocabulary()
	var sets []string
	for _, d := range dataset.Known() {
		sets = append(sets, d.Name)
	}
	for command, rows := range map[string][]string{
		"formats":  append(append(words["format"], words["layout"]...), words["CSV style"]...),
		"datasets": sets,
	} {
		if len(rows) < 5 {
			t.Errorf("%s: found %d rows to look for, expected more", command, len(rows))
		}
		var stdout, stderr bytes.Buffer
		if code := run([]string{"idxport", command}, strings.NewReader(""), &stdout, &stderr); code != 0 || stderr.Len() > 0 {
			t.Errorf("%s: exit code %d, %s", command, code, stderr.String())
		}
		for _, row := range rows {
			if !regexp.MustCompile("(?m)^" + row + "  ").MatchString(stdout.String()) {
				t.Errorf("%s: no row for %s", command, row)
			}
		}
	}
	for _, name := range sets {
		var stdout, stderr bytes.Buffer
		if code := run([]string{"idxport", "datasets", name}, strings.NewReader(""), &stdout, &stderr); code != 0 || !strings.Contains(stdout.String(), "class ") {
			t.Errorf("datasets %s: exit code %d, %s", name, code, stderr.String())
		}
	}
}

// TestExitCodesHaveNames is about reports: every code has a kind that programs can tell.
func TestExitCodesHaveNames(t *testing.T) {
	t.Parallel()
	for _, code := range exitCodes {
		if code < exitSignal && codeNames[code] == "" {
			t.Errorf("exit code %d has no name in reports", code)
		}
	}
}
