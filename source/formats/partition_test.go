package formats

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

// TestPartitions reads what pyarrow and DuckDB wrote (testdata/foreign/make.py), from every row on,
// in batches that end within files or span them.
func TestPartitions(t *testing.T) {
	t.Parallel()
	images := []byte{10, 11, 12, 13, 30, 31, 32, 33, 20, 21, 22, 23, 50, 51, 52, 53, 0, 1, 2, 3, 40, 41, 42, 43}
	labels := []int64{2, 2, 7, 7, 10, 10}
	for _, folder := range []string{"pyarrow", "feather", "duckdb"} {
		for rows := 1; rows <= 7; rows++ {
			for skip := range 7 {
				table := openParts(t, filepath.Join("..", "..", "testdata", "foreign", "partitioned-"+folder))
				if table.Rows() != 6 {
					t.Errorf("%s: found %d rows, expected 6", folder, table.Rows())
				}
				if err := source.Skip(table, int64(skip)); err != nil {
					t.Fatal(err)
				}
				got := must.Get(sourcetest.ReadAll(table, rows))(t)
				label := table.Columns()[1]
				var found []int64
				for i := range len(got[1]) / label.RecordSize() {
					found = append(found, source.Int(label.DType, got[1], i))
				}
				if !slices.Equal(got[0], images[4*skip:]) || !slices.Equal(found, labels[skip:]) || label.Name != "label" || label.Origin != "partitioned-"+folder {
					t.Errorf("%s: batches of %d rows from row %d: found %v and %v of %+v, expected %v and %v", folder, rows, skip, got[0], found, label, images[4*skip:], labels[skip:])
				}
			}
		}
		if err := source.Skip(openParts(t, filepath.Join("..", "..", "testdata", "foreign", "partitioned-"+folder)), 7); err == nil {
			t.Errorf("%s: found no error for 7 rows, expected the end", folder)
		}
	}
}

// TestFindPartitions: which folders are partitions, and what would be ignored in them.
func TestFindPartitions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		files []string
		want  string // format, name and paths, or part of the error
	}{
		{[]string{"a=2/x.csv", "a=10/x.csv", "a=-1/x.csv", "_SUCCESS", ".crc", "README.md"}, "csv in a=-1/x.csv a=2/x.csv a=10/x.csv"},
		{[]string{"a=2/x.csv", "a=002/x.csv", "a=%31/x.csv"}, "csv in a=%31/x.csv a=002/x.csv a=2/x.csv"},
		{[]string{"a=1/part-10.csv", "a=1/part-9.csv"}, "csv in a=1/part-9.csv a=1/part-10.csv"},
		{[]string{"a=2/b=1/x.csv", "a=1/b=3/x.csv", "a=1/b=2/x.csv", "a=3/_SUCCESS"}, "csv in a=1/b=2/x.csv a=1/b=3/x.csv a=2/b=1/x.csv"},
		{[]string{"train/a=1/x.csv"}, "csv train train/a=1/x.csv"},
		{[]string{"split=1/x.csv"}, "csv 1 split=1/x.csv"},
		{[]string{"a=1/0.png", "a=2/0.png"}, "png in ."},
		{[]string{"a=1/train-images-idx3-ubyte"}, ""},
		{[]string{"a=0.1/log.txt", "train.csv"}, "csv train train.csv"},
		{[]string{"a=1/x.csv", "a=2/train-images-idx3-ubyte"}, "found other files in in/a=2 beside partitions"},
		{[]string{"a=1/x.csv", "a=2/0.png"}, "found other files in in/a=2 beside partitions"},
		{[]string{"a=1/x.csv", "a=2/000000_0"}, "found other files in in/a=2 beside partitions"},
		{[]string{"a=1/x.csv", "0.png"}, "found other files in in beside partitions"},
		{[]string{"a=1/x.csv", "split=train/x.csv"}, "found the folder in/split=train beside partitions"},
		{[]string{"a=1/split=train/x.csv"}, "\"train\" for the column"},
		{[]string{"a=1/x.npy"}, "found files in the format npy, expected tables"},
		{[]string{"a=1/x-00000-of-00002.csv"}, "found 1 shard of x"},
		{[]string{"a=/x.csv"}, "found \"\" for the column a, expected an integer"},
	} {
		dir := touch(t, test.files...)
		tables, err := Find(source.Local{}, dir)
		got := ""
		for _, table := range tables {
			got = table.Format.Name + " " + table.Name
			for _, path := range table.Paths {
				rel, _ := filepath.Rel(dir, path)
				got += " " + filepath.ToSlash(rel)
			}
		}
		if err != nil {
			got = strings.ReplaceAll(filepath.ToSlash(err.Error()), filepath.ToSlash(dir), "in")
		}
		if err == nil && got != test.want || err != nil && (test.want == "" || !strings.Contains(got, test.want)) {
			t.Errorf("%v: found %q, expected %q", test.files, got, test.want)
		}
	}
}

// TestPartitionsOfLinks has a folder in which links lead to 2⁴⁰ paths.
func TestPartitionsOfLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 40 {
		level := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(level, 0o777); err != nil {
			t.Fatal(err)
		}
		for k := range 2 {
			if err := os.Symlink(filepath.Join("..", fmt.Sprint(i+1)), filepath.Join(level, fmt.Sprintf("k%d=%d", i, k))); err != nil {
				t.Skip(err)
			}
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "40"), 0o777); err != nil {
		t.Fatal(err)
	}
	_, err := Find(source.Local{}, filepath.Join(dir, "0"))
	if !errors.Is(err, fault.Usage) || !strings.Contains(err.Error(), "expected fewer partitions") {
		t.Errorf("found %v, expected that there are too many partitions", err)
	}
}
