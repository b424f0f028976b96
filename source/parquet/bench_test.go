package parquet

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/idxport/idxport/sink/layout"
	sinkparquet "github.com/idxport/idxport/sink/parquet"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/test/layouttest"
)

// BenchmarkRead reads many batches of images on one goroutine. It counts the bytes of pixels and
// labels.
func BenchmarkRead(b *testing.B) {
	one := layouttest.Images()
	table := layouttest.Table{Columns: one.Columns, Rows: 8 * one.Rows, Data: make([][]byte, len(one.Data))}
	for range 8 {
		for i, data := range one.Data {
			table.Data[i] = append(table.Data[i], data...)
		}
	}
	for _, name := range layout.Names() {
		for _, codec := range []string{"none", "zstd"} {
			b.Run(name+" "+codec, func(b *testing.B) {
				file := written(b, table, sinkparquet.Options{Layout: name, Compression: codec}, one.Rows)
				benchmark(b, file, one.Rows, int64(len(table.Data[0])+len(table.Data[1])))
			})
		}
	}
	for _, name := range []string{"pyarrow-zstd-v1", "pyarrow-plain", "pyarrow-delta"} {
		b.Run(name, func(b *testing.B) {
			file, err := os.ReadFile(filepath.Join("testdata", name+".parquet"))
			if err != nil {
				b.Fatal(err)
			}
			benchmark(b, file, foreignRows, foreignRows*16)
		})
	}
}

func benchmark(b *testing.B, file []byte, rows int, size int64) {
	b.SetBytes(size)
	b.ReportAllocs()
	raw := &source.Raw{Cap: rows}
	for b.Loop() {
		t, err := fromBytes(file, source.ReadOptions{})
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			if err = t.Read(b.Context(), raw); err == nil {
				err = t.Decode(raw)
			}
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
}
