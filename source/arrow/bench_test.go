package arrow

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"

	sinkarrow "github.com/idxport/idxport/sink/arrow"
	"github.com/idxport/idxport/sink/layout"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/test/layouttest"
)

// BenchmarkRead reads 28×28 images and their labels on one goroutine. The case "idx" reads the
// images from an IDX file, which is the limit.
func BenchmarkRead(b *testing.B) {
	const batches = 20
	one := layouttest.Images()
	written := layouttest.Table{Columns: one.Columns, Rows: batches * one.Rows}
	for _, data := range one.Data {
		written.Data = append(written.Data, bytes.Repeat(data, batches))
	}
	size := int64(len(written.Data[0]))
	header := binary.BigEndian.AppendUint32([]byte{0, 0, 8, 3}, uint32(written.Rows))
	header = append(header, 0, 0, 0, 28, 0, 0, 0, 28)
	path := filepath.Join(b.TempDir(), "images")
	if err := os.WriteFile(path, append(header, written.Data[0]...), 0o600); err != nil {
		b.Fatal(err)
	}
	b.Run("idx", func(b *testing.B) {
		benchmark(b, size, one.Rows, func() (source.Table, error) { return source.OpenIDX(path, source.Options{}) })
	})
	for _, name := range layout.Names() {
		for _, codec := range sinkarrow.Codecs() {
			for rows, size0 := range map[string]int{"": one.Rows, " in one batch": written.Rows} {
				file := save(b, encode(b, written, sinkarrow.Options{Layout: name, Compression: codec}, size0))
				b.Run(name+" "+codec+rows, func(b *testing.B) {
					benchmark(b, size, one.Rows, func() (source.Table, error) { return Open(file, source.ReadOptions{}) })
				})
			}
		}
	}
}

func benchmark(b *testing.B, size int64, rows int, open func() (source.Table, error)) {
	raw := &source.Raw{Cap: rows}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		t, err := open()
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			if err = t.Read(context.Background(), raw); err == nil {
				err = t.Decode(raw)
			}
		}
		if err != io.EOF {
			b.Fatal(err)
		}
		if err := t.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
