package convert

import (
	"os"
	"strings"
	"testing"

	"github.com/idxport/idxport/sink/formats"
)

// TestAlternativesAreRecipes demands that docs/recipes.md, whose code is run, has them all.
func TestAlternativesAreRecipes(t *testing.T) {
	t.Parallel()
	recipes, err := os.ReadFile("../docs/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range alternatives {
		if !strings.Contains(string(recipes), "\n"+a.code+"\n```") {
			t.Errorf("%s: docs/recipes.md has no block that ends with %s", a.names, a.code)
		}
		for _, name := range strings.Fields(a.names) {
			if hint := Alternative(name); !strings.Contains(hint, a.code) {
				t.Errorf("%s: the hint is %q, expected %q in it", name, hint, a.code)
			}
		}
	}
}

// TestNoAlternativesToFormats: an extension that idxport writes needs no other tool.
func TestNoAlternativesToFormats(t *testing.T) {
	t.Parallel()
	for _, f := range formats.All() {
		for _, name := range append(f.Aliases, f.Name, f.Extension) {
			if hint := Alternative(name); hint != "" {
				t.Errorf("%s: the hint is %q, expected none", name, hint)
			}
		}
	}
}
