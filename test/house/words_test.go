package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/idxport/idxport/test/must"
)

// maxComment is the greatest number of columns of a line of a comment.
const maxComment = 100

// private are words that earlier versions used in a sense of their own, and what replaced them.
var private = []struct {
	pattern *regexp.Regexp
	better  string
}{
	{regexp.MustCompile(`\b[Rr]eceipts?\b`), "record"},
	{regexp.MustCompile(`\bkits?\b`), "bucket"},
	{regexp.MustCompile(`\bdivisions?\b`), "sharding"},
	{regexp.MustCompile(`\bstandings?\b`), "conflict"},
	{regexp.MustCompile(`\bcrowd(ed)?\b`), "contention"},
	{regexp.MustCompile(`\b(is|are|was|were) told\b`), "is given, is known, is recorded"},
	{regexp.MustCompile(`\btells? (whether|apart)\b`), "reports whether, distinguishes"},
	{regexp.MustCompile(`\b(is|are) called so\b`), "no such …, is named"},
	{regexp.MustCompile(`\b(is|are) no more than that\b`), "is only"},
	{regexp.MustCompile(`\bis a claim\b|\bare claims\b`), "is not trusted"},
	{regexp.MustCompile(`\bwhat it is, is\b`), "is detected"},
	{regexp.MustCompile(`\bwho (wants|reads|looks|writes)\b`), "a reader, a caller"},
}

// privateNames matches names of files, and identifiers, that consist of or end with such a word.
var privateNames = regexp.MustCompile(`(?i)^(receipts?|kits?|crowds?|standings?|told|untold|claims?|press)$` +
	`|[a-z](Receipt|Kit|Crowd|Standing|Told|Claim)s?$`)

// TestCommentsAreLegible demands of all comments, also of tests, lines of up to 100 columns and no
// private words.
func TestCommentsAreLegible(t *testing.T) {
	t.Parallel()
	for name, text := range trackedFiles(t) {
		if filepath.Ext(name) != ".go" {
			continue
		}
		set := token.NewFileSet()
		tree := must.Get(parser.ParseFile(set, name, text, parser.ParseComments))(t)
		for _, word := range regexp.MustCompile(`[_.-]`).Split(filepath.Base(name), -1) {
			if privateNames.MatchString(word) {
				t.Errorf("%s: a private word in the name of the file", name)
			}
		}
		for _, problem := range illegible(set, tree, strings.Split(string(text), "\n")) {
			t.Error(problem)
		}
	}
}

// illegible returns what is wrong with the comments and names of a file.
func illegible(set *token.FileSet, tree *ast.File, lines []string) (problems []string) {
	ast.Inspect(tree, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && privateNames.MatchString(id.Name) {
			problems = append(problems, set.Position(id.Pos()).String()+": "+id.Name+": a private word")
		}
		return true
	})
	for _, group := range tree.Comments {
		for _, c := range group.List {
			at := set.Position(c.Pos())
			line := lines[at.Line-1]
			alone := strings.HasPrefix(strings.TrimSpace(line), "//")
			if alone && columns(line) > maxComment && strings.Contains(strings.TrimPrefix(c.Text, "// "), " ") {
				problems = append(problems, at.String()+": a comment of more than 100 columns")
			}
			for _, w := range private {
				if found := w.pattern.FindString(c.Text); found != "" {
					problems = append(problems, at.String()+": "+found+": say "+w.better)
				}
			}
		}
	}
	return problems
}

// columns returns the width of a line with a tab stop every 4 columns.
func columns(line string) (n int) {
	for _, r := range line {
		if n++; r == '\t' {
			n = (n + 3) / 4 * 4
		}
	}
	return n
}

func TestIllegibleCommentsAreFound(t *testing.T) {
	t.Parallel()
	text := "package x\n\n// It is told by the content.\n// " + strings.Repeat("word ", 20) + "\nvar aKit int\n"
	set := token.NewFileSet()
	tree := must.Get(parser.ParseFile(set, "x.go", text, parser.ParseComments))(t)
	if found := illegible(set, tree, strings.Split(text, "\n")); len(found) != 3 {
		t.Errorf("found %q, expected three problems", found)
	}
}
