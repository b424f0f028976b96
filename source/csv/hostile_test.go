package csv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// The first line is held as a whole, so how long it may be has a bound that only asking for larger records moves.
func TestLongFirstLines(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.csv")
	const fields = 5_000_000
	if err := os.WriteFile(path, []byte(strings.Repeat("1,", fields-1)+"1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, source.ReadOptions{}); !errors.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), "the first line has more than 8388608 bytes") {
		t.Errorf("found %v", err)
	}
	table, err := Open(path, source.ReadOptions{MaxRecordSize: idx.DefaultMaxRecordSize + 1})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	if n := table.Columns()[0].RecordSize(); n != fields {
		t.Errorf("found a record of %d bytes, expected %d", n, fields)
	}
}

// Names of which each begins a column are counted before they take memory; what is numbered is one column, however its numbers are written.
func TestManyNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		name  func(i int) string
		count int
		ok    bool
	}{
		"one column":       {func(i int) string { return fmt.Sprint("p", i) }, 1_000_000, true},
		"rows by columns":  {func(i int) string { return fmt.Sprintf("%dx%d", i/1000+1, i%1000+1) }, 1_000_000, true},
		"backwards":        {func(i int) string { return fmt.Sprint("p", 1_000_000-i) }, 1_000_000, false},
		"column by column": {func(i int) string { return fmt.Sprintf("%dx%d", i%500+1, i/500+1) }, 250_000, true},
		"different names":  {func(i int) string { return fmt.Sprintf("%dp", i) }, maxColumns + 1, false},
		"different stems":  {func(i int) string { return fmt.Sprintf("a%dx1", i) }, maxColumns + 1, false},
		"numbers apart":    {func(i int) string { return fmt.Sprint("p", 5*i+2) }, maxColumns + 1, false},
		"too many numbers": {func(i int) string { return fmt.Sprint("p", i) }, maxNamed + 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var header strings.Builder
			for i := range c.count {
				header.WriteString(c.name(i) + ",")
			}
			path := filepath.Join(t.TempDir(), "x.csv")
			if err := os.WriteFile(path, []byte(strings.TrimSuffix(header.String(), ",")+"\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			table, err := Open(path, source.ReadOptions{MaxRecordSize: 1 << 26})
			if !c.ok {
				if !errors.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), "expected at most") && !strings.Contains(err.Error(), "too many") {
					t.Errorf("found %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer table.Close()
			if columns := table.Columns(); len(columns) != 1 {
				t.Errorf("found %d columns, expected one", len(columns))
			}
		})
	}
}
