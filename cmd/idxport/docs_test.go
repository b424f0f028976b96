package main

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/sheet"
	"github.com/idxport/idxport/internal/sinks"
)

var update = flag.Bool("update", false, "write the tables of docs/cli.md")

// readDocs returns the text of a document.
func readDocs(t *testing.T, name string) string {
	t.Helper()
	return string(read(t, filepath.Join("..", "..", name)))
}

// TestDocs demands that docs/formats.md has every format, layout, style and codec, and docs/cli.md
// every exit code, each of which has a name in reports, and a run in the script exit_codes.
func TestDocs(t *testing.T) {
	t.Parallel()
	page := readDocs(t, "docs/formats.md")
	for kind, names := range vocabulary() {
		for _, name := range names {
			if !strings.Contains(page, "`"+name+"`") {
				t.Errorf("%s %s is not in docs/formats.md", kind, name)
			}
		}
	}
	page = readDocs(t, "docs/cli.md")
	script := string(read(t, filepath.Join("testdata", "script", "exit_codes.txtar")))
	for _, code := range allExitCodes() {
		if !regexp.MustCompile(fmt.Sprintf("(?m)^\\| [0-9`, ]*\\b%d\\b[0-9`, ]* \\|", code)).MatchString(page) {
			t.Errorf("the exit code %d has no row in docs/cli.md", code)
		}
		if code != exitOK && code < exitSignal && codeNames[code] == "" {
			t.Errorf("the exit code %d has no name in reports", code)
		}
		if code != exitInternal && !strings.Contains(script, fmt.Sprintf("\nreports %d ", code)) {
			t.Errorf("the exit code %d has no run in the script exit_codes", code)
		}
	}
}

// TestCLIPage compares the tables of flags in docs/cli.md, each between two comments, with the
// table of flags; with -update it writes them.
func TestCLIPage(t *testing.T) {
	page := readDocs(t, "docs/cli.md")
	for _, c := range commands() {
		if !strings.Contains(page, "\n## idxport "+c.name+"\n") {
			t.Errorf("the command %s has no section in docs/cli.md", c.name)
		}
		specs := flagsOf(c.name)
		if len(specs) == 0 {
			continue
		}
		begin, end := "<!-- flags of "+c.name+" -->\n", "<!-- /flags of "+c.name+" -->\n"
		before, rest, found := strings.Cut(page, begin)
		old, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			t.Errorf("docs/cli.md has no lines %q and %q", begin, end)
			continue
		}
		var table, same strings.Builder
		table.WriteString("\n| flag | meaning |\n|---|---|\n")
		for _, f := range specs {
			if c.name != "convert" && meansAsForConvert(f) {
				same.WriteString(", `--" + f.name + "`")
				continue
			}
			meaning := strings.TrimRight(strings.ToUpper(f.usage[:1])+f.usage[1:]+". "+f.detail, " ")
			names := "--" + f.name
			if f.short != "" {
				names += "`, `" + f.short
			}
			fmt.Fprintf(&table, "| `%s` | %s |\n", strings.TrimSpace(names+" "+f.placeholder),
				strings.ReplaceAll(meaning, "|", "\\|"))
		}
		if same.Len() > 0 {
			fmt.Fprintf(&table, "| %s | as for [convert](#idxport-convert) |\n", same.String()[2:])
		}
		table.WriteString("\n")
		if old == table.String() {
			continue
		}
		page = before + begin + table.String() + end + after
		if !*update {
			t.Errorf("docs/cli.md: the flags of %s are not those of the program: "+
				"go test ./cmd/idxport -run TestCLIPage -update", c.name)
		}
	}
	if *update {
		writeFile(t, filepath.Join("..", "..", "docs"), "cli.md", []byte(page))
	}
}

// meansAsForConvert reports whether convert has the same flag with the same help.
func meansAsForConvert(f flagSpec) bool {
	return slices.ContainsFunc(flagsOf("convert"), func(g flagSpec) bool {
		return g.name == f.name && g.placeholder == f.placeholder && g.usage == f.usage && g.detail == f.detail
	})
}

// TestFlagTable demands that each word of the flag table means something, and that each flag has a
// field for its value, of a type that it can set.
func TestFlagTable(t *testing.T) {
	t.Parallel()
	known, attribute := []string{"list"}, regexp.MustCompile("^(also|aka|range)=")
	for _, c := range commands() {
		known = append(known, c.name)
	}
	for _, f := range allFlags() {
		for _, word := range f.words {
			if !slices.Contains(known, word) && !attribute.MatchString(word) {
				t.Errorf("--%s: unknown word %q", f.name, word)
			}
		}
		switch f.field(new(settings)).(type) {
		case *string, *[]string, *[]int, *[2]int, *bool, **bool:
		case *int, *int64:
			if f.attribute("range") == "" {
				t.Errorf("--%s has no range", f.name)
			}
		default:
			t.Errorf("--%s: unknown type", f.name)
		}
	}
}

// Every flag of every command is completed, whatever is added.
func TestCompletionOfFlags(t *testing.T) {
	t.Parallel()
	for _, c := range commands() {
		var want, stdout, stderr bytes.Buffer
		for _, f := range flagsOf(c.name) {
			want.WriteString("--" + f.name + ":" + f.usage + "\n")
		}
		want.WriteString("--help:show help\n")
		code := run([]string{"idxport", c.name, "x", "-", completionFlag}, nil, &stdout, &stderr)
		if code != 0 || stderr.Len() > 0 || stdout.String() != want.String() {
			t.Errorf("%s: exit code %d, found %s%s, expected %s", c.name, code, &stdout, &stderr, &want)
		}
	}
}

// shown runs a command, which must succeed, and returns what it prints: lines of up to 80 columns,
// and no messages.
func shown(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(append([]string{"idxport"}, args...), strings.NewReader(""), &stdout, &stderr)
	if code != 0 || stderr.Len() > 0 {
		t.Errorf("%q: exit code %d, %s", args, code, stderr.String())
	}
	for line := range strings.Lines(stdout.String()) {
		if sheet.TextWidth(strings.TrimSuffix(line, "\n")) > helpColumns {
			t.Errorf("%q: a line of more than %d columns: %s", args, helpColumns, line)
		}
	}
	return stdout.String()
}

// TestHelp demands every flag of --help-all.
func TestHelp(t *testing.T) {
	t.Parallel()
	for _, c := range commands() {
		shown(t, c.name, "--help")
		text := shown(t, c.name, "--help-all")
		for _, f := range flagsOf(c.name) {
			if !regexp.MustCompile("(?m)(^      |, )--" + f.name + "( |$)").MatchString(text) {
				t.Errorf("%s --help-all: no --%s", c.name, f.name)
			}
		}
	}
}

// vocabulary are the words that users choose among, by kind.
func vocabulary() map[string][]string {
	words := map[string][]string{"format": sinks.Names()}
	for _, f := range sinks.All() {
		words["codec"] = append(words["codec"], f.Codecs...)
		words["layout"] = append(words["layout"], f.LayoutNames()...)
	}
	return words
}

// allExitCodes are those that the program ends with.
func allExitCodes() []int {
	codes := []int{exitOK, exitInternal, exitIO}
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE, syscall.SIGTERM} {
		codes = append(codes, exitSignal+int(s))
	}
	return append(codes, slices.Collect(maps.Values(exitCodes))...)
}

// TestLists demands a row for every format, layout and data set in what the program lists.
func TestLists(t *testing.T) {
	t.Parallel()
	words := vocabulary()
	var sets []string
	for _, d := range dataset.Known() {
		sets = append(sets, d.Name)
	}
	for command, rows := range map[string][]string{
		"formats":  append(words["format"], words["layout"]...),
		"datasets": sets,
	} {
		if len(rows) < 5 {
			t.Errorf("%s: found %d rows to look for, expected more", command, len(rows))
		}
		text := shown(t, command)
		for _, row := range rows {
			if !regexp.MustCompile("(?m)^" + row + "  ").MatchString(text) {
				t.Errorf("%s: no row for %s", command, row)
			}
		}
	}
	for _, name := range sets {
		if !strings.Contains(shown(t, "datasets", name), "class ") {
			t.Errorf("datasets %s: no class", name)
		}
	}
}
