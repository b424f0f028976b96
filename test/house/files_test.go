package house

import (
	"errors"
	"go/ast"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ordered are the packages whose files build on one another: no file uses one that uses it.
var ordered = []string{"convert", "cmd/idxport", "internal/publish", "internal/object"}

// TestFilesBuildOnOneAnother finds circles among the files of the packages that have an order.
func TestFilesBuildOnOneAnother(t *testing.T) {
	t.Parallel()
	all := product(t)
	for _, pkg := range ordered {
		files := slices.DeleteFunc(slices.Clone(all), func(f file) bool { return f.pkg != pkg })
		uses := fileUses(files)
		if len(files) < 5 || len(uses) < 5 {
			t.Fatalf("%s: found %d files, of which %d use others", pkg, len(files), len(uses))
		}
		if found := circle(uses); found != nil {
			t.Errorf("%s: these files use one another: %s", pkg, strings.Join(found, ", "))
		}
	}
}

// fileUses are the files whose types, functions, constants or variables a file uses, by its name.
func fileUses(files []file) map[string][]string {
	var trees []*ast.File
	for _, f := range files {
		trees = append(trees, f.tree)
	}
	set, info := files[0].set, &types.Info{Uses: map[*ast.Ident]types.Object{}}
	// Without what is imported some types are not known, but those of the package are.
	config := types.Config{Importer: noImports{}, Error: func(error) {}}
	pkg, _ := config.Check("p", set, trees, info)
	uses := map[string][]string{}
	for name, used := range info.Uses {
		field, isVariable := used.(*types.Var)
		if used.Pkg() != pkg || isVariable && (field.IsField() || used.Parent() != pkg.Scope()) {
			continue
		}
		from, to := concept(set.Position(name.Pos()).Filename), concept(set.Position(used.Pos()).Filename)
		if from != to && !slices.Contains(uses[from], to) {
			uses[from] = append(uses[from], to)
		}
	}
	return uses
}

// concept is the name of a file; what it has for single systems counts as a part of it.
func concept(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".go")
	for _, system := range []string{"_linux", "_darwin", "_unix", "_windows", "_each"} {
		name = strings.TrimSuffix(name, system)
	}
	return name
}

// noImports is an importer without packages.
type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("not imported") }

// circle removes the files that use no other one until all that are left do, and returns these.
func circle(uses map[string][]string) []string {
	for removed := true; removed; {
		removed = false
		for from := range uses {
			if !slices.ContainsFunc(uses[from], func(to string) bool { return uses[to] != nil }) {
				delete(uses, from)
				removed = true
			}
		}
	}
	return slices.Sorted(maps.Keys(uses))
}

func TestCirclesAreFound(t *testing.T) {
	t.Parallel()
	found := circle(map[string][]string{"a": {"b"}, "b": {"c", "d"}, "d": {"e", "b"}})
	if !slices.Equal(found, []string{"a", "b", "d"}) {
		t.Errorf("found %v", found)
	}
}

// TestNoLargeFiles demands that git tracks no large file, such as a program that was built.
func TestNoLargeFiles(t *testing.T) {
	t.Parallel()
	const largest = 500_000 // bytes; the samples of Fashion-MNIST have 440 kB
	for name, data := range trackedFiles(t) {
		if len(data) > largest {
			t.Errorf("%s has %d bytes, expected at most %d", name, len(data), largest)
		}
	}
}
