//go:build linux

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/idxport/idxport/test/must"
)

// TestReplaceSection also demands that RESULTS.md has the section.
func TestReplaceSection(t *testing.T) {
	t.Parallel()
	text := string(must.Get(os.ReadFile("RESULTS.md"))(t))
	before, rest, _ := strings.Cut(text, "<!-- begin contests -->")
	_, after, _ := strings.Cut(rest, "<!-- end contests -->")
	want := before + "<!-- begin contests -->\nnew\n<!-- end contests -->" + after
	if got, err := replaceSection(text, "new\n"); err != nil || got != want {
		t.Errorf("found %v, or other text", err)
	}
	if _, err := replaceSection("without markers", ""); err == nil {
		t.Error("found no error without markers")
	}
}
