package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	parquetgo "github.com/parquet-go/parquet-go"

	"github.com/idxport/idxport/fault"
	sinkparquet "github.com/idxport/idxport/sink/parquet"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

// filesOf divides the rows of table between n files, and returns their folder and paths.
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

// from returns the data of table from a row on.
func from(table layouttest.Table, row int) (data [][]byte) {
	for i, c := range table.Columns {
		data = append(data, table.Data[i][row*c.RecordSize():])
	}
	return data
}

// TestOpenFiles reads files as one table. Some have no rows, as Spark writes them.
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
					got := must.Get(OpenFiles(paths, folder, source.ReadOptions{}))(t)
					if got.Rows() != 100 {
						t.Errorf("found %d rows, expected 100", got.Rows())
					}
					must.Do(t, got.(source.Seeker).Skip(int64(skip)))
					sourcetest.Expect(t, got, rows, table.Columns, from(table, skip))
					must.Do(t, got.Close())
					if origin := got.Columns()[0].Origin; origin != filepath.Base(folder) {
						t.Errorf("found the origin %q", origin)
					}
				}
			}
		})
	}
}

// TestOtherSchema expects an error that names both files.
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

var errBroken = errors.New("the disk is broken")

// readFailing opens file, skips rows and reads the rest.
func readFailing(file []byte, skip int64, f *sourcetest.FailingReaderAt) error {
	f.File = bytes.NewReader(file)
	table, err := newTable(f, int64(len(file)), "test.parquet", source.ReadOptions{DType: idx.Uint8})
	if err != nil {
		return err
	}
	if err := table.Skip(min(skip, table.Rows())); err != nil {
		return err
	}
	b := &source.Raw{Cap: 8}
	for {
		if err := table.Read(context.Background(), b); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := table.Decode(b); err != nil {
			return err
		}
	}
}

// TestEveryReadMayFail fails each read in turn, in files with all kinds of pages. The error is that
// of the disk or, if the file became shorter, one about the file.
func TestEveryReadMayFail(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{"idxport": written(t, small(), sinkparquet.Options{}, 8)}
	for _, name := range []string{"pyarrow-list", "pyarrow-png", "pyarrow-png-dictionary", "pyarrow-binary", "pyarrow-delta-length", "pyarrow-columns", "pyarrow-gzip-v2",
		"duckdb-array-v2", "spark-image", "datasets-image"} {
		data := must.Get(os.ReadFile("testdata/" + name + ".parquet"))(t)
		files[name] = data
	}
	for name, file := range files {
		for _, skip := range []int64{0, 3, 40, 1 << 40} {
			t.Run(fmt.Sprintf("%s from row %d on", name, skip), func(t *testing.T) {
				t.Parallel()
				all := &sourcetest.FailingReaderAt{Left: -1}
				if err := readFailing(file, skip, all); err != nil || all.Calls < 4 {
					t.Fatalf("found %v after %d reads", err, all.Calls)
				}
				for left := range all.Calls {
					if err := readFailing(file, skip, &sourcetest.FailingReaderAt{Left: left, Err: errBroken}); !errors.Is(err, errBroken) || fault.KindOf(err) != fault.Internal {
						t.Errorf("read %d of %d: found %v, expected %v", left+1, all.Calls, err, errBroken)
					}
					if err := readFailing(file, skip, &sourcetest.FailingReaderAt{Left: left, Err: io.EOF}); !errors.Is(err, fault.Truncated) {
						t.Errorf("the file ends at read %d of %d: found %v, expected %v", left+1, all.Calls, err, fault.Truncated)
					}
				}
			})
		}
	}
}

// TestCanceled pins that no row is read after the context was canceled, of one file and of
// several.
func TestCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, paths := filesOf(t, small(), 2)
	for _, path := range [][]string{{"testdata/pyarrow-list.parquet"}, paths} {
		table := must.Get(OpenFiles(path, "table", source.ReadOptions{}))(t)
		if err := table.Read(ctx, &source.Raw{Cap: 8}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: found %v, expected %v", path, err, context.Canceled)
		}
		must.Do(t, table.Close())
	}
}

// TestSkipWithinFiles skips rows of several files after others were read: within the open file, to
// its end, and over whole files, which are not opened again.
func TestSkipWithinFiles(t *testing.T) {
	t.Parallel()
	table := small()
	for _, read := range []int{1, 20, 25, 30} {
		for _, skip := range []int{0, 4, 5, 24, 25, 49, 60, 100 - read} {
			if read+skip > 100 {
				continue
			}
			folder, paths := filesOf(t, table, 4) // of 25 rows each
			got := must.Get(OpenFiles(paths, folder, source.ReadOptions{}))(t)
			must.Do(t, got.Read(t.Context(), &source.Raw{Cap: read}))
			for k := (read-1)/25 + 1; 25*(k+1) <= read+skip; k++ {
				must.Do(t, os.Remove(paths[k]))
			}
			must.Do(t, got.(source.Seeker).Skip(int64(skip)))
			sourcetest.Expect(t, got, 7, table.Columns, from(table, read+skip))
			must.Do(t, got.Close())
		}
	}
}

// TestCloseClosesFile demands that Close closes the file that Open has opened: it cannot be closed
// again.
func TestCloseClosesFile(t *testing.T) {
	t.Parallel()
	table := must.Get(Open("testdata/pyarrow-list.parquet", source.ReadOptions{}))(t)
	if first, second := table.Close(), table.Close(); first != nil || !errors.Is(second, fs.ErrClosed) {
		t.Errorf("found %v and %v", first, second)
	}
}

// TestOpenFails opens files that are missing, not regular, or change after they were opened.
func TestOpenFails(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing.parquet")
	if _, err := Open(missing, source.ReadOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("found %v, expected %v", err, fs.ErrNotExist)
	}
	if _, err := OpenFiles([]string{"testdata/pyarrow-list.parquet", missing}, "both", source.ReadOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("second of two files: found %v, expected %v", err, fs.ErrNotExist)
	}
	if _, err := OpenFiles(nil, "none", source.ReadOptions{}); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "none: ") {
		t.Errorf("no files: found %v, expected %v with the name", err, fs.ErrNotExist)
	}
	if _, err := OpenFiles([]string{t.TempDir()}, "folder", source.ReadOptions{}); !errors.Is(err, fault.Unsupported) {
		t.Errorf("a folder among files: found %v, expected %v", err, fault.Unsupported)
	}
	if table, err := Open(t.TempDir(), source.ReadOptions{}); !errors.Is(err, fault.Unsupported) || table != nil {
		t.Errorf("a folder: found %v, expected %v", err, fault.Unsupported)
	}
	if _, err := Open("testdata/bad-brotli.parquet", source.ReadOptions{}); !errors.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), "BROTLI, expected zstd") {
		t.Errorf("Brotli: found %v, expected %v that names it", err, fault.Unsupported)
	}
	for name, change := range map[string]func(path string) error{
		"was removed": os.Remove,
		"has fewer rows": func(path string) error {
			return os.WriteFile(path, written(t, layouttest.Random(3, small().Columns...), sinkparquet.Options{}, 8), 0o666)
		},
		"other columns": func(path string) error {
			return os.WriteFile(path, written(t, layouttest.Random(50, small().Columns[:1]...), sinkparquet.Options{}, 8), 0o666)
		},
	} {
		folder, paths := filesOf(t, small(), 2)
		table := must.Get(OpenFiles(paths, folder, source.ReadOptions{}))(t)
		must.Do(t, change(paths[1]))
		if _, err := sourcetest.ReadAll(table, 8); err == nil || name != "was removed" && !errors.Is(err, fault.Malformed) || name == "was removed" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the second file %s: found %v", name, err)
		}
		must.Do(t, table.Close())
	}
}

// TestLargePageHeaders reads a file of parquet-go, which writes the minimum and the maximum value
// of a page into its header.
func TestLargePageHeaders(t *testing.T) {
	t.Parallel()
	const size = 2 << 20
	type record struct {
		Image []byte `parquet:"image"`
	}
	var file bytes.Buffer
	w := parquetgo.NewGenericWriter[record](&file, parquetgo.DataPageStatistics(true))
	want := append(bytes.Repeat([]byte{1}, size), bytes.Repeat([]byte{2}, size)...)
	if _, err := w.Write([]record{{want[:size]}, {want[size:]}}); err != nil {
		t.Fatal(err)
	}
	must.Do(t, w.Close())
	got := must.Get(fromBytes(file.Bytes(), source.ReadOptions{DType: idx.Uint8, Shape: []int{size}}))(t)
	data, err := sourcetest.ReadAll(got, 2)
	if err != nil || !bytes.Equal(data[0], want) {
		t.Errorf("found the error %v, expected the two records", err)
	}
}
