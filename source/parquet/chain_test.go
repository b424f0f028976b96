package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sinkparquet "github.com/idxport/idxport/sink/parquet"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
)

// folderOf makes a folder of files called names, between which the rows of table are divided, the last having none.
func folderOf(t *testing.T, table layouttest.Table, names ...string) string {
	t.Helper()
	folder := t.TempDir()
	for i, name := range names {
		from, to := i*table.Rows/len(names), (i+1)*table.Rows/len(names)
		part := layouttest.Table{Columns: table.Columns, Rows: to - from}
		for k, c := range table.Columns {
			part.Data = append(part.Data, table.Data[k][from*c.RecordSize():to*c.RecordSize()])
		}
		put(t, filepath.Join(folder, name), written(t, part, sinkparquet.Options{}, 8))
	}
	return folder
}

func put(t *testing.T, path string, data []byte) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		err = os.WriteFile(path, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func small() layouttest.Table {
	return layouttest.Random(100, source.Column{Name: "image", DType: idx.Uint8, Shape: []int{2, 3}}, source.Column{Name: "label", DType: idx.Uint8})
}

// TestFolder reads folders of parts as one table, in the order of their numbers.
func TestFolder(t *testing.T) {
	t.Parallel()
	table := small()
	for _, names := range [][]string{
		{"one.parquet"},
		{"part-00000-5a1f.parquet", "part-00001-5a1f.parquet", "part-00002-5a1f.parquet"},
		{"data/train-00000-of-00002.parquet", "data/train-00001-of-00002.parquet"},
		{"data_0.parquet", "data_1.parquet", "data_2.parquet", "data_3.parquet", "data_4.parquet", "data_5.parquet", "data_6.parquet", "data_7.parquet", "data_8.parquet",
			"data_9.parquet", "data_10.parquet", "data_11.parquet"},
	} {
		t.Run(names[0], func(t *testing.T) {
			t.Parallel()
			folder := folderOf(t, table, names...)
			put(t, filepath.Join(folder, "_SUCCESS"), nil)
			put(t, filepath.Join(folder, ".hidden.parquet"), []byte("no file"))
			if dir := filepath.Dir(names[0]); dir == "." { // Spark leaves files without rows
				put(t, filepath.Join(folder, "zz.parquet"), written(t, layouttest.Random(0, table.Columns...), sinkparquet.Options{}, 8))
			}
			for _, rows := range []int{1, 8, 9, 33, 1000} {
				for _, skip := range []int{0, 5, 34, 50, 99, 100} {
					got, err := Open(folder, source.ReadOptions{})
					if err != nil {
						t.Fatal(err)
					}
					if got.Rows() != 100 {
						t.Errorf("found %d rows, expected 100", got.Rows())
					}
					if err := got.(source.Seeker).Skip(int64(skip)); err != nil {
						t.Fatal(err)
					}
					found := readFrom(t, got, rows)
					for i, c := range table.Columns {
						if !bytes.Equal(found[i], table.Data[i][skip*c.RecordSize():]) {
							t.Errorf("%d rows from %d on: column %s has other values", rows, skip, c.Name)
						}
					}
					if origin := got.Columns()[0].Origin; origin != filepath.Base(folder) {
						t.Errorf("found the origin %q", origin)
					}
				}
			}
		})
	}
}

// readFrom reads what is left of t.
func readFrom(t *testing.T, table source.Table, rows int) [][]byte {
	t.Helper()
	found := make([][]byte, len(table.Columns()))
	b := &source.Raw{Cap: rows}
	for table.Read(t.Context(), b) == nil {
		if err := table.Decode(b); err != nil {
			t.Fatal(err)
		}
		for i := range found {
			found[i] = append(found[i], b.Columns[i]...)
		}
	}
	if err := table.Close(); err != nil {
		t.Error(err)
	}
	return found
}

// TestFolderRefused opens folders that are no one table.
func TestFolderRefused(t *testing.T) {
	t.Parallel()
	table := small()
	tests := []struct {
		name    string
		files   []string
		message string
		kind    error
	}{
		{"none", nil, "found no Parquet file", ErrUnsupported},
		{"splits", []string{"train.parquet", "test.parquet"}, "found files of test, train, expected one split", ErrSplits},
		{"splits of the Hub", []string{"data/train-00000-of-00001.parquet", "data/test-00000-of-00001.parquet"}, "found files of test, train", ErrSplits},
		{"missing", []string{"train-00000-of-00003.parquet", "train-00002-of-00003.parquet"}, `found 2 files of "train", expected 3`, ErrDamaged},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			folder := folderOf(t, table, test.files...)
			_, err := Open(folder, source.ReadOptions{})
			if err == nil || !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.message) || !strings.Contains(err.Error(), folder) {
				t.Errorf("found the error %v, expected one with %q", err, test.message)
			}
		})
	}
	folder := folderOf(t, table, "train-00000-of-00001.parquet", "test-00000-of-00001.parquet")
	if paths, err := Files(folder, "test"); err != nil || fmt.Sprint(paths) != fmt.Sprint([]string{filepath.Join(folder, "test-00000-of-00001.parquet")}) {
		t.Errorf("found %v and %v, expected the file of the split test", paths, err)
	}
}

// TestOtherSchema names both files.
func TestOtherSchema(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	one, other := filepath.Join(folder, "a.parquet"), filepath.Join(folder, "b.parquet")
	put(t, one, written(t, small(), sinkparquet.Options{}, 8))
	put(t, other, written(t, layouttest.Random(3, source.Column{Name: "image", DType: idx.Uint8, Shape: []int{3, 2}}, source.Column{Name: "label", DType: idx.Uint8}), sinkparquet.Options{}, 8))
	_, err := OpenFiles([]string{one, other}, folder, source.ReadOptions{})
	if err == nil || !errors.Is(err, ErrSchemas) || !strings.Contains(err.Error(), one) || !strings.Contains(err.Error(), other) {
		t.Errorf("found the error %v, expected one with both files", err)
	}
}

func TestNaturalOrder(t *testing.T) {
	t.Parallel()
	names := []string{"part-10.parquet", "part-9.parquet", "a.parquet", "part-0010.parquet", "part.parquet", "b1c2.parquet", "b1c10.parquet"}
	slices.SortFunc(names, natural)
	expected := []string{"a.parquet", "b1c2.parquet", "b1c10.parquet", "part-9.parquet", "part-10.parquet", "part-0010.parquet", "part.parquet"}
	if fmt.Sprint(names) != fmt.Sprint(expected) {
		t.Errorf("found %v, expected %v", names, expected)
	}
}
