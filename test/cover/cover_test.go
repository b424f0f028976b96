package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sample has two ways out of each condition, also of those without else or default. A comment says which outcomes the calls of use take: what is
// missed is worked out by hand.
const sample = `package sink

type either[T any] struct{ l, r T }

func (e either[T]) pick(left bool) T {
	if left { // missed: false
		return e.l
	}
	return e.r
}

func chain(n int) string {
	if n < 0 { // missed: true
		return "negative"
	} else if n == 0 { // missed: none
		return "zero"
	}
	switch { // missed: none
	case n > 100: // missed: case
		return "large"
	case n > 10: // missed: none
	}
	return "small"
}

func sum(n int) (all int) {
	for i := 0; i < n; i++ { // missed: false
		if i == 3 { // missed: none
			return all
		}
		all += i
	}
	return all
}

func halve(x int) int {
	for x > 1 && // missed: none
		x%2 == 0 {
		x /= 2
		if x == 6 { continue } // missed: none
	}
	return x
}

func kind(v any, c chan int) {
	switch v.(type) { // missed: none
	case int: // missed: none
		select {
		case <-c: // missed: case
		default: // missed: none
		}
	case string: // missed: case
	default: // missed: default
	}
}

func never(x int) (n int) {
	for range x {
		n++
	}
	switch x {
	case 1: // missed: case
	} // missed: default
	return n
}

// Use is what the test of another package calls.
func Use() {
	either[int]{}.pick(true)
	chain(0)
	chain(20)
	chain(5)
	sum(9)
	halve(12)
	kind(1, nil)
}
`

// The statements of sample, counted by hand: pick 3, chain 7, sum 5, halve 5, kind 2, never 4, Use 7. Those not run: the last return of pick and of sum,
// two returns of chain, and never's.
const (
	sampleStatements = 33
	sampleRun        = sampleStatements - 1 - 1 - 2 - 4
)

// TestBranchesTakenByAnotherPackage measures a module whose one test stands in another package than its sources.
func TestBranchesTakenByAnotherPackage(t *testing.T) {
	t.Parallel()
	root, files := t.TempDir(), map[string]string{
		"go.mod":                 "module github.com/idxport/idxport\n\ngo 1.26\n",
		"sink/sample.go":         sample,
		"sink/sample_plan9.go":   "package sink\n\nfunc foreign(x int) int {\n\tif x > 0 {\n\t\treturn 1\n\t}\n\treturn 0\n}\n",
		"pipeline/other_test.go": "package other\n\nimport (\n\t\"testing\"\n\n\t\"github.com/idxport/idxport/sink\"\n)\n\nfunc TestUse(*testing.T) { sink.Use() }\n",
	}
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	table, err := measure(t.Context(), root, slices.Collect(maps.Keys(files)), []string{"./..."})
	if err != nil {
		t.Fatal(err)
	}
	got := map[int][]string{}
	for _, m := range table.missed {
		got[m.line] = append(got[m.line], m.outcome)
	}
	outcomes := regexp.MustCompile(`// missed: (\w+)$`)
	for i, line := range strings.Split(sample, "\n") {
		expected := "none"
		if m := outcomes.FindStringSubmatch(line); m != nil {
			expected = m[1]
		}
		if found := strings.Join(got[i+1], " "); found != expected && (found != "" || expected != "none") {
			t.Errorf("line %d, %s: missed %q, expected %q", i+1, strings.TrimSpace(line), found, expected)
		}
	}
	f := table.packages["sink"]
	if f.statements != (ratio{sampleRun, sampleStatements}) {
		t.Errorf("%d of %d statements, expected %d of %d", f.statements.run, f.statements.all, sampleRun, sampleStatements)
	}
	if f.branches.all-f.branches.run != len(table.missed) {
		t.Errorf("%d of %d branches, and %d missed", f.branches.run, f.branches.all, len(table.missed))
	}
}

// TestTotalLeavesTestHelpersOut has a helper of tests that would drag the total below the limit, or lift it above.
func TestTotalLeavesTestHelpersOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		product, helper ratio
		fails           string
	}{
		"good product, bad helper": {ratio{9, 10}, ratio{0, 1000}, ""},
		"bad product, good helper": {ratio{89, 100}, ratio{1000, 1000}, "89.0 % of 100 branches"},
		"nothing measured":         {ratio{}, ratio{10, 10}, "0 branches"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := ratio{10, 10}
			table := &table{packages: map[string]*figures{"sink": {all, c.product}, "sink/sinktest": {all, c.helper}}}
			err := table.check(90)
			if c.fails == "" && err != nil || c.fails != "" && !strings.Contains(fmt.Sprint(err), c.fails) {
				t.Errorf("got %v, expected %q", err, c.fails)
			}
		})
	}
}
