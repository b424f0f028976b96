package house

import (
	"bytes"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A measure is a size of the whole project. Its limit is only ever lowered: who needs room for
// something new finds what can go.
type measure struct {
	name  string
	limit int
	count func(tracked map[string][]byte) int // of the text of all tracked files, by path
}

var measures = []measure{
	{"lines of product Go", 30_715, func(f map[string][]byte) int { return lines(f, isProduct) }},
	{"lines of product assembly", 191, func(f map[string][]byte) int {
		return lines(f, func(path string) bool { return strings.HasSuffix(path, ".s") })
	}},
	{"lines of _test.go", 23_458, func(f map[string][]byte) int { return lines(f, isTest) }},
	{"lines of programs under test/", 12_710, func(f map[string][]byte) int { return lines(f, isProgram) }},
	{"words of README and docs", 12_965, func(f map[string][]byte) int { return words(f, isDocument) }},
	{"folders at the top", 12, topFolders},
	{"targets of the Makefile", 15, func(f map[string][]byte) int {
		return matches(f["Makefile"], `(?m)^[a-z][a-z-]*:`)
	}},
	{"commands", 8, func(f map[string][]byte) int { return matches(f["docs/cli.md"], `(?m)^## idxport `) }},
	{"flags of convert", 34, convertFlags},
	{"lines of product Go over 120 columns", 0, func(f map[string][]byte) int { return long(f, isProduct) }},
	{"lines of other Go over 120 columns", 0, func(f map[string][]byte) int { return long(f, isOtherGo) }},
}

// packages are the lines of product Go of some packages together; "a/..." is a and all below it.
// Every package belongs to one row.
var packages = []struct {
	names string
	limit int
}{
	{"cmd/idxport", 1623},
	{"convert", 3162},
	{"internal/publish", 1640},
	{"internal/object", 1714},
	{"internal/compressed/...", 2306},
	{"internal/jpeg", 308},
	{"internal/jpeg/samples", 221},
	{"internal/resample", 174},
	{"source", 2058},
	{"source/idx", 747},
	{"internal/dataset", 1239},
	{"internal/rows", 573},
	{"internal/input", 937},
	{"source/arrow source/columnar source/parquet source/csv source/npy source/picture source/png source/flat " +
		"internal/sources", 6843},
	{"sink sink/arrow sink/csv sink/idx sink/parquet sink/png sink/tar internal/images internal/layout internal/png",
		4783},
	{"internal/card internal/compare internal/sinks internal/parts internal/summary", 1001},
	{"pipeline schema", 606},
	{"internal/fault internal/text internal/sheet", 780},
}

// allMeasures returns measures and one for each row of packages.
func allMeasures() []measure {
	all := slices.Clone(measures)
	for _, row := range packages {
		all = append(all, measure{row.names, row.limit, func(f map[string][]byte) int {
			return lines(f, func(path string) bool { return isProduct(path) && isIn(path, row.names) })
		}})
	}
	return all
}

// isIn reports whether the file at path belongs to one of the packages.
func isIn(file, names string) bool {
	return slices.ContainsFunc(strings.Fields(names), func(name string) bool {
		above, all := strings.CutSuffix(name, "/...")
		return path.Dir(file) == above || all && strings.HasPrefix(file, above+"/")
	})
}

func TestEveryPackageIsMeasuredOnce(t *testing.T) {
	t.Parallel()
	for name := range rooms {
		n := 0
		for _, row := range packages {
			if isIn(name+"/x.go", row.names) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s is in %d rows of packages, expected 1", name, n)
		}
	}
}

// TestTheHouseOnlyShrinks holds every measure at or below its limit.
func TestTheHouseOnlyShrinks(t *testing.T) {
	t.Parallel()
	tracked := trackedFiles(t)
	for _, m := range allMeasures() {
		n := m.count(tracked)
		t.Logf("%-110s %6d  limit %6d", m.name, n, m.limit)
		switch {
		case n == 0 && m.limit > 0:
			t.Errorf("%s: found none: the count is broken", m.name)
		case n > m.limit:
			t.Errorf("%s: found %d, expected at most %d: take them from what is there", m.name, n, m.limit)
		}
	}
}

// trackedFiles returns the text of every file that git tracks, but for images and samples.
func trackedFiles(t *testing.T) map[string][]byte {
	t.Helper()
	root := filepath.Join("..", "..")
	list, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]byte{}
	for _, name := range strings.FieldsFunc(string(list), func(r rune) bool { return r == 0 }) {
		text, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		found[name] = text
	}
	return found
}

func isTest(path string) bool { return strings.HasSuffix(path, "_test.go") }

func isProduct(path string) bool {
	return strings.HasSuffix(path, ".go") && !isTest(path) && !strings.HasPrefix(path, "test/")
}

func isOtherGo(path string) bool { return strings.HasSuffix(path, ".go") && !isProduct(path) }

func isProgram(path string) bool {
	return strings.HasPrefix(path, "test/") && !isTest(path) && programs.MatchString(path)
}

var programs = regexp.MustCompile(`\.(go|py|mjs|js|java|rs|c)$`)

func isDocument(path string) bool {
	return path == "README.md" || strings.HasPrefix(path, "docs/") && strings.HasSuffix(path, ".md")
}

// total adds up what count says of the files that are chosen.
func total(files map[string][]byte, chosen func(path string) bool, count func(text []byte) int) (n int) {
	for path, text := range files {
		if chosen(path) {
			n += count(text)
		}
	}
	return n
}

func lines(files map[string][]byte, chosen func(path string) bool) int {
	return total(files, chosen, func(text []byte) int { return bytes.Count(text, []byte("\n")) })
}

func words(files map[string][]byte, chosen func(path string) bool) int {
	return total(files, chosen, func(text []byte) int { return len(bytes.Fields(text)) })
}

// long counts the lines of more than 120 columns, with a tab stop every 4 columns.
func long(files map[string][]byte, chosen func(path string) bool) int {
	return total(files, chosen, func(text []byte) (n int) {
		for line := range strings.Lines(string(text)) {
			if columns(strings.TrimSuffix(line, "\n")) > 120 {
				n++
			}
		}
		return n
	})
}

func matches(text []byte, pattern string) int {
	return len(regexp.MustCompile(pattern).FindAll(text, -1))
}

func topFolders(files map[string][]byte) int {
	found := map[string]bool{}
	for path := range files {
		if top, _, inFolder := strings.Cut(path, "/"); inFolder && !strings.HasPrefix(top, ".") {
			found[top] = true
		}
	}
	return len(found)
}

// convertFlags counts the rows of the table of flags of convert in docs/cli.md.
func convertFlags(files map[string][]byte) int {
	_, section, _ := strings.Cut(string(files["docs/cli.md"]), "<!-- flags of convert -->")
	section, _, _ = strings.Cut(section, "<!-- /flags of convert -->")
	return matches([]byte(section), "(?m)^\\| `-")
}

func TestMeasuresAreCounted(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{
		"a/a.go": []byte("package a\n\n\t// " + strings.Repeat("x", 114) + "\n"), "a/a_test.go": []byte("package a\n"),
		"test/b/b.go": []byte("package b\n\n"), "README.md": []byte("two words\n"),
		"docs/cli.md": []byte("<!-- flags of convert -->\n| `--a` | b |\n| `--c` | d |\n" +
			"<!-- /flags of convert -->\n| `--e` |\n"),
	}
	found := []int{lines(files, isProduct), lines(files, isTest), lines(files, isProgram), words(files, isDocument),
		topFolders(files), convertFlags(files), long(files, isProduct), long(files, isOtherGo)}
	for i, want := range []int{3, 1, 2, 25, 3, 2, 1, 0} {
		if found[i] != want {
			t.Errorf("measure %d: found %d, expected %d", i, found[i], want)
		}
	}
}
