package main

import (
	"bytes"
	"encoding/csv"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/idxport/idxport/test/must"
)

// hostileClasses are names of classes that would do harm as paths, on some system's shell or in
// somebody's spreadsheet, or that look alike.
var hostileClasses = []string{"../x", "/x", "..", "CON", "nul ", "aux.txt", strings.Repeat("x", 300),
	strings.Repeat("x", 301), "a\u200bb", "\u202egnp", "A", "a", "=1+1", "@SUM(A1)", "+1", "-rf", ".hidden", "a/b",
	`a\b`, "\ufeffz", `"quote`, "a,b", "<script>", "{split}", "%s", "\u0301", "_manifest.json", "metadata.csv",
	"-->", "---"}

// convertLabelled makes images and labels of these classes, and the file of their names, and
// returns the arguments of a command that converts them.
func convertLabelled(t *testing.T, classes []string, more ...string) []string {
	t.Helper()
	dir, n := t.TempDir(), len(classes)
	images := tensor{code: 0x08, dims: []int{n, 2, 2}, payload: bytes.Repeat([]byte{7}, 4*n)}
	labels := tensor{code: 0x08, dims: []int{n}}
	for i := range classes {
		labels.payload = append(labels.payload, byte(i))
	}
	return append([]string{"convert", writeFile(t, dir, "a-images-idx3-ubyte", encodeIDX(images)),
		writeFile(t, dir, "a-labels-idx1-ubyte", encodeIDX(labels)),
		"--classes", writeFile(t, dir, "names.txt", []byte(strings.Join(classes, "\n")))}, more...)
}

// Folders of classes have plain names that differ in more than case, and are in the output.
func TestHostileClassesAsFolders(t *testing.T) {
	t.Parallel()
	around := t.TempDir()
	out := filepath.Join(around, "out")
	succeed(t, convertLabelled(t, hostileClasses, "-o", "png="+out, "--layout", "names")...)
	plain := regexp.MustCompile(`^[\p{L}\p{Nd}][\p{L}\p{M}\p{Nd}_-]{0,98}$`)
	seen := map[string]bool{}
	for name := range contents(t, around) {
		parts := strings.Split(name, string(filepath.Separator))
		if parts[0] != "out" && !strings.HasSuffix(name, ".made") { // the record
			t.Errorf("found %q beside the output", name)
		}
		if len(parts) == 3 && parts[2] != "" {
			folder := strings.ToLower(parts[1])
			if seen[folder] || !plain.MatchString(parts[1]) || folder == "con" || folder == "nul" {
				t.Errorf("found the folder %q, there already: %t", parts[1], seen[folder])
			}
			seen[folder] = true
		}
	}
	if len(seen) != len(hostileClasses) {
		t.Errorf("found %d folders, expected %d", len(seen), len(hostileClasses))
	}
	described := filepath.Join(t.TempDir(), "out")
	succeed(t, convertLabelled(t, hostileClasses, "-o", "png="+described, "--layout", "huggingface")...)
	demandClasses(t, filepath.Join(described, "metadata.csv"))
}

// In tables, class names are unchanged, even formulas of spreadsheets: tables are for programs.
func TestHostileClassesAsText(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "x.csv")
	succeed(t, convertLabelled(t, hostileClasses, "-o", out, "--class-column")...)
	demandClasses(t, out)
}

// demandClasses demands that the column class of a CSV file has the name of each label.
func demandClasses(t *testing.T, path string) {
	t.Helper()
	lines := must.Get(csv.NewReader(bytes.NewReader(read(t, path))).ReadAll())(t)
	if len(lines) != len(hostileClasses)+1 {
		t.Fatalf("found %d lines, expected %d", len(lines), len(hostileClasses)+1)
	}
	label, class := slices.Index(lines[0], "label"), slices.Index(lines[0], "class")
	for _, line := range lines[1:] {
		number, err := strconv.Atoi(line[label])
		if want := strings.TrimSpace(hostileClasses[number]); err != nil || line[class] != want {
			t.Errorf("label %s: found %q, expected %q", line[label], line[class], want)
		}
	}
}

// Control characters in names of classes are refused where names are read: a NUL, an escape.
func TestControlCharactersInClasses(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a\x00b", "\x1b[31mred", "a\u0085b"} {
		out := filepath.Join(t.TempDir(), "x.csv")
		code, said := runProgram(convertLabelled(t, []string{"x", name}, "-o", out, "--class-column")...)
		if code != exitData || !strings.Contains(said, "line 2: found ") ||
			!strings.Contains(said, "without control characters") {
			t.Errorf("%q: exit code %d: %s", name, code, said)
		}
	}
}
