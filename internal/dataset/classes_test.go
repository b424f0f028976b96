package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/idxport/idxport/internal/fault"
)

func TestReadClasses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"names":                  {"cat\ndog\n", []string{"cat", "dog"}},
		"no newline at the end":  {"cat\ndog", []string{"cat", "dog"}},
		"blank lines at the end": {"cat\ndog\n\n \n", []string{"cat", "dog"}},
		"blank line for label 0": {"\ncat\n", []string{"", "cat"}},
		"windows":                {"\ufeffT-shirt/top\r\nAnkle boot\r\n", []string{"T-shirt/top", "Ankle boot"}},
		"spaces":                 {" cat \n\tdog\n", []string{"cat", "dog"}},
		"classes with commas":    {" cat,\ndog,\n", []string{"cat,", "dog,"}},
		"a class called label":   {" label\ncat\n", []string{"label", "cat"}}, // as the hint for a header says
		"numbers":                {"7\n5\n", []string{"7", "5"}},
		"numbers in names":       {"1 cent\n5 cents\n", []string{"1 cent", "5 cents"}},
		"numbers after names":    {"model 0\nmodel 1\n", []string{"model 0", "model 1"}},
		"brackets":               {"(\n+\n}\n", []string{"(", "+", "}"}},
		"hiragana":               {"お\nき\n", []string{"お", "き"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ReadClasses(strings.NewReader(test.text), "names.txt")
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
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
		"nothing":      {"\n\n", "names.txt: found no class names"},
		"a name twice": {"a\nb\na\n", `names.txt: line 3: the name "a" is already on line 1`},
		"a control": {"a\nb\x1b[2J\n", `names.txt: line 2: found "b\x1b[2J", ` +
			"expected UTF-8 without control characters"},
		"a mapping":      {"0 48\n1 49\n", `names.txt: found numbers beside the names, as in "1 49"`},
		"another order":  {"2 66\n0 65\n", "names.txt: found numbers beside the names"},
		"utf-16":         {"\xff\xfea\x00\n\x00", "names.txt: line 1: found \"\\xff\\xfea\\x00\", expected UTF-8"},
		"too many":       {many.String(), "names.txt: found 65537 lines, expected at most 65536"},
		"a json object":  {`{"0": "cat"}`, "names.txt: found JSON"},
		"numbers from 1": {"1: cat\n2: dog\n3: a fish\n", "names.txt: found numbers beside the names"},
		"csv":            {"label,name\r\n0,cat\r\n1,dog", "names.txt: found numbers beside the names"},
		"a comment":      {"# classes\ncat\ndog\n", "names.txt: found a header, a comment or a list in another"},
		"a header":       {"class\r\ncat\r\ndog\r\n", "names.txt: found a header, a comment or a list"},
		"yaml":           {"- cat\n- dog\n", "names.txt: found a header, a comment or a list"},
		"a key of yaml":  {"class_names:\n- cat\n- dog\n", "names.txt: found a header, a comment or a list"},
		"python":         {"[\n 'cat',\n 'dog',\n]\n", "names.txt: found a header, a comment or a list"},
		"a python line":  {"classes = ['cat', 'dog']\n", "names.txt: found a header, a comment or a list"},
		"quotes":         {"'cat',\n'dog'\n", "names.txt: found a header, a comment or a list"},
		"too big":        {strings.Repeat("x", 1<<20+1), "names.txt: found more than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ReadClasses(strings.NewReader(test.text), "names.txt")
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
	if _, err := ReadClasses(iotest.ErrReader(want), "names.txt"); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}
