// Package house checks the rules that hold the source tree together: which package may import
// which, and how large its pieces are.
package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/idxport/idxport/test/must"
)

const module = "github.com/idxport/idxport/"

// rooms are the packages, with the other packages that each may import, "source/..." meaning all
// below source. Every package may import fault and text. How large they may be is in packages.
var rooms = map[string][]string{
	"internal/fault":               nil,
	"internal/jpeg":                {"internal/jpeg/samples"},
	"internal/jpeg/samples":        nil,
	"internal/png":                 nil,
	"internal/resample":            nil,
	"internal/sheet":               nil,
	"source/idx":                   nil,
	"internal/compressed":          {"internal/compressed/..."},
	"internal/compressed/inflate":  nil,
	"internal/compressed/pagezstd": nil,
	"internal/text":                nil,
	"internal/publish":             nil,
	"source":                       {"source/idx", "internal/compressed"},
	"internal/dataset":             {"source", "source/idx"},
	"schema":                       {"source", "source/idx"},
	"source/flat":                  nil,
	"source/picture":               {"internal/jpeg", "internal/png", "internal/resample", "source/idx"},
	"source/columnar":              {"schema", "source", "source/flat", "source/idx", "source/picture"},
	"source/arrow":                 {"source", "source/columnar", "source/idx"},
	"source/parquet":               {"source", "source/arrow", "source/columnar", "source/idx"},
	"source/csv":                   {"schema", "source", "internal/compressed", "source/flat", "source/idx"},
	"source/png":                   {"schema", "source", "source/idx", "source/picture"},
	"source/npy":                   {"source", "source/idx"},
	"internal/rows":                {"internal/dataset", "schema", "source", "source/idx"},
	"internal/sources":             {"internal/dataset", "schema", "source", "source/..."},
	"internal/input": {
		"internal/dataset", "internal/sources", "internal/object", "pipeline", "schema", "source", "source/..."},
	"sink":            {"schema", "internal/compressed"},
	"internal/layout": {"schema", "sink", "internal/images", "source", "source/idx"},
	"sink/arrow":      {"schema", "sink", "internal/compressed", "internal/layout"},
	"sink/parquet": {
		"schema", "sink", "internal/compressed", "internal/layout", "source", "source/idx"},
	"sink/csv":         {"schema", "sink", "internal/compressed", "source", "source/idx"},
	"sink/idx":         {"schema", "sink", "internal/compressed", "source", "source/idx"},
	"internal/images":  {"schema", "source", "source/idx", "internal/png"},
	"sink/png":         {"schema", "sink", "sink/csv", "internal/...", "source", "source/idx"},
	"internal/card":    {"schema", "internal/layout"},
	"internal/parts":   {"schema", "sink", "internal/publish"},
	"sink/tar":         {"schema", "sink", "internal/images", "source"},
	"internal/compare": {"pipeline", "schema", "source", "source/idx"},
	"internal/summary": {"schema", "source", "source/idx"},
	"internal/sinks":   {"internal/dataset", "internal/publish", "internal/layout", "schema", "sink..."},
	"pipeline":         {"schema", "sink", "source"},
	"internal/object":  nil,
	"convert":          {"internal/...", "pipeline", "schema", "sink...", "source..."},
	"cmd/idxport":      {"internal/...", "convert", "pipeline", "source..."},
}

// forbidden are imports that no package of the product may have: pqarrow brings in gRPC and 33 MB.
var forbidden = []string{"github.com/apache/arrow-go/v18/parquet", "unsafe", "C"}

const maxFunctionLines = 60

// A file is one parsed file of the product.
type file struct {
	path, pkg string // relative to the root, with slashes
	tree      *ast.File
	set       *token.FileSet
}

// product parses all files of the product.
func product(t *testing.T) (all []file) {
	t.Helper()
	set, tracked := token.NewFileSet(), trackedFiles(t)
	for _, name := range slices.Sorted(maps.Keys(tracked)) {
		if isProduct(name) {
			tree := must.Get(parser.ParseFile(set, name, tracked[name], parser.ParseComments))(t)
			all = append(all, file{name, path.Dir(name), tree, set})
		}
	}
	if len(all) < 50 {
		t.Fatalf("found %d files: the list is broken", len(all))
	}
	return all
}

func TestImportsFollowTheLayers(t *testing.T) {
	t.Parallel()
	for _, f := range product(t) {
		here, known := rooms[f.pkg]
		if !known {
			t.Errorf("%s: package %s has no place among the rooms", f.path, f.pkg)
			continue
		}
		for _, spec := range f.tree.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			for _, bad := range forbidden {
				if path == bad || strings.HasPrefix(path, bad+"/") {
					t.Errorf("%s imports %s", f.path, path)
				}
			}
			in, is := strings.CutPrefix(path, module)
			if is && in != "internal/fault" && in != "internal/text" && !slices.ContainsFunc(here, func(a string) bool {
				folder, all := strings.CutSuffix(a, "...")
				return a == in || all && strings.HasPrefix(in, folder)
			}) {
				t.Errorf("%s imports %s, which its layer may not", f.path, in)
			}
		}
	}
}

func TestFunctionsAreSmall(t *testing.T) {
	t.Parallel()
	for _, f := range product(t) {
		for _, d := range f.tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			lines := f.set.Position(fn.End()).Line - f.set.Position(fn.Pos()).Line + 1
			if lines > maxFunctionLines {
				t.Errorf("%s: %s has %d lines, expected at most %d", f.path, fn.Name.Name, lines, maxFunctionLines)
			}
			if fn.Name.Name == "init" && fn.Recv == nil {
				t.Errorf("%s has an init function", f.path)
			}
		}
	}
}

// TestPathsArePortable demands paths that every system can check out, and that a module may have:
// golang.org/x/mod/module.CheckFilePath has the rules.
func TestPathsArePortable(t *testing.T) {
	t.Parallel()
	paths := slices.Sorted(maps.Keys(trackedFiles(t)))
	if len(paths) < 500 {
		t.Fatalf("found %d files", len(paths))
	}
	folded := map[string]string{}
	for _, path := range paths {
		if strings.ContainsAny(path, "\"'*<>?`|\\:") {
			t.Errorf("%q has a character that a module or Windows does not allow", path)
		}
		if other := folded[strings.ToLower(path)]; other != "" {
			t.Errorf("%q and %q differ in case only", path, other)
		}
		folded[strings.ToLower(path)] = path
	}
}

func TestOnlyMainExits(t *testing.T) {
	t.Parallel()
	for _, f := range product(t) {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Exit" && f.path != "cmd/idxport/main.go" {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "os" {
					t.Errorf("%s calls os.Exit", f.set.Position(n.Pos()))
				}
			}
			return true
		})
	}
}

// TestBytesAreLittleEndian forbids what depends on the order of bytes of the machine: batches and
// files are little-endian on every one. Only a big-endian machine shows it otherwise, as
// `test/run platforms` does.
func TestBytesAreLittleEndian(t *testing.T) {
	t.Parallel()
	odd := regexp.MustCompile(`^(arrow\.(NewSchema|\w+Traits)|array\.(New\w+Builder|MakeFromData)|\w+\.NativeEndian)$`)
	for _, f := range product(t) {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && odd.MatchString(x.Name+"."+s.Sel.Name) {
					t.Errorf("%s: %s.%s is of the machine's byte order", f.set.Position(n.Pos()), x.Name, s.Sel.Name)
				}
			}
			return true
		})
	}
}

func TestEveryPackageIsExplained(t *testing.T) {
	t.Parallel()
	explained := map[string]bool{}
	for _, f := range product(t) {
		name := filepath.Base(f.path)
		explained[f.pkg] = explained[f.pkg] || f.tree.Doc != nil && (name == "doc.go" || name == "main.go")
	}
	for pkg, ok := range explained {
		if !ok {
			t.Errorf("package %s has no doc.go with a package comment", pkg)
		}
	}
}
