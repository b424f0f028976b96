package sources

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	sinkparquet "github.com/idxport/idxport/sink/parquet"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

// writeParts makes a folder of parts with an extension.
func writeParts(t *testing.T, extension string, contents ...string) (dir string) {
	t.Helper()
	dir = touch(t)
	for i, content := range contents {
		must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprint("part-", i, extension)), []byte(content), 0o666))
	}
	return dir
}

// openParts opens the only table of a folder.
func openParts(dir string) (source.Table, error) {
	tables, err := Find(source.Local{}, dir)
	if err != nil {
		return nil, err
	}
	return tables[0].Open(source.ReadOptions{})
}

// images returns a table of images and labels.
func images(rows int) layouttest.Table {
	image := source.Column{Name: "image", DType: idx.Uint8, Shape: []int{2, 3}}
	return layouttest.Random(rows, image, source.Column{Name: "label", DType: idx.Uint8})
}

// asParquet returns Parquet files of the given numbers of rows of table.
func asParquet(t *testing.T, table layouttest.Table, rows ...int) (files []string) {
	t.Helper()
	open := func(w io.Writer, s *schema.Schema) (sink.Sink, error) {
		return sinkparquet.New(w, s, sink.Options{})
	}
	from := 0
	for _, n := range rows {
		part := layouttest.Table{Columns: table.Columns, Rows: n}
		for k, c := range table.Columns {
			part.Data = append(part.Data, table.Data[k][from*c.RecordSize():][:n*c.RecordSize()])
		}
		files = append(files, string(part.Write(t, open, part.Schema(), 8)))
		from += n
	}
	return files
}

// TestChain reads files that record their numbers of rows and others, some without rows, in batches
// and from rows that begin anywhere, and skips too far.
func TestChain(t *testing.T) {
	t.Parallel()
	const header = "label,pixel0,pixel1\n"
	csv := writeParts(t, ".csv", header+"1,10,11\n2,20,21\n3,30,31\n", header, header+"4,40,41\n")
	text := layouttest.Table{Rows: 4, Data: [][]byte{{1, 2, 3, 4}, {10, 11, 20, 21, 30, 31, 40, 41}},
		Columns: []source.Column{
			{Name: "label", DType: idx.Uint8}, {Name: "image", DType: idx.Uint8, Shape: []int{2}}}}
	table := images(100)
	for dir, want := range map[string]layouttest.Table{
		csv: text,
		writeParts(t, ".csv", header, "1,10,11\n2,20,21\n", "label,pixel0\n", header+"3,30,31\n4,40,41\n"): text,
		writeParts(t, ".parquet", asParquet(t, table, 40, 60)...):                                          table,
		writeParts(t, ".parquet", asParquet(t, table, 0, 40, 0, 0, 35, 25, 0)...):                          table,
	} {
		for _, skip := range []int{0, 1, 3, 4, 39, 40, 50, 75, 100} {
			for _, rows := range []int{1, 3, 9, 1000} {
				if skip > want.Rows {
					continue
				}
				got := must.Get(openParts(dir))(t)
				must.Do(t, source.Skip(got, int64(skip)))
				var rest [][]byte
				for k, c := range want.Columns {
					rest = append(rest, want.Data[k][skip*c.RecordSize():])
				}
				sourcetest.Expect(t, got, rows, want.Columns, rest)
				if err := got.Close(); err != nil || got.Columns()[0].Origin != "in" {
					t.Errorf("found the origin %s and %v", got.Columns()[0].Origin, err)
				}
			}
		}
	}
	if err := source.Skip(must.Get(openParts(csv))(t), 5); err != io.EOF {
		t.Errorf("skip 5 of 4 rows: found %v, expected the end", err)
	}
}

// TestChainSkips skips files without opening them again.
func TestChainSkips(t *testing.T) {
	t.Parallel()
	table := images(100)
	dir := writeParts(t, ".parquet", asParquet(t, table, 40, 30, 30)...)
	got := must.Get(openParts(dir))(t)
	must.Do(t, os.Remove(filepath.Join(dir, "part-1.parquet")))
	must.Do(t, source.Skip(got, 80))
	sourcetest.Expect(t, got, 10, table.Columns, [][]byte{table.Data[0][6*80:], table.Data[1][80:]})
	must.Do(t, got.Close())
}

// TestChainDiffers: the files of a folder must have the same columns, and values of the same types.
func TestChainDiffers(t *testing.T) {
	t.Parallel()
	for second, want := range map[string]string{
		"class,pixel0\n1,2\n":                   "found the columns pixel0 (uint8, scalar), class (text), ",
		"label,pixel0,pixel1,pixel2\n1,2,3,4\n": "image (uint8, 3), expected label (uint8, scalar), image (uint8, 2)",
		"label,pixel0,pixel1\n1,256,3\n":        "found the columns label (uint8, scalar), image (int32, 2), expected",
		"label\n1\n":                            "found the columns label (uint8, scalar), expected label ",
		"label,pixel0,pixel1,w\n1,2,3,cat\n":    "image (uint8, 2), w (text), expected label (uint8, scalar)",
		"<html>\n":                              "an HTML or XML page", "": "empty",
	} {
		table := must.Get(openParts(writeParts(t, ".csv", "label,pixel0,pixel1\n1,10,11\n", second)))(t)
		_, err := sourcetest.ReadAll(table, 10)
		if !strings.Contains(fmt.Sprint(err), want) || !strings.Contains(fmt.Sprint(err), "part-1.csv") {
			t.Errorf("%q: found the error %v, expected part-1.csv and %q", second, err, want)
		}
		must.Do(t, table.Close())
	}
}

// TestChainChanges has a second file that has other rows, or none, once it is read.
func TestChainChanges(t *testing.T) {
	t.Parallel()
	other := layouttest.Random(50, source.Column{Name: "image", DType: idx.Uint8, Shape: []int{3, 2}})
	for content, want := range map[string]error{
		asParquet(t, images(20), 20)[0]: fault.Changed, asParquet(t, other, 50)[0]: fault.Malformed,
		"": fault.Truncated,
	} {
		dir := writeParts(t, ".parquet", asParquet(t, images(100), 50, 50)...)
		got := must.Get(openParts(dir))(t)
		second := filepath.Join(dir, "part-1.parquet")
		must.Do(t, os.WriteFile(second, []byte(content), 0o666))
		_, err := sourcetest.ReadAll(got, 8)
		if !errors.Is(err, want) || !strings.Contains(err.Error(), second) {
			t.Errorf("found %v, expected %v for the second file", err, want)
		}
		must.Do(t, got.Close())
	}
}

// TestChainOfEmptyParts has no rows at all, and shapes that only rows would tell.
func TestChainOfEmptyParts(t *testing.T) {
	t.Parallel()
	got := must.Get(openParts(writeParts(t, ".parquet", asParquet(t, images(0), 0, 0)...)))(t)
	sourcetest.Expect(t, got, 10, images(0).Columns, [][]byte{nil, nil})
	unknown := string(must.Get(os.ReadFile("../../source/parquet/testdata/bad-no-rows.parquet"))(t))
	known := string(must.Get(os.ReadFile("../../source/parquet/testdata/pyarrow-list.parquet"))(t))
	if _, err := openParts(writeParts(t, ".parquet", unknown, unknown)); !errors.Is(err, columnar.ErrNoRows) {
		t.Errorf("found %v, expected %v", err, columnar.ErrNoRows)
	}
	got = must.Get(openParts(writeParts(t, ".parquet", unknown, known)))(t)
	if must.Do(t, got.Close()); got.Rows() != 150 {
		t.Errorf("found %d rows, expected the 150 of the second file", got.Rows())
	}
}
