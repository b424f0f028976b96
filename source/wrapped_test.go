package source

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/source/idx"
)

// A full table implements every optional interface of tables, and remembers Limit.
type full struct {
	Table
	limit int64
}

func (f *full) Skip(n int64) error      { return Skip(f.Table, n) }
func (f *full) Limit(n int64)           { f.limit = n }
func (f *full) Notes() []string         { return []string{"a note"} }
func (f *full) Meta() map[string]string { return map[string]string{"key": "value"} }
func (f *full) Omitted() []Omission     { return []Omission{{Column: "class"}} }
func (f *full) SourceRows() int64       { return 100 }

// optional are the methods of full that a Table need not have.
func optional() (names []string) {
	whole, table := reflect.TypeFor[*full](), reflect.TypeFor[Table]()
	for i := range whole.NumMethod() {
		if _, required := table.MethodByName(whole.Method(i).Name); !required {
			names = append(names, whole.Method(i).Name)
		}
	}
	return names
}

// TestWrappersForwardEverything makes every table that wraps one other, and calls every optional method through it.
func TestWrappersForwardEverything(t *testing.T) {
	t.Parallel()
	values := []uint8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19} // five images of 2×2
	wrappers := map[string]func(Table) (Table, error){
		"Slice":       func(in Table) (Table, error) { return Slice(in, 0, 5) },
		"Unstack":     func(in Table) (Table, error) { return Unstack(in, []string{"a", "b", "c", "d"}, 0) },
		"ChooseLabel": func(in Table) (Table, error) { return ChooseLabel(in, 0, nil), nil },
		"WithColumns": func(in Table) (Table, error) { return WithColumns(in, in.Columns()), nil },
		"WithRows":    func(in Table) (Table, error) { return WithRows(in, 5), nil },
		"Reshape":     func(in Table) (Table, error) { return Reshape(in, []int{-1, 4}, 1<<20) },
		"Transpose":   func(in Table) (Table, error) { return Transpose(in, 0) },
		"WithPartition": func(in Table) (Table, error) {
			return WithPartition(in, "a=1/x", []Column{{Name: "a", DType: idx.Uint8}}, []int64{1})
		},
		"Invert": func(in Table) (Table, error) { return Invert(in, 0) },
		"labels": func(in Table) (Table, error) {
			u, err := Unstack(in, []string{"a", "b", "c", "d"}, 0)
			if err != nil {
				return nil, err
			}
			columns := slices.Clone(u.Columns())
			columns[0].Classes = slices.Repeat([]string{"x"}, 20)
			return CheckLabels(WithColumns(u, columns)), nil
		},
	}
	for name, wrap := range wrappers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := file(t, idx.Uint8, []int{5, 2, 2}, values)
			inner := &full{Table: fromBytes(t, "image", raw, Options{Name: "image"})}
			table, err := wrap(inner)
			if err != nil {
				t.Fatal(err)
			}
			if table == Table(inner) {
				t.Fatal("found the table itself, expected one around it")
			}
			for _, method := range optional() {
				if _, ok := reflect.TypeOf(table).MethodByName(method); !ok {
					t.Errorf("%s is not forwarded", method)
				}
			}
			Limit(table, 4)
			if inner.limit != 4 {
				t.Errorf("Limit: found %d, expected 4", inner.limit)
			}
			if notes := Notes(table); !slices.Contains(notes, "a note") {
				t.Errorf("Notes: found %q", notes)
			}
			if meta := Meta(table); meta["key"] != "value" {
				t.Errorf("Meta: found %q", meta)
			}
			if omitted := Omitted(table); len(omitted) != 1 || omitted[0].Column != "class" {
				t.Errorf("Omitted: found %v", omitted)
			}
			if rows := SourceRows(table); rows != 100 {
				t.Errorf("SourceRows: found %d, expected 100", rows)
			}
			if err := Skip(table, 3); err != nil {
				t.Fatal(err)
			}
			c, err := readAll(table, 10)
			if err != nil || c.rows != 2 || c.first != 3 {
				t.Errorf("found %d rows from %d, %v, expected rows 3 and 4", c.rows, c.first, err)
			}
		})
	}
}

// TestJoinSkipsAndTells: a table of several has no metadata of its own, but all else.
func TestJoinSkipsAndTells(t *testing.T) {
	t.Parallel()
	one := &full{Table: fromBytes(t, "image", file(t, idx.Uint8, []int{5}, bytesUpTo(5)), Options{Name: "image"})}
	table, err := Join(false, one, second(t))
	if err != nil {
		t.Fatal(err)
	}
	Limit(table, 4)
	if notes := Notes(table); one.limit != 4 || !slices.Equal(notes, []string{"a note"}) {
		t.Errorf("found the limit %d and notes %q", one.limit, notes)
	}
	if err := Skip(table, 3); err != nil {
		t.Fatal(err)
	}
	if c, err := readAll(table, 10); err != nil || c.first != 3 || !bytes.Equal(c.columns[1], []byte{3, 4}) {
		t.Errorf("found rows from %d: % x, %v, expected rows 3 and 4", c.first, c.columns, err)
	}
}

// TestOnlyWrappedEmbedsATable: a type that embeds a Table hides its optional methods, so wrapped, which forwards them, is the only one.
func TestOnlyWrappedEmbedsATable(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var found []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range s.Fields.List {
					if embedded, ok := f.Type.(*ast.Ident); ok && len(f.Names) == 0 && embedded.Name == "Table" {
						found = append(found, spec.Name.Name)
					}
				}
			}
			return true
		})
	}
	if !slices.Equal(found, []string{"wrapped"}) {
		t.Errorf("found %q, expected wrapped alone", found)
	}
}
