package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// A ratio counts things and how many of them were run.
type ratio struct{ run, all int }

func (r *ratio) add(n int, run bool) {
	r.all += n
	if run {
		r.run += n
	}
}

func (r ratio) percent() float64 { return 100 * float64(r.run) / float64(max(r.all, 1)) }

func (r ratio) String() string {
	if r.all == 0 {
		return fmt.Sprintf("%6d  %7s", 0, "–")
	}
	return fmt.Sprintf("%6d  %5.1f %%", r.all, r.percent())
}

// figures are those of a package.
type figures struct{ statements, branches ratio }

// A missing branch is one that no test takes.
type missing struct {
	file string
	branch
}

// A table is the result.
type table struct {
	packages map[string]*figures
	missed   []missing
}

// total adds up the packages of the product: those named …test drive tests.
func (t *table) total() (sum figures) {
	for name, f := range t.packages {
		if !strings.HasSuffix(name, "test") {
			sum.statements.run, sum.statements.all = sum.statements.run+f.statements.run, sum.statements.all+f.statements.all
			sum.branches.run, sum.branches.all = sum.branches.run+f.branches.run, sum.branches.all+f.branches.all
		}
	}
	return sum
}

func (t *table) print(w io.Writer) {
	line := func(name string, f figures) { fmt.Fprintf(w, "%-28s %s   %s\n", name, f.statements, f.branches) }
	fmt.Fprintf(w, "%-28s %15s   %15s\n", "", "statements", "branches")
	for _, name := range slices.Sorted(maps.Keys(t.packages)) {
		line(name, *t.packages[name])
	}
	line("total", t.total())
}

// printMissed lists the branches below a folder that no test takes.
func (t *table) printMissed(w io.Writer, folder string) {
	slices.SortFunc(t.missed, func(a, b missing) int { return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line)) })
	for _, m := range t.missed {
		if folder == "." || m.file == folder || strings.HasPrefix(m.file, folder+"/") {
			fmt.Fprintf(w, "%s:%d: %s: never %s\n", m.file, m.line, m.function, m.outcome)
		}
	}
}

// check demands at least so many percent in total.
func (t *table) check(least float64) error {
	sum := t.total()
	for _, r := range []struct {
		what string
		ratio
	}{{"statements", sum.statements}, {"branches", sum.branches}} {
		if r.all == 0 || r.percent() < least {
			return fmt.Errorf("the tests run %.1f %% of %d %s, expected at least %g %%", r.percent(), r.all, r.what, least)
		}
	}
	return nil
}
