package convert

import (
	"os"
	"strings"
	"testing"

	"github.com/idxport/idxport/test/must"
)

// TestAlternativesAreRecipes demands that docs/recipes.md, whose code is run, has them all.
func TestAlternativesAreRecipes(t *testing.T) {
	t.Parallel()
	recipes := must.Get(os.ReadFile("../docs/recipes.md"))(t)
	for entry := range strings.SplitSeq(strings.TrimSpace(alternativeTable), "\n\n") {
		lines := strings.Split(entry, "\n")
		code := lines[len(lines)-1]
		if len(lines) == 3 && !strings.Contains(string(recipes), "\n"+code+"\n```") {
			t.Errorf("%s: docs/recipes.md has no block that ends with %s", lines[0], code)
		}
		for _, name := range strings.Fields(lines[0]) {
			if hint := Alternative(name); !strings.HasSuffix(hint, code) {
				t.Errorf("%s: the hint is %q, expected %q at its end", name, hint, code)
			}
		}
	}
}
