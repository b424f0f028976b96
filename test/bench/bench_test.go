//go:build linux

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/idxport/idxport/test/must"
)

// TestReplaceSection also demands that RESULTS.md has both sections.
func TestReplaceSection(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile("RESULTS.md"))(t)
	for _, name := range []string{"contests", "scale"} {
		got, err := replaceSection(string(text), name, "new\n")
		if err != nil || !strings.Contains(got, "<!-- begin "+name+" -->\nnew\n<!-- end "+name+" -->\n") {
			t.Errorf("%s: found %v, or other text", name, err)
		}
		before, _, _ := strings.Cut(string(text), "<!-- begin "+name+" -->")
		_, after, _ := strings.Cut(string(text), "<!-- end "+name+" -->")
		if !strings.HasPrefix(got, before) || !strings.HasSuffix(got, after) {
			t.Errorf("%s: the notes have changed", name)
		}
	}
	if _, err := replaceSection(string(text), "none", ""); err == nil {
		t.Error("found no error without markers")
	}
}
