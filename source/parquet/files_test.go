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
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/fault"
	sinkparquet "github.com/idxport/idxport/sink/parquet"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

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

var errBroken = errors.New("the disk is broken")

// readFailing opens file, skips rows and reads the rest.
func readFailing(file []byte, skip int64, f *sourcetest.FailingReaderAt) error {
	f.File = bytes.NewReader(file)
	table, err := newTable(f, io.NopCloser(nil), int64(len(file)), "test.parquet", source.ReadOptions{DType: idx.Uint8})
	if err != nil {
		return err
	}
	if err := table.Skip(min(skip, table.Rows())); err != nil {
		return err
	}
	_, err = sourcetest.ReadAll(table, 8)
	return err
}

// TestEveryReadMayFail fails each read in turn, in files with all kinds of pages. The error is that
// of the disk or, if the file became shorter, one about the file.
func TestEveryReadMayFail(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{"idxport": written(t, small(), sinkparquet.Options{}, 8)}
	for _, name := range []string{"pyarrow-list", "pyarrow-png", "pyarrow-png-dictionary", "pyarrow-binary", "pyarrow-columns", "pyarrow-gzip-v2",
		"duckdb-array-v2", "datasets-image"} {
		data := must.Get(os.ReadFile("testdata/" + name + ".parquet"))(t)
		files[name] = data
	}
	for name, file := range files {
		for _, skip := range []int64{0, 3, 40, 1 << 40} {
			t.Run(fmt.Sprintf("%s from row %d on", name, skip), func(t *testing.T) {
				t.Parallel()
				all := &sourcetest.FailingReaderAt{Left: -1}
				if err := readFailing(file, skip, all); err != nil || all.Calls < 3 {
					t.Fatalf("found %v after %d reads", err, all.Calls)
				}
				for left := range all.Calls {
					for broken, kind := range map[error]error{errBroken: fault.Internal, io.EOF: fault.Truncated} {
						err := readFailing(file, skip, &sourcetest.FailingReaderAt{Left: left, Err: broken})
						if fault.KindOf(err) != kind || kind == fault.Internal && !errors.Is(err, errBroken) {
							t.Errorf("read %d of %d: found %v, expected %v", left+1, all.Calls, err, broken)
						}
					}
				}
			})
		}
	}
}

// TestOpenAndClose opens files that are missing or not regular, cancels, and reads after Close.
func TestOpenAndClose(t *testing.T) {
	t.Parallel()
	if _, err := Open(filepath.Join(t.TempDir(), "missing"), source.ReadOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("found %v, expected %v", err, fs.ErrNotExist)
	}
	if table, err := Open(t.TempDir(), source.ReadOptions{}); err == nil || table != nil {
		t.Errorf("found %v and %v, expected that a folder is refused", table, err)
	}
	table := must.Get(Open("testdata/pyarrow-list.parquet", source.ReadOptions{}))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := table.Read(ctx, &source.Raw{Cap: 8}); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected %v", err, context.Canceled)
	}
	must.Do(t, errors.Join(table.Close(), table.Close()))
	if err := table.Read(t.Context(), &source.Raw{Cap: 8}); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("found %v, expected %v", err, fs.ErrClosed)
	}
}

// TestLargePageHeaders reads a page with the minimum and the maximum value in its header, as
// parquet-go writes them.
func TestLargePageHeaders(t *testing.T) {
	t.Parallel()
	h := format.DataPageHeader{NumValues: 1, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE}
	h.Statistics.MaxValue = make([]byte, 2<<20)
	page := pageOf(t, &format.PageHeader{UncompressedPageSize: 4, DataPageHeader: thrift.New(h)}, []byte{7, 0, 0, 0})
	file := columnsOf(t, format.Required, format.Uncompressed, 1, 1, 1, page)
	got := must.Get(fromBytes(file, source.ReadOptions{}))(t)
	sourcetest.Expect(t, got, 2, []source.Column{{Name: "x0", DType: idx.Uint8}}, [][]byte{{7}})
}
