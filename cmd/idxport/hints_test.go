package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/idxport/idxport/test/must"
)

// nastyNames are names of files that a shell would take apart, expand, run or take for a flag.
var nastyNames = []string{"x y", "it's", `say "x"`, "$HOME", "$(id)", "`id`", "a;b", "a&b", "a\nb", "-x", "~", "*",
	"#x", "b\xffd", `back\slash`, "\u202ex", "m,n"}

// A hintCase makes the program give a hint about a name. In its texts NAME is the name, and PATH
// the name as a hint writes it where it could be taken for a flag.
type hintCase struct {
	files string // links to one of the samples that are made first
	args  string // of the program
	hint  string // a regular expression whose groups are given to a shell
	words string // the words that the shell should read, each followed by a bar
	skip  string // the name for which the hint cannot occur
}

var hintCases = map[string]hintCase{
	"one name for two splits": {args: "convert fashion -o=NAME.csv",
		hint: `^write -o (.*) for one output per split`, words: "PATH-{split}.csv|"},
	"one name for two folders": {args: "convert fashion -o=png=NAME",
		hint: `^write -o (.*) for one output per split`, words: "png=NAME-{split}|"},
	"two files of one column": {files: "NAME b", args: "convert ./NAME b -o x.csv",
		hint: `name them: (.*)$`, words: "left=./NAME|right=b|",
		skip: "x y"}, // that is taken for the data and the labels of one file
	"an unknown ending": {args: "convert tiny -o=NAME.zzz",
		hint: `\(-o parquet=(.*?)\), use the extension .* or write (.*) for a folder$`, words: "NAME.zzz|PATH.zzz/|"},
	"a folder that ends as images do": {args: "convert tiny -o=NAME.png", hint: `: write -o png=(.*)$`, words: "NAME|"},
	"a sheet":                         {args: "preview tiny -o=NAME.jpg", hint: `^write -o (.*)$`, words: "PATH.png|"},
	"a folder for the hub": {args: "convert tiny -o=NAME/ --to parquet,csv --layout parquet=huggingface",
		hint: ` -o parquet=(.*)$`, words: "NAME/huggingface/|", skip: "~"},
	"a table in two formats": {files: "dir/NAME.csv dir/NAME.parquet", args: "convert dir -o x.csv",
		hint: `^give one of the files: (.*)$`, words: "dir/NAME.parquet|"},
}

// typed runs COMMAND in a shell, with what the group of PATTERN finds in the last hint for HINT.
func typed(ts *testscript.TestScript, args []string) {
	found := regexp.MustCompile("(?m)^hint: " + args[1]).FindStringSubmatch(ts.ReadFile("stderr"))
	if found == nil {
		ts.Fatalf("no hint %s", args[1])
	}
	exits(ts, []string{args[0], "sh", "-c", strings.ReplaceAll(args[2], "HINT", found[1])})
}

// TestHintsCanBePasted demands that a real shell reads every path and value in a hint as the one
// word that was meant.
func TestHintsCanBePasted(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no shell of POSIX")
	}
	tiny := must.Get(filepath.Abs(filepath.Join(samples, "tiny", "uint8-3x7x9.idx")))(t)
	for what, test := range hintCases {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			for _, name := range nastyNames {
				if name == test.skip || runtime.GOOS == "darwin" && !utf8.ValidString(name) { // no file there has it
					continue
				}
				path := strings.Replace(name, "-x", "./-x", 1)
				named := strings.NewReplacer("NAME", name, "PATH", path, " ", "\x00") // names have spaces, too
				dir := t.TempDir()
				must.Do(t, os.Symlink(must.Get(filepath.Abs(fashion))(t), filepath.Join(dir, "fashion")))
				for link := range strings.FieldsSeq("tiny " + test.files) {
					link = filepath.Join(dir, named.Replace(link))
					must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(link), 0o777), os.Symlink(tiny, link)))
				}
				command := child(t, strings.Split(named.Replace(test.args), "\x00")...)
				command.Dir = dir
				shown, _ := command.CombinedOutput() // it fails, and says how to go on
				_, hint, _ := strings.Cut(strings.TrimSuffix(string(shown), "\n"), "\nhint: ")
				found := regexp.MustCompile(test.hint).FindStringSubmatch(hint)
				if found == nil {
					t.Errorf("%q: found %q, expected a hint %s", name, shown, test.hint)
					continue
				}
				words, err := exec.Command(sh, "-c", "printf '%s|' "+strings.Join(found[1:], " ")).CombinedOutput()
				if want := named.Replace(test.words); err != nil || string(words) != want {
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
		stdout, _, code := runJSON(args...)
		if code != 0 || !json.Valid(stdout) || !strings.Contains(string(stdout), `b\ufffdd.idx`) {
			t.Errorf("%q: exit code %d: %s", args, code, stdout)
		}
	}
}
