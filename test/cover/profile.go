package main

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

// module is the path of the module and a slash: what a profile writes before the name of a file.
const module = "github.com/idxport/idxport/"

// A block is a line of a profile: statements that are run together.
type block struct {
	span
	statements int
	run        bool
}

// readProfile reads the blocks of each file, sorted. A block is in the profile once for each test binary.
func readProfile(name string) (map[string][]block, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	type key struct {
		file string
		span span
	}
	merged := map[key]block{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		file, rest, ok := strings.Cut(lines.Text(), ":")
		if ok && file == "mode" {
			continue
		}
		var b block
		var times int
		_, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &b.from.line, &b.from.column, &b.to.line, &b.to.column, &b.statements, &times)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", name, lines.Text(), err)
		}
		k := key{strings.TrimPrefix(file, module), b.span}
		b.run = times > 0 || merged[k].run
		merged[k] = b
	}
	files := map[string][]block{}
	for k, b := range merged {
		files[k.file] = append(files[k.file], b)
	}
	for _, blocks := range files {
		slices.SortFunc(blocks, func(a, b block) int {
			return cmp.Or(cmp.Compare(a.from.line, b.from.line), cmp.Compare(a.from.column, b.from.column))
		})
	}
	return files, lines.Err()
}

// count adds up the statements and branches of each package. A file that has no blocks is not of this platform, or has no code.
func count(sources map[string]*source, files map[string][]block) *table {
	t := &table{packages: map[string]*figures{}}
	for name, s := range sources {
		blocks := files[name]
		if len(blocks) == 0 {
			continue
		}
		pkg := path.Dir(name)
		if t.packages[pkg] == nil {
			t.packages[pkg] = &figures{}
		}
		f := t.packages[pkg]
		for _, b := range blocks {
			if !slices.ContainsFunc(s.added, func(a span) bool { return a.holds(b.from) }) {
				f.statements.add(b.statements, b.run)
			}
		}
		for _, b := range s.branches {
			i := slices.IndexFunc(blocks, func(x block) bool { return b.holds(x.from) })
			run := i >= 0 && blocks[i].run
			f.branches.add(1, run)
			if !run {
				t.missed = append(t.missed, missing{name, b})
			}
		}
	}
	return t
}
