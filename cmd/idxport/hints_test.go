package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// nastyNames are names of files that a shell would take apart, expand, run or take for a flag.
var nastyNames = []string{"x y", "it's", `say "x"`, "$HOME", "$(id)", "`id`", "a;b", "a&b", "a\nb", "-x", "~", "*",
	"#x", "b\xffd", `back\slash`, "\u202ex"}

// A hintCase makes the program give a hint about a name.
type hintCase struct {
	files map[string]string               // links that are made first, by path, to where they lead from the samples
	args  func(name string) []string      // of the program
	hint  string                          // a regular expression whose only group is given to a shell
	words func(name string) string        // the words that the shell should read, each followed by a bar
	skip  func(name string) (cannot bool) // reports whether the hint cannot occur for a name
}

// asPath returns name as a hint writes it where it could be taken for a flag.
func asPath(name string) string {
	if strings.HasPrefix(name, "-") {
		return "./" + name
	}
	return name
}

var hintCases = map[string]hintCase{
	"one name for two splits": {
		args:  func(name string) []string { return []string{"convert", "fashion", "-o=" + name + ".csv"} },
		hint:  `^write -o (.*) for one output per split`,
		words: func(name string) string { return asPath(name) + "-{split}.csv|" }},
	"one name for two folders": {
		args:  func(name string) []string { return []string{"convert", "fashion", "-o=png=" + name} },
		hint:  `^write -o (.*) for one output per split`,
		words: func(name string) string { return "png=" + name + "-{split}|" }},
	"two files of one column": {
		files: map[string]string{"%s": "tiny", "b": "tiny"},
		args:  func(name string) []string { return []string{"convert", "./" + name, "b", "-o", "x.csv"} },
		hint:  `name them: (.*)$`, words: func(name string) string { return "left=./" + name + "|right=b|" },
		skip: func(name string) bool { return name == "x y" }}, // that is taken for the data and the labels of one file
	"an unknown ending": {
		args: func(name string) []string { return []string{"convert", "tiny", "-o=" + name + ".zzz"} },
		hint: `\(-o parquet=(.*?)\), use one of`, words: func(name string) string { return name + ".zzz|" }},
	"a folder with an unknown ending": {
		args: func(name string) []string { return []string{"convert", "tiny", "-o=" + name + ".zzz"} },
		hint: ` or write (.*) for a folder$`, words: func(name string) string { return asPath(name) + ".zzz/|" }},
	"a folder that ends as images do": {
		args: func(name string) []string { return []string{"convert", "tiny", "-o=" + name + ".png"} },
		hint: `: write -o png=(.*)$`, words: func(name string) string { return name + "|" }},
	"a sheet": {
		args: func(name string) []string { return []string{"preview", "tiny", "-o=" + name + ".jpg"} },
		hint: `^write -o (.*)$`, words: func(name string) string { return asPath(name) + ".png|" }},
	"a folder for the hub": {
		args: func(name string) []string {
			return []string{"convert", "tiny", "-o=" + name + "/", "--to", "parquet,csv",
				"--layout", "parquet=huggingface"}
		},
		hint: ` -o parquet=(.*)$`, words: func(name string) string { return name + "/huggingface/|" }},
	"a table in two formats": {
		files: map[string]string{"dir/%s.csv": "tiny", "dir/%s.parquet": "tiny"},
		args:  func(string) []string { return []string{"convert", "dir", "-o", "x.csv"} },
		hint:  `^give one of the files: (.*)$`, words: func(name string) string { return "dir/" + name + ".parquet|" }},
}

// TestHintsCanBePasted demands that a real shell reads every path and value in a hint as the one
// word that was meant.
func TestHintsCanBePasted(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no shell of POSIX")
	}
	root, err := filepath.Abs(samples)
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]string{"tiny": filepath.Join(root, "tiny", "uint8-3x7x9.idx"),
		"fashion": filepath.Join(root, "fashion-mnist")}
	for what, test := range hintCases {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			for _, name := range nastyNames {
				if test.skip != nil && test.skip(name) {
					continue
				}
				dir := t.TempDir()
				links := map[string]string{"tiny": "tiny", "fashion": "fashion"}
				for path, to := range test.files {
					links[strings.ReplaceAll(path, "%s", name)] = to
				}
				for path, to := range links {
					path = filepath.Join(dir, path)
					if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
						t.Fatal(err)
					}
					if err := os.Symlink(places[to], path); err != nil {
						t.Fatal(err)
					}
				}
				var stderr bytes.Buffer
				command := child(t, test.args(name)...)
				command.Dir, command.Stderr = dir, &stderr
				_ = command.Run() // it fails, and says how to go on
				_, hint, _ := strings.Cut(strings.TrimSuffix(stderr.String(), "\n"), "\nhint: ")
				found := regexp.MustCompile(test.hint).FindStringSubmatch(hint)
				if found == nil {
					t.Errorf("%q: found %q, expected a hint %s", name, stderr.String(), test.hint)
					continue
				}
				words, err := exec.Command(sh, "-c", "printf '%s|' "+found[1]).CombinedOutput()
				if want := test.words(name); err != nil || string(words) != want {
					t.Errorf("%q: the hint %q is read as %q, expected %q", name, hint, words, want)
				}
			}
		})
	}
}

// JSON cannot hold names that are not UTF-8: reports have U+FFFD in place of each invalid byte.
func TestReportsOfNamesThatAreNotUTF8(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := filepath.Join(dir, "b\xffd.idx")
	if err := os.WriteFile(in, encodeIDX(sample(0x08)), 0o666); err != nil {
		t.Skip(err) // not every file system has such names
	}
	for _, args := range [][]string{{"convert", in, "-o", filepath.Join(dir, "b\xffo.csv")}, {"inspect", in}} {
		stdout, code := ownJSON(args...)
		if code != 0 || !json.Valid(stdout) || !strings.Contains(string(stdout), `b\ufffdd.idx`) {
			t.Errorf("%q: exit code %d: %s", args, code, stdout)
		}
	}
}
