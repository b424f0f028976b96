package interop

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// TestParquetGoSkipsPages finds the pages of a label in a file whose rows are sorted by label, by
// the column index alone, and counts the label's rows in them. The pages it leaves out have none.
// Labels are the first column: parquet-go 0.32 passes over the column indexes of files whose first
// column has none (File.ReadPageIndex), as a tensor.
func TestParquetGoSkipsPages(t *testing.T) {
	folder := corpus(t)
	labels, err := readIDX(filepath.Join(folder, "labels-first.label.idx"))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[byte]int{}
	for _, label := range labels.bytes {
		counts[label]++
	}
	file, err := os.Open(filepath.Join(folder, "labels-first.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	opened, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	leaf, ok := opened.Schema().Lookup("label")
	if !ok {
		t.Fatal("found no column label")
	}
	for _, label := range []byte{0, 4, 9, 77} {
		rows, read, pages := 0, 0, 0
		for _, group := range opened.RowGroups() {
			r, n, of := labelRows(t, group.ColumnChunks()[leaf.ColumnIndex], label)
			rows, read, pages = rows+r, read+n, pages+of
		}
		if rows != counts[label] {
			t.Errorf("label %d: found %d rows in the pages that the column index names, expected %d", label, rows, counts[label])
		}
		// A label's 30,000 rows lie in 2 to 4 of 16 pages of 20,000 rows.
		if pages < 10 || read > pages/3 || label == 77 && read > 0 {
			t.Errorf("label %d: read %d of %d pages", label, read, pages)
		}
		t.Logf("label %d: %d of %d pages", label, read, pages)
	}
}

// labelRows counts the rows with a label in the pages of a chunk whose bounds have room for it; and
// those pages, and all.
func labelRows(t *testing.T, chunk parquet.ColumnChunk, label byte) (rows, read, pages int) {
	t.Helper()
	index, err := chunk.ColumnIndex()
	if err != nil {
		t.Fatal(err)
	}
	offsets, err := chunk.OffsetIndex()
	if err != nil {
		t.Fatal(err)
	}
	reader := chunk.Pages()
	defer reader.Close()
	for i := range index.NumPages() {
		if int64(label) < int64(index.MinValue(i).Int32()) || int64(label) > int64(index.MaxValue(i).Int32()) {
			continue
		}
		read++
		if err := reader.SeekToRow(offsets.FirstRowIndex(i)); err != nil {
			t.Fatal(err)
		}
		page, err := reader.ReadPage()
		if err != nil {
			t.Fatal(err)
		}
		values := make([]parquet.Value, page.NumValues())
		n, _ := page.Values().ReadValues(values)
		for _, v := range values[:n] {
			if v.Int32() == int32(label) {
				rows++
			}
		}
		parquet.Release(page)
	}
	return rows, read, index.NumPages()
}
