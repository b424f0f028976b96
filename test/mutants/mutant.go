package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
)

// A mutant is a source file with one defect: text in place of the bytes from offset from to offset
// to.
type mutant struct {
	file, what string
	source     []byte
	from, to   int
	text       string
}

// mutated is the whole file with the defect.
func (m mutant) mutated() []byte {
	return slices.Concat(m.source[:m.from], []byte(m.text), m.source[m.to:])
}

// place is where the defect is, as FILE:LINE.
func (m mutant) place() string {
	return fmt.Sprintf("%s:%d", m.file, 1+strings.Count(string(m.source[:m.from]), "\n"))
}

// String is what was done, and the line as it is then; for a statement that is left out, as it was.
func (m mutant) String() string {
	source := m.source
	if m.text != "" {
		source = m.mutated()
	}
	start := strings.LastIndex(string(source[:m.from]), "\n") + 1
	line, _, _ := strings.Cut(string(source[start:]), "\n")
	return m.what + ": " + strings.TrimSpace(line)
}

// fileMutants lists the mutants of a file in the order of its nodes.
func fileMutants(file string) ([]mutant, error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	c := collector{set: set, blank: mutant{file: file, source: source}, post: map[ast.Stmt]bool{}}
	for _, declaration := range tree.Decls {
		c.walk(declaration, nil)
	}
	return c.found, nil
}

// A collector walks the syntax tree of a file.
type collector struct {
	set   *token.FileSet
	blank mutant
	post  map[ast.Stmt]bool // of loops, which never end without them: no test is needed to notice that
	found []mutant
}

// add records the mutant with text in place of the source between two positions.
func (c *collector) add(what string, from, to token.Pos, text string) {
	m := c.blank
	m.what, m.from, m.to, m.text = what, c.set.Position(from).Offset, c.set.Position(to).Offset, text
	c.found = append(c.found, m)
}

// walk collects the mutants of root, a part of a function that has the results.
func (c *collector) walk(root ast.Node, results *ast.FieldList) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Body != nil {
				c.walk(n.Body, n.Type.Results)
			}
			return false
		case *ast.FuncLit:
			c.walk(n.Body, n.Type.Results)
			return false
		case *ast.IfStmt:
			c.negate(n.Cond)
		case *ast.ForStmt:
			c.post[n.Post] = true
			if n.Cond != nil {
				c.negate(n.Cond)
			}
		case *ast.BinaryExpr:
			if other, ok := swapped[n.Op]; ok {
				end := n.OpPos + token.Pos(len(n.Op.String()))
				c.add(fmt.Sprintf("%s for %s", other, n.Op), n.OpPos, end, other.String())
			}
		case *ast.BasicLit:
			if n.Kind == token.INT {
				c.add("plus one", n.Pos(), n.End(), "("+n.Value+" + 1)")
				c.add("minus one", n.Pos(), n.End(), "("+n.Value+" - 1)")
			}
		case ast.Stmt:
			c.leaveOut(n, results)
		}
		return true
	})
}

// swapped has for each operator the one that takes its place.
var swapped = map[token.Token]token.Token{
	token.LAND: token.LOR, token.LOR: token.LAND,
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
}

// negate collects the opposite of a condition.
func (c *collector) negate(condition ast.Expr) {
	from, to := c.set.Position(condition.Pos()).Offset, c.set.Position(condition.End()).Offset
	c.add("negated", condition.Pos(), condition.End(), "!("+string(c.blank.source[from:to])+")")
}

// leaveOut collects mutants without a statement, or with nil in place of a returned error.
func (c *collector) leaveOut(statement ast.Stmt, results *ast.FieldList) {
	switch s := statement.(type) {
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE || c.post[s] {
			return // the names would be missing
		}
	case *ast.ReturnStmt:
		if !returnsError(results) || len(s.Results) == 0 {
			return
		}
		last := s.Results[len(s.Results)-1]
		if name, ok := last.(*ast.Ident); ok && name.Name == "nil" || len(s.Results) != results.NumFields() {
			return
		}
		c.add("nil returned", last.Pos(), last.End(), "nil")
	case *ast.IncDecStmt, *ast.ExprStmt, *ast.DeferStmt, *ast.SendStmt:
		if c.post[s] {
			return
		}
	default:
		return
	}
	c.add("left out", statement.Pos(), statement.End(), "")
}

// returnsError reports whether the last result is an error.
func returnsError(results *ast.FieldList) bool {
	if results == nil || len(results.List) == 0 {
		return false
	}
	last, ok := results.List[len(results.List)-1].Type.(*ast.Ident)
	return ok && last.Name == "error"
}
