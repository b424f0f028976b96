package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/idxport/idxport/fault"
)

func TestReadClasses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want []string
		note bool
	}{
		"names":                  {"cat\ndog\n", []string{"cat", "dog"}, false},
		"no newline at the end":  {"cat\ndog", []string{"cat", "dog"}, false},
		"blank lines at the end": {"cat\ndog\n\n \n", []string{"cat", "dog"}, false},
		"blank line for label 0": {"\ncat\n", []string{"", "cat"}, false},
		"windows":                {"\ufeffT-shirt/top\r\nAnkle boot\r\n", []string{"T-shirt/top", "Ankle boot"}, false},
		"spaces":                 {" cat \n\tdog\n", []string{"cat", "dog"}, false},
		"numbers":                {"7\n5\n", []string{"7", "5"}, false},
		"numbers in names":       {"1 cent\n5 cents\n", []string{"1 cent", "5 cents"}, false},
		"numbers after names":    {"model 0\nmodel 1\n", []string{"model 0", "model 1"}, false},
		"a bracket":              {"[\n(\n", []string{"[", "("}, false},
		"hiragana":               {"お\nき\n", []string{"お", "き"}, false},
		"mapping":                {"0 48\n1 49\n2 65\n", []string{"0", "1", "A"}, false},
		"mapping, windows":       {"0 48\r\n1 49\r\n", []string{"0", "1"}, false},
		"mapping from 1":         {"1 65 97\n2 66 98\n", []string{"", "A", "B"}, true},
		"mapping out of order":   {"2 66\n0 65\n", []string{"A", "", "B"}, false},
		"class map":              {"index,codepoint,char\n0,U+304A,お\n1,U+304D,き\n", []string{"お", "き"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, note, err := ReadClasses(strings.NewReader(test.text), "names.txt")
			if err != nil || !slices.Equal(got, test.want) || (note != "") != test.note {
				t.Errorf("got %q, note %q, %v, want %q", got, note, err, test.want)
			}
		})
	}
}

func TestReadClassesRefuses(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 1<<16 + 1 {
		fmt.Fprintf(&many, "c%d\n", i)
	}
	for name, test := range map[string]struct {
		text, want string
	}{
		"nothing":            {"\n\n", "names.txt: found no class names"},
		"a name twice":       {"a\nb\na\n", `names.txt: line 3: the name "a" is already on line 1, expected another name for each label`},
		"a character twice":  {"0 65\n1 65\n", `names.txt: line 2: the name "A" is already on line 1, expected another name for each label`},
		"twice in the map":   {"index,codepoint,char\n0,U+304A,お\n1,U+304A,お", `names.txt: line 3: the name "お" is already on line 2, expected another name for each label`},
		"a label twice":      {"0 65\n0 66\n", "names.txt: line 2: label 0 occurs twice"},
		"a broken mapping":   {"0 48\n1\n", "names.txt: line 2: expected two or three numbers"},
		"a blank in mapping": {"0 48\n\n1 49\n", "names.txt: line 2: expected two or three numbers"},
		"no character":       {"index,codepoint,char\n0,U+304A,\n1,", "names.txt: line 2: found no character"},
		"no index":           {"index,codepoint,char\nx,U+304A,お", `names.txt: line 2: found the index "x", expected a number`},
		"missing fields":     {"index,codepoint,char\n0,お", "names.txt: line 2: found 2 fields, expected 3"},
		"a surrogate":        {"0 55296\n", "names.txt: line 1: 55296 is not a Unicode code point"},
		"a control":          {"a\nb\x1b[2J\n", "names.txt: line 2: control character U+001B in the name"},
		"a control mapped":   {"0 10\n", "names.txt: line 1: control character U+000A in the name"},
		"utf-16":             {"\xff\xfea\x00\n\x00", "names.txt: line 1: not valid UTF-8"},
		"too large a label":  {"0 48\n65536 49\n", "names.txt: line 2: found label 65536, expected at most 65535"},
		"too many":           {many.String(), "names.txt: line 65537: found label 65536, expected at most 65535"},
		"json":               {"[\n\"cat\",\n\"dog\"\n]", "names.txt: found JSON"},
		"a json object":      {`{"0": "cat"}`, "names.txt: found JSON"},
		"numbers":            {"0 cat\n1 dog\n", `names.txt: found numbers beside the names, as in "1 dog"`},
		"numbers from 1":     {"1: cat\n2: dog\n3: a fish\n", "names.txt: found numbers beside the names"},
		"csv":                {"label,name\r\n0,cat\r\n1,dog", "names.txt: found numbers beside the names"},
		"csv, name first":    {"cat,0\ndog,1\n", "names.txt: found numbers beside the names"},
		"too big":            {strings.Repeat("x", 1<<20+1), "names.txt: found more than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := ReadClasses(strings.NewReader(test.text), "names.txt")
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Fatalf("got %v, want %q", err, test.want)
			}
			if !errors.Is(err, fault.Malformed) || fault.HintOf(err) == "" {
				t.Errorf("%v: no sentinel or no hint", err)
			}
		})
	}
}

func TestReadClassesReportsReadErrors(t *testing.T) {
	t.Parallel()
	want := errors.New("disk on fire")
	if _, _, err := ReadClasses(iotest.ErrReader(want), "names.txt"); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

// Accepted files keep the promises of ReadClasses.
func FuzzReadClasses(f *testing.F) {
	for _, s := range []string{"a\nb\n", "0 48\n1 49", "1 65 97\r\n", "index,codepoint,char\n0,U+304A,お", "\n\nx", "0 2147483647", "65535 65"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		classes, _, err := ReadClasses(strings.NewReader(string(text)), "f")
		if err != nil {
			return
		}
		if len(classes) == 0 || len(classes) > 1<<16 {
			t.Fatalf("%d classes", len(classes))
		}
		seen := map[string]bool{"": false}
		for _, c := range classes {
			if !utf8.ValidString(c) || strings.ContainsAny(c, "\n\r\x00") || seen[c] {
				t.Fatalf("class %q", c)
			}
			seen[c] = c != ""
		}
	})
}
