package text

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// nasty are words that a shell would split, expand, run or take for a flag.
var nasty = []string{"", " ", "x y", "it's", `"`, `\`, "$HOME", "$(id)", "`id`", "a;b", "a&b", "a|b", "a<b>c", "*", "~",
	"#x", "=ls", "!!", "a\nb", "a\tb", "\x1b[31m",
	"b\xffd", "\u202egnp", "a\u00a0b", "100%d", "a\n'$(id)7", "{a,b}", "[a]", "a=b", "-n", "--", "-rf x"}

// TestShellReadsQuotedWords runs a real shell: it must read each quoted word as the original word.
func TestShellReadsQuotedWords(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no shell of POSIX")
	}
	for _, word := range nasty {
		want, text := word, Path(word)
		if strings.HasPrefix(word, "-") {
			want = "./" + word
		}
		got, err := exec.Command(sh, "-c", `set -- `+text+`; printf '%s|' "$#" "$@"`).Output()
		if err != nil || string(got) != "1|"+want+"|" {
			t.Errorf("%q is quoted as %s, which the shell reads as %q, %v", want, text, got, err)
		}
		if strings.ContainsAny(text, "\n\t\x1b") {
			t.Errorf("%q is quoted as %q, expected printable text on one line", want, text)
		}
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for word, want := range map[string][2]string{
		"out/x.csv":      {"out/x.csv", "out/x.csv"},
		"größe":          {"größe", "größe"},
		"image=a b":      {"'image=a b'", `"image=a b"`},
		"it's":           {`'it'\''s'`, `"it's"`},
		"a\nb":           {`"$(printf 'a\012b')"`, "\"a\nb\""},
		`C:\x\y`:         {`'C:\x\y'`, `C:\x\y`},
		`C:\Program X\`:  {`'C:\Program X\'`, `"C:\Program X\\"`},
		`say \"so\" now`: {`'say \"so\" now'`, `"say \\\"so\\\" now"`},
		"a,b":            {"a,b", `"a,b"`},
	} {
		for i, windows := range []bool{false, true} {
			if found := quote(word, windows); found != want[i] {
				t.Errorf("%q: found %s, expected %s", word, found, want[i])
			}
		}
	}
}
