// Package house checks the rules that hold the source tree together: which package may import which, and how large its pieces are.
package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/idxport/idxport/"

// layers says what each package may import of the others: a package, or a folder with all below it
// ("source/..."). Every package may import fault.
var layers = map[string][]string{
	"fault":                     nil,
	"png":                       nil,
	"sheet":                     {"png"},
	"source/idx":                nil,
	"source/compressed":         {"source/compressed/inflate"},
	"source/compressed/inflate": nil,
	"sink/compressed":           nil,
	"shell":                     nil,
	"sink/publish":              {"shell"},
	"sink/plan":                 {"object", "shell", "sink/publish", "source"},
	"source":                    {"source/idx", "source/compressed"},
	"source/dataset":            {"shell", "source", "source/idx"},
	"schema":                    {"source", "source/idx"},
	"source/flat":               {"source/idx"},
	"source/picture":            {"source/idx"},
	"source/columnar":           {"schema", "source", "source/flat", "source/idx", "source/picture"},
	"source/arrow":              {"source", "source/columnar", "source/idx"},
	"source/parquet":            {"schema", "source", "source/columnar", "source/idx"},
	"source/csv":                {"schema", "source", "source/compressed", "source/flat", "source/idx"},
	"source/png":                {"schema", "source", "source/idx", "source/picture"},
	"source/npy":                {"schema", "source", "source/idx"},
	"source/formats":            {"shell", "source", "source/..."},
	"sink":                      {"schema"},
	"sink/layout":               {"schema", "sink", "sink/images", "source", "source/idx"},
	"sink/arrow":                {"schema", "sink", "sink/compressed", "sink/layout", "source", "source/idx"},
	"sink/parquet":              {"schema", "sink", "sink/compressed", "sink/layout", "source", "source/idx"},
	"sink/csv":                  {"schema", "sink", "sink/compressed", "source", "source/idx"},
	"sink/idx":                  {"schema", "sink", "sink/compressed", "source", "source/idx"},
	"sink/images":               {"schema", "sink", "source", "source/idx", "png"},
	"sink/npy":                  {"schema", "sink", "source", "source/idx"},
	"sink/png":                  {"schema", "sink", "sink/images", "sink/publish", "source", "source/idx"},
	"sink/card":                 {"schema", "sink", "sink/layout"},
	"sink/parts":                {"schema", "sink", "sink/publish"},
	"sink/tar":                  {"schema", "sink", "sink/images", "source", "source/idx"},
	"sink/compare":              {"schema", "source", "source/idx"},
	"sink/summary":              {"schema", "sink", "source", "source/idx"},
	"sink/formats":              {"schema", "sink/...", "sink"},
	"pipeline":                  {"schema", "sink", "source"},
	"object":                    {"shell"},
	"display":                   nil,
	"convert":                   {"display", "object", "pipeline", "schema", "shell", "sink", "sink/...", "source", "source/..."},
	"cmd/idxport":               {"convert", "display", "object", "pipeline", "schema", "shell", "sheet", "sink", "sink/...", "source", "source/..."},
}

// forbidden are imports that no package of the product may have: pqarrow brings in gRPC and 33 MB.
var forbidden = []string{"github.com/apache/arrow-go/v18/parquet", "unsafe", "C"}

const (
	maxFileLines     = 500
	maxFunctionLines = 60
)

// A file is one parsed file of the product: tests and what drives the program from outside are left out.
type file struct {
	path, pkg string // relative to the root, with slashes
	lines     int
	tree      *ast.File
	set       *token.FileSet
}

// product parses all files of the product.
func product(t *testing.T) []file {
	t.Helper()
	root := filepath.Join("..", "..")
	var files []file
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel != "." && strings.HasPrefix(d.Name(), ".") || rel == "test" || rel == "data" || d.Name() == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, path, text, parser.ParseComments)
		if err != nil {
			return err
		}
		files = append(files, file{path: rel, pkg: filepath.ToSlash(filepath.Dir(rel)), lines: strings.Count(string(text), "\n"), tree: tree, set: set})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 50 {
		t.Fatalf("found %d files: the walk is broken", len(files))
	}
	return files
}

func TestImportsFollowTheLayers(t *testing.T) {
	t.Parallel()
	for _, f := range product(t) {
		allowed, known := layers[f.pkg]
		if !known {
			t.Errorf("%s: package %s has no place among the layers", f.path, f.pkg)
			continue
		}
		for _, spec := range f.tree.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			for _, bad := range forbidden {
				if path == bad || strings.HasPrefix(path, bad+"/") {
					t.Errorf("%s imports %s", f.path, path)
				}
			}
			inner, ours := strings.CutPrefix(path, module)
			if ours && inner != "fault" && !slices.ContainsFunc(allowed, func(a string) bool {
				folder, all := strings.CutSuffix(a, "...")
				return a == inner || all && strings.HasPrefix(inner, folder)
			}) {
				t.Errorf("%s imports %s, which its layer may not", f.path, inner)
			}
		}
	}
}

func TestPiecesAreSmall(t *testing.T) {
	t.Parallel()
	for _, f := range product(t) {
		if f.lines > maxFileLines {
			t.Errorf("%s has %d lines, expected at most %d", f.path, f.lines, maxFileLines)
		}
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

// TestBytesAreLittleEndian forbids what depends on the order of bytes of the machine: batches and files are little-endian on every one.
// Only a big-endian machine shows it otherwise, as `make platforms` does.
func TestBytesAreLittleEndian(t *testing.T) {
	t.Parallel()
	native := regexp.MustCompile(`^(arrow\.NewSchema|arrow\.\w+Traits|array\.New\w+Builder|array\.MakeFromData|\w+\.NativeEndian)$`)
	for _, f := range product(t) {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && native.MatchString(x.Name+"."+s.Sel.Name) {
					t.Errorf("%s uses %s.%s, which is of the machine's order of bytes", f.set.Position(n.Pos()), x.Name, s.Sel.Name)
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
