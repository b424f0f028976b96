package convert

import (
	"os"
	"strings"
	"testing"
)

// TestAnswersAreRecipes demands every line of an answer in docs/recipes.md, where it is run.
func TestAnswersAreRecipes(t *testing.T) {
	t.Parallel()
	recipes, err := os.ReadFile("../docs/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range answers {
		if !strings.Contains(string(recipes), "\n"+a.line+"\n```") {
			t.Errorf("%s: docs/recipes.md has no block that ends with %s", a.names, a.line)
		}
		for _, name := range strings.Fields(a.names) {
			if hint := Answer(name); !strings.Contains(hint, a.line) {
				t.Errorf("%s: the hint is %q, expected %q in it", name, hint, a.line)
			}
		}
	}
}
