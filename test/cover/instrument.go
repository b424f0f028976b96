package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
)

// A place is a position in a file, as Go's profiles give it: both count from 1, the column in bytes.
type place struct{ line, column int }

func (p place) before(q place) bool {
	return p.line < q.line || p.line == q.line && p.column < q.column
}

// A span is what lies from a place up to another.
type span struct{ from, to place }

func (s span) holds(p place) bool { return !p.before(s.from) && p.before(s.to) }

// A branch is one way out of a condition. It was taken if the first block of the profile within its span was run.
type branch struct {
	span
	line     int // of the condition
	function string
	outcome  string // true, false, case, default
}

// A source is what the instrumented text of a file holds.
type source struct {
	branches []branch
	added    []span // statements that are not in the file itself
}

// instrumentFile rewrites a file so that every branch has a block, and lists the branches.
func instrumentFile(path string) (*source, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if text, err = instrument(text); err != nil {
		return nil, err
	}
	if err := os.WriteFile(path, text, 0o666); err != nil {
		return nil, err
	}
	return listBranches(text)
}

// An edit replaces the bytes [at, end) of a text.
type edit struct {
	at, end int
	text    string
}

// instrument writes the outcomes that the text leaves unsaid into it. The lines stay where they are.
func instrument(text []byte) ([]byte, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, "", text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var edits []edit
	offset := func(p token.Pos) int { return set.Position(p).Offset }
	insert := func(p token.Pos, what string) { edits = append(edits, edit{offset(p), offset(p), what}) }
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			if n.Else == nil {
				insert(n.Body.End(), " else {}")
			}
		case *ast.SwitchStmt:
			if !hasDefault(n.Body) {
				insert(n.Body.Rbrace, "default:")
			}
		case *ast.TypeSwitchStmt:
			if !hasDefault(n.Body) {
				insert(n.Body.Rbrace, "default:")
			}
		case *ast.ForStmt:
			if n.Cond != nil && !holdsFunction(n.Cond) {
				at, end := offset(n.Cond.Pos()), offset(n.Cond.End())
				edits = append(edits, edit{at, end, ""})
				insert(n.Body.Lbrace+1, fmt.Sprintf("if (%s) {} else {break};", text[at:end]))
			}
		}
		return true
	})
	slices.SortStableFunc(edits, func(a, b edit) int { return a.at - b.at })
	var out bytes.Buffer
	done := 0
	for _, e := range edits {
		out.Write(text[done:e.at])
		out.WriteString(e.text)
		done = e.end
	}
	out.Write(text[done:])
	return out.Bytes(), nil
}

// hasDefault says whether one of the cases is the default.
func hasDefault(body *ast.BlockStmt) bool {
	return slices.ContainsFunc(body.List, func(s ast.Stmt) bool { return s.(*ast.CaseClause).List == nil })
}

// holdsFunction says whether there is a function literal in the expression: it may hold conditions itself, and those would be moved.
func holdsFunction(x ast.Expr) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		_, literal := n.(*ast.FuncLit)
		found = found || literal
		return !found
	})
	return found
}

// listBranches lists the branches of a text that instrument has made.
func listBranches(text []byte) (*source, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, "", text, 0)
	if err != nil {
		return nil, err
	}
	s := &source{}
	at := func(p token.Pos) place { return place{set.Position(p).Line, set.Position(p).Column} }
	for _, d := range tree.Decls {
		function := ""
		if f, ok := d.(*ast.FuncDecl); ok {
			function = f.Name.Name
		}
		add := func(condition, from, to token.Pos, outcome string) {
			s.branches = append(s.branches, branch{span{at(from), at(to)}, at(condition).line, function, outcome})
		}
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.IfStmt:
				add(n.Pos(), n.Body.Pos(), n.Body.End(), "true")
				add(n.Pos(), n.Body.End(), n.Else.End(), "false")
			case *ast.CaseClause:
				add(n.Pos(), n.Colon, n.End()+1, caseName(n.List == nil)) // an empty case's block begins after the colon
			case *ast.CommClause:
				add(n.Pos(), n.Colon, n.End()+1, caseName(n.Comm == nil))
			case *ast.ForStmt:
				if test := addedTest(n); test != nil {
					s.added = append(s.added, span{at(n.Body.Lbrace), at(test.End())})
				}
			}
			return true
		})
	}
	return s, nil
}

func caseName(isDefault bool) string {
	if isDefault {
		return "default"
	}
	return "case"
}

// addedTest is the condition that instrument has moved into the loop, nil if it has not. Nobody else writes `if (x) {} else {break}`.
func addedTest(loop *ast.ForStmt) *ast.IfStmt {
	if loop.Cond != nil || len(loop.Body.List) == 0 {
		return nil
	}
	test, ok := loop.Body.List[0].(*ast.IfStmt)
	if !ok || test.Init != nil || len(test.Body.List) > 0 {
		return nil
	}
	if _, ok := test.Cond.(*ast.ParenExpr); !ok {
		return nil
	}
	return test
}
