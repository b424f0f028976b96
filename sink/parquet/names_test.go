package parquet

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
)

// named is a table of labels of d, with names, that go round and round from first to last.
func named(d idx.DType, rows, first, last int, names ...string) layouttest.Table {
	t := layouttest.Table{Named: true, Rows: rows, Columns: []source.Column{{Name: "label", DType: d, Classes: names}}, Data: [][]byte{nil}}
	for row := range rows {
		t.Data[0] = append(t.Data[0], elements(d, float64(first+row%(last-first+1)))...)
	}
	return t
}

// numbered is n names.
func numbered(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("class %d", i)
	}
	return names
}

// TestNames reads the names back with parquet-go, whatever the width of an index, the pages and the row groups.
func TestNames(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		table  layouttest.Table
		bounds string
		values int // entries of the dictionary
	}{
		"one name":        {named(idx.Uint8, 5, 0, 0, "only"), "only only", 1},
		"label order":     {named(idx.Uint8, 45_000, 0, 2, "pear", "Zebra", "apple"), "Zebra pear", 3},
		"of those met":    {named(idx.Int32, 9, 1, 2, "a", "c", "b", "d"), "b c", 4},
		"unsigned bytes":  {named(idx.Int8, 9, 0, 1, "z", "é"), "z é", 2},
		"300 names":       {named(idx.Int16, 1_000, 1, 299, numbered(300)...), "class 1 class 99", 300},
		"65,536 names":    {named(idx.Int32, 3, 65_533, 65_535, numbered(65_536)...), "class 65533 class 65535", 65_536},
		"a name too long": {named(idx.Uint8, 9, 0, 1, "a", strings.Repeat("b", maxBound+1)), " ", 2},
	}
	for name, test := range tests {
		for _, codec := range []string{"none", "zstd"} {
			t.Run(name+" "+codec, func(t *testing.T) {
				t.Parallel()
				file := write(t, test.table, Options{Compression: codec}, 700)
				f := open(t, file)
				column := test.table.Columns[0]
				rows := rowsOf(t, f)
				if len(rows) != test.table.Rows {
					t.Fatalf("found %d rows, expected %d", len(rows), test.table.Rows)
				}
				for i, row := range rows {
					want := column.Classes[source.Int(column.DType, test.table.Data[0], i)]
					if len(row) != 2 || row[1].String() != want {
						t.Fatalf("row %d: found %v, expected the class %q", i, row, want)
					}
				}
				for _, group := range f.Metadata().RowGroups {
					m := group.Columns[1].MetaData
					if found := fmt.Sprintf("%s %s", m.Statistics.MinValue, m.Statistics.MaxValue); found != test.bounds {
						t.Errorf("found the bounds %s, expected %s", found, test.bounds)
					}
					if indexed := group.Columns[1].ColumnIndexOffset != 0; indexed != (test.bounds != " ") {
						t.Errorf("found that there is a column index: %v", indexed)
					}
					p := pageAt(t, file, m.DictionaryPageOffset)
					if p.header.Type != format.DictionaryPage || int(p.header.DictionaryPageHeader.V.NumValues) != test.values {
						t.Errorf("found %v, expected a dictionary of %d values", p.header, test.values)
					}
				}
			})
		}
	}
}

// TestNamesInRowGroups demands the whole dictionary in every row group.
func TestNamesInRowGroups(t *testing.T) {
	t.Parallel()
	const n = 4_096 // a dictionary larger than a page: memory that was given back would be used again
	names := numbered(n)
	f := open(t, write(t, named(idx.Int16, 100_000, 0, n-1, names...), Options{}, 1_000))
	groups, rows := f.Metadata().RowGroups, rowsOf(t, f)
	for i, row := range rows {
		if want := names[i%n]; row[1].String() != want {
			t.Fatalf("row %d: found the class %q, expected %q", i, row[1].String(), want)
		}
	}
	if len(groups) != 2 || len(rows) != 100_000 {
		t.Fatalf("found %d row groups of %d rows, expected 2 of 100000", len(groups), len(rows))
	}
	for _, group := range groups {
		if s := group.Columns[1].MetaData.EncodingStats; len(s) != 2 || s[0].PageType != format.DictionaryPage || s[1].Encoding != format.RLEDictionary {
			t.Errorf("found the pages %v, expected a dictionary and what refers to it", s)
		}
	}
}

func TestLabelWithoutName(t *testing.T) {
	t.Parallel()
	table := named(idx.Uint8, 5, 0, 2, "a", "b")
	k, err := New(&strings.Builder{}, table.Schema(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Encode(t.Context(), schema.Batch{Rows: table.Rows, Columns: table.Data}); !errors.Is(err, fault.Malformed) {
		t.Errorf("found %v, expected a label without a name", err)
	}
}
