package dataset

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
)

func TestReadClasses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"a wide space":           {"\u3000", []string{""}},
		"no newline at the end":  {"7", []string{"7"}}, // which is no list of JSON
		"blank lines at the end": {"cat\ndog\n\n \n", []string{"cat", "dog"}},
		"blank line for label 0": {"\ncat\n", []string{"", "cat"}},
		"windows, spaces":        {"\ufeff T-shirt/top \r\n\tお\r\n", []string{"T-shirt/top", "お"}},
		"classes with commas":    {" cat,\ndog,\n", []string{"cat,", "dog,"}},
		"a class called label":   {" label\ncat\n", []string{"label", "cat"}}, // as the hint for a header says
		"numbers":                {"7\n5\n", []string{"7", "5"}},
		"numbers in names":       {"1 cent\n5 cents\n", []string{"1 cent", "5 cents"}},
		"counts":                 {"2 doors\n3 wheels\n", []string{"2 doors", "3 wheels"}},
		"numbers after names":    {"model 0\nmodel 1\n", []string{"model 0", "model 1"}},
		"numbers after signs":    {"type:0\ntype:1\n", []string{"type:0", "type:1"}},
		"decimals":               {"0.5 mg\n1.5 mg\n", []string{"0.5 mg", "1.5 mg"}},
		"numbered names":         {" 001.cat\n002.dog\n", []string{"001.cat", "002.dog"}}, // as the hint says
		"brackets":               {"(\n+\n}\n", []string{"(", "+", "}"}},
	} {
		got, err := ReadClasses(strings.NewReader(test.text), "names.txt")
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, test.want)
		}
	}
}

func TestReadClassesRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"nothing":        {"\n\n", "names.txt: found no class names"},
		"a name twice":   {"a\nb\na\n", `names.txt: line 3: the name "a" is already on line 1`},
		"a control":      {"a\nb\x1b[2J\n", `names.txt: line 2: found "b\x1b[2J", expected UTF-8`},
		"a mapping":      {"0 48\n1 49\n", `names.txt: found numbers beside the names, as in "1 49"`},
		"numbers only":   {"7 66\n5 65\n", "names.txt: found numbers beside the names"},
		"names shuffled": {"1 b\r\n\r\n \n0 a\n", "names.txt: found numbers beside the names"},
		"numbers behind": {"b 1\na 0\nc|5\n", "names.txt: found numbers beside the names"},
		"right-aligned":  {"  0 b\n 10 a\n", "names.txt: found numbers beside the names"},
		"a gap":          {"0 a\n5|b\n9 c\n", "names.txt: found numbers beside the names"},
		"utf-16":         {"\xff\xfea\x00\n\x00", "names.txt: line 1: found \"\\xff\\xfea\\x00\", expected UTF-8"},
		"too many":       {strings.Repeat("c\n", 1<<16+1), "names.txt: found 65537 lines, 131074 bytes, expected"},
		"a json object":  {`{"0": "cat"}`, "names.txt: found JSON"},
		"numbers from 1": {"2. dog\n1. cat\n5. a fish\n", "names.txt: found numbers beside the names"},
		"csv":            {"label,name\r\n1,cat\r\n5|dog", "names.txt: found numbers beside the names"},
		"a page":         {"<html>\n404\n", "names.txt: found an HTML or XML page"},
		"a comment":      {"# classes\ncat\ndog\n", "names.txt: found a header, a comment or another notation"},
		"a header":       {"class\r\ncat\r\ndog\r\n", "names.txt: found a header, a comment or another"},
		"yaml":           {"- cat\n- dog\n", "names.txt: found a header, a comment or another"},
		"a key of yaml":  {"class_names:\n- cat\n- dog\n", "names.txt: found a header, a comment or another"},
		"python":         {"[\n 'cat',\n 'dog',\n]\n", "names.txt: found a header, a comment or another"},
		"a python line":  {"classes = ['cat', 'dog']\n", "names.txt: found a header, a comment or another"},
		"quotes":         {"'cat',\n'dog'\n", "names.txt: found a header, a comment or another"},
		"too big":        {strings.Repeat("x", 1<<20+1), "names.txt: found 1 lines, 1048577 bytes"},
	} {
		_, err := ReadClasses(strings.NewReader(test.text), "names.txt")
		if !errors.Is(err, fault.Malformed) || !strings.HasPrefix(fault.HintOf(err), "expected ") ||
			!strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: got %v with the hint %q, want %q", name, err, fault.HintOf(err), test.want)
		}
	}
}
