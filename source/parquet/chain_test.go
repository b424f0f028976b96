package parquet

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	sinkparquet "github.com/idxport/idxport/sink/parquet"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
)

// filesOf makes n files, between which the rows of table are divided, and returns their paths in a folder of their own.
func filesOf(t *testing.T, table layouttest.Table, n int) (folder string, paths []string) {
	t.Helper()
	folder = t.TempDir()
	for i := range n {
		from, to := i*table.Rows/n, (i+1)*table.Rows/n
		part := layouttest.Table{Columns: table.Columns, Rows: to - from}
		for k, c := range table.Columns {
			part.Data = append(part.Data, table.Data[k][from*c.RecordSize():to*c.RecordSize()])
		}
		paths = append(paths, filepath.Join(folder, strconv.Itoa(i)+".parquet"))
		put(t, paths[i], written(t, part, sinkparquet.Options{}, 8))
	}
	return folder, paths
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

// TestOpenFiles reads files as one table; Spark leaves some without rows.
func TestOpenFiles(t *testing.T) {
	t.Parallel()
	table := small()
	for _, n := range []int{1, 2, 3, 12} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			folder, paths := filesOf(t, table, n)
			paths = append(paths, filepath.Join(folder, "none.parquet"))
			put(t, paths[n], written(t, layouttest.Random(0, table.Columns...), sinkparquet.Options{}, 8))
			for _, rows := range []int{1, 8, 9, 33, 1000} {
				for _, skip := range []int{0, 5, 34, 50, 99, 100} {
					got, err := OpenFiles(paths, folder, source.ReadOptions{})
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

// TestOtherSchema names both files.
func TestOtherSchema(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	one, other := filepath.Join(folder, "a.parquet"), filepath.Join(folder, "b.parquet")
	put(t, one, written(t, small(), sinkparquet.Options{}, 8))
	put(t, other, written(t, layouttest.Random(3, source.Column{Name: "image", DType: idx.Uint8, Shape: []int{3, 2}}, source.Column{Name: "label", DType: idx.Uint8}), sinkparquet.Options{}, 8))
	_, err := OpenFiles([]string{one, other}, folder, source.ReadOptions{})
	if err == nil || !errors.Is(err, fault.Malformed) || !strings.Contains(err.Error(), one) || !strings.Contains(err.Error(), other) {
		t.Errorf("found the error %v, expected one with both files", err)
	}
}
