package arrow

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

// needed returns options for a file of testdata: the type of bytes, or the columns without texts.
func needed(name string) (o source.ReadOptions) {
	switch name = strings.TrimSuffix(filepath.Base(name), ".arrow"); {
	case name == "pandas":
		o.Columns = []string{"label", "x"}
	case name == "dictionary", name == "pixels-by-index":
		o.Columns = []string{"label", "image"}
	case name == "dictionary-names":
		o.Classes = []string{"ibis", "dodo", "gnu"}
	case name == "binary-view-long", name == "polars-binary":
		o.DType, o.Shape = idx.Uint8, []int{100}
	case strings.HasSuffix(name, "-without-type"):
		o.DType, o.Shape = idx.Uint8, []int{12}
	}
	return o
}

// TestForeign reads files of pyarrow, polars and pandas: see testdata/make.py.
func TestForeign(t *testing.T) {
	t.Parallel()
	var files map[string]struct {
		Rows    int
		Columns []struct {
			Name, DType string
			Shape       []int
			Classes     []string
			SHA256      string
		}
	}
	err := json.Unmarshal(must.Get(os.ReadFile("testdata/expected.json"))(t), &files)
	if err != nil || len(files) < 50 {
		t.Fatal(err, len(files))
	}
	for name, want := range files {
		file := must.Get(os.ReadFile(filepath.Join("testdata", name+".arrow")))(t)
		for way, open := range ways(t, file) {
			for _, limit := range []int{1, 3, 5, 100} {
				table := must.Get(open(needed(name)))(t)
				if way == "file" && table.Rows() != int64(want.Rows) {
					t.Errorf("%s: found %d rows, expected %d", name, table.Rows(), want.Rows)
				}
				columns := table.Columns()
				if len(columns) != len(want.Columns) {
					t.Fatalf("%s: found %+v, expected %+v", name, columns, want.Columns)
				}
				for i, data := range must.Get(sourcetest.ReadAll(table, limit))(t) {
					c, w := columns[i], want.Columns[i]
					if c.Name != w.Name || c.DType.String() != w.DType || !slices.Equal(c.Shape, w.Shape) ||
						!slices.Equal(c.Classes, w.Classes) {
						t.Errorf("%s: %s: found %s %v %v %q, expected %s %s %v %q", name,
							way, c.Name, c.DType, c.Shape, c.Classes, w.Name, w.DType, w.Shape, w.Classes)
					}
					if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != w.SHA256 {
						t.Errorf("%s, %s, %d rows at once, column %s: wrong: % x", name, way, limit, c.Name, data)
					}
				}
				must.Do(t, table.Close())
			}
		}
	}
}

// TestRefused reads files that have no table of IDX columns. Every error has a hint.
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		want error
		text string
	}{
		"feather1":              {fault.Unsupported, "at byte 0: found \"FEA1"},
		"big-endian":            {fault.Unsupported, "found big-endian data"},
		"legacy":                {fault.Unsupported, "at byte 0: found \"\\xd4\\x00"},
		"list-view":             {fault.Unsupported, "column image: found the type list_view"},
		"text":                  {fault.Usage, "column name: found names, whose numbers are not known: "},
		"null":                  {fault.Unsupported, "column label, row 2: found a null"},
		"ragged":                {fault.Unsupported, "column image, row 2: found a list of 1 value, expected 2"},
		"large-value":           {fault.Malformed, "column label, row 3: found 1099511627776"},
		"time":                  {fault.Unsupported, "column when: found the type timestamp"},
		"permuted":              {fault.Unsupported, "expected a shape in C order"},
		"tensors-in-lists":      {fault.Unsupported, "or in lists, expected a shape in C order"},
		"sizes":                 {fault.Malformed, "column image, row 1: "},
		"no-bytes":              {fault.Unsupported, "column image, row 0: found a null"},
		"no-rows":               {columnar.ErrNoRows, "no rows"},
		"struct":                {fault.Unsupported, "column image: found the type struct"},
		"mixed-pixels":          {fault.Unsupported, "column pixel1: found int64, expected uint8 as in column pixel0"},
		"pixels-gap":            {fault.Unsupported, "found column pixel3 where pixel2 is expected"},
		"same-names":            {fault.Unsupported, "column label: found the name \"label\", expected one of its own"},
		"pixels-by-column":      {fault.Unsupported, "found column 1x0 where 0x1 is expected"},
		"dictionary-bool":       {fault.Unsupported, "column label: found the type dictionary"},
		"dictionary-null":       {fault.Unsupported, "column label, row 1: found a null"},
		"dictionary-null-index": {fault.Unsupported, "column label, row 1: found a null"},
		"enum":                  {fault.Usage, "column kind: found names, whose numbers are not known: "},
		"dictionary-goes-on":    {fault.Unsupported, "found a delta dictionary"},
		"deep":                  {fault.Malformed, "or more than 64 levels"},
	} {
		file := must.Get(os.ReadFile(filepath.Join("testdata", "refused-"+name+".arrow")))(t)
		for way, open := range ways(t, file) {
			table, err := open(source.ReadOptions{})
			if err == nil {
				_, err = sourcetest.ReadAll(table, 10)
				must.Do(t, table.Close())
			}
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) || fault.HintOf(err) == "" {
				t.Errorf("%s, %s: found %v, expected %q with a hint", name, way, err, test.text)
			}
		}
	}
}
