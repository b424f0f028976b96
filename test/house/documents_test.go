package house

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFirstScreen demands of README.md at most 1,300 words, what a newcomer needs before the
// picture, and ten uses.
func TestFirstScreen(t *testing.T) {
	t.Parallel()
	readme := string(trackedFiles(t)["README.md"])
	if n := len(strings.Fields(readme)); n > 1300 {
		t.Errorf("README.md has %d words, expected at most 1,300", n)
	}
	first, _, _ := strings.Cut(readme, "\n![")
	for _, command := range []string{"idxport convert", "make demo", "make test"} {
		if !strings.Contains(first, "\n$ "+command+" ") {
			t.Errorf("README.md has no %q above the picture", command)
		}
	}
	if uses := regexp.MustCompile("(?m)^\\| .* \\| `idxport .*`").FindAllString(readme, -1); len(uses) != 10 {
		t.Errorf("README.md has %d uses, expected 10", len(uses))
	}
}

// TestDocumentsAreForSomebody demands that each page of docs says for whom it is in its first
// line, and that no two documents have nine words in a row in common, outside of code.
func TestDocumentsAreForSomebody(t *testing.T) {
	t.Parallel()
	const run = 9
	code, word := regexp.MustCompile("(?s)```.*?```"), regexp.MustCompile(`[\pL\pN-]+`)
	said := map[string]string{}
	for name, text := range trackedFiles(t) {
		if !isDocument(name) {
			continue
		}
		if name != "README.md" && !regexp.MustCompile("^# .+\n\nFor those (who|whose) ").Match(text) {
			t.Errorf("%s does not begin with a title and for whom it is: For those who …", name)
		}
		words := word.FindAllString(strings.ToLower(code.ReplaceAllString(string(text), "")), -1)
		for i := range max(0, len(words)-run+1) {
			phrase := strings.Join(words[i:i+run], " ")
			if other, found := said[phrase]; found && other != name {
				t.Errorf("%s and %s both say: %s", name, other, phrase)
			}
			said[phrase] = name
		}
	}
}

// TestLinksLeadSomewhere follows the links of all documents to other files and their headings.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	tracked := trackedFiles(t)
	link, heading := regexp.MustCompile(`\]\(([^):#]*)(#[^)]+)?\)`), regexp.MustCompile("(?m)^#+ (.+)$")
	drop := regexp.MustCompile(`[^\pL\pN _-]`)
	n := 0
	for name, text := range tracked {
		if path.Ext(name) != ".md" || strings.Contains(name, "testdata") {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			n++
			target := path.Join(path.Dir(name), cmp.Or(m[1], path.Base(name)))
			known := map[string]bool{"": true}
			for _, h := range heading.FindAllSubmatch(tracked[target], -1) {
				known["#"+strings.ReplaceAll(drop.ReplaceAllString(strings.ToLower(string(h[1])), ""), " ", "-")] = true
			}
			if _, err := os.Stat(filepath.Join("..", "..", target)); err != nil || !known[m[2]] {
				t.Errorf("%s: the link to %s%s leads nowhere", name, m[1], m[2])
			}
		}
	}
	if n < 50 {
		t.Errorf("found %d links: the pattern is broken", n)
	}
}
