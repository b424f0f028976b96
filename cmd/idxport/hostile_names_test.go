package main

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// hostileClasses are names of classes that would do harm as paths, on some system's shell or in
// somebody's spreadsheet, or that look alike.
var hostileClasses = []string{"../x", "/x", "..", "CON", "nul ", "aux.txt", strings.Repeat("x", 300), strings.Repeat("x", 301), "a\u200bb", "\u202egnp", "A", "a",
	"=1+1", "@SUM(A1)", "+1", "-rf", ".hidden", "a/b", `a\b`, "\ufeffz", `"quote`, "a,b", "<script>", "{split}", "%s", "\u0301", "_manifest.json", "metadata.csv", "-->", "---"}

// labelled makes images and labels of so many classes, and the file of their names, and returns the
// arguments that read them.
func labelled(t *testing.T, classes []string) []string {
	t.Helper()
	dir := t.TempDir()
	images := tensor{code: 0x08, dims: []int{len(classes), 2, 2}, payload: bytes.Repeat([]byte{7}, 4*len(classes))}
	labels := tensor{code: 0x08, dims: []int{len(classes)}}
	for i := range classes {
		labels.payload = append(labels.payload, byte(i))
	}
	for name, data := range map[string][]byte{"a-images-idx3-ubyte": encodeIDX(images), "a-labels-idx1-ubyte": encodeIDX(labels),
		"names.txt": []byte(strings.Join(classes, "\n"))} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return []string{filepath.Join(dir, "a-images-idx3-ubyte"), filepath.Join(dir, "a-labels-idx1-ubyte"), "--classes", filepath.Join(dir, "names.txt")}
}

// runProgram runs the program and returns its exit code and its output.
func runProgram(args ...string) (code int, said string) {
	var out bytes.Buffer
	code = run(slices.Concat([]string{"idxport"}, args), strings.NewReader(""), &out, &out)
	return code, out.String()
}

// Folders of classes have plain names that differ in more than case, and are in the output.
func TestHostileClassesAsFolders(t *testing.T) {
	t.Parallel()
	around := t.TempDir()
	out := filepath.Join(around, "out")
	named := append([]string{"convert", "-o", "png=" + out, "--layout", "names"}, labelled(t, hostileClasses)...)
	if code, said := runProgram(named...); code != exitOK {
		t.Fatalf("exit code %d: %s", code, said)
	}
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
	named[2], named[4] = "png="+described, "huggingface"
	if code, said := runProgram(named...); code != exitOK {
		t.Fatalf("exit code %d: %s", code, said)
	}
	demandClasses(t, filepath.Join(described, "metadata.csv"))
}

// In tables, class names are unchanged, even formulas of spreadsheets: tables are for programs.
func TestHostileClassesAsText(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "x.csv")
	if code, said := runProgram(append([]string{"convert", "-o", out, "--class-column"}, labelled(t, hostileClasses)...)...); code != exitOK {
		t.Fatalf("exit code %d: %s", code, said)
	}
	demandClasses(t, out)
}

// demandClasses demands that the column class of a CSV file has the name of each label.
func demandClasses(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(lines) != len(hostileClasses)+1 {
		t.Fatalf("found %d lines and %v", len(lines), err)
	}
	label, class := slices.Index(lines[0], "label"), slices.Index(lines[0], "class")
	for _, line := range lines[1:] {
		number, err := strconv.Atoi(line[label])
		if want := strings.TrimSpace(hostileClasses[number]); err != nil || line[class] != want {
			t.Errorf("label %s: found %q, expected %q", line[label], line[class], want)
		}
	}
}

// The card of a data set has one line for each class, whatever its name, and no line that a name
// could have put there.
func TestHostileClassesOnTheCard(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "hub")
	if code, said := runProgram(append([]string{"convert", "-o", out, "--layout", "huggingface"}, labelled(t, hostileClasses)...)...); code != exitOK {
		t.Fatalf("exit code %d: %s", code, said)
	}
	card, err := os.ReadFile(filepath.Join(out, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`(?m)^ {10}'(\d+)': (".*")$`).FindAllSubmatch(card, -1)
	if len(names) != len(hostileClasses) {
		t.Fatalf("found %d names, expected %d", len(names), len(hostileClasses))
	}
	for i, m := range names {
		if name, err := strconv.Unquote(string(m[2])); err != nil || name != strings.TrimSpace(hostileClasses[i]) {
			t.Errorf("class %s: found %s", m[1], m[2])
		}
	}
	if n := bytes.Count(card, []byte("\n---\n")); n != 1 {
		t.Errorf("found %d ends of the front matter in\n%s", n, card)
	}
}

// Control characters in names of classes are refused where names are read: a NUL, an escape.
func TestControlCharactersInClasses(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a\x00b", "\x1b[31mred", "a\u0085b"} {
		out := filepath.Join(t.TempDir(), "x.csv")
		code, said := runProgram(append([]string{"convert", "-o", out, "--class-column"}, labelled(t, []string{"x", name})...)...)
		if code != exitData || !strings.Contains(said, "line 2: found ") || !strings.Contains(said, "without control characters") {
			t.Errorf("%q: exit code %d: %s", name, code, said)
		}
	}
}

// A path is one path, with commas in it too.
func TestCommasInPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inputs := labelled(t, []string{"a", "b"})
	args := []string{"convert", "-o", filepath.Join(dir, "m,n.csv"), "-o", "png=" + filepath.Join(dir, "p,q")}
	if code, said := runProgram(append(args, inputs...)...); code != exitOK {
		t.Fatalf("exit code %d: %s", code, said)
	}
	entries, err := os.ReadDir(dir)
	// The first is the record of the folder.
	if err != nil || len(entries) != 3 || entries[1].Name() != "m,n.csv" || entries[2].Name() != "p,q" {
		t.Errorf("found %v, %v, expected m,n.csv and p,q", entries, err)
	}
}
