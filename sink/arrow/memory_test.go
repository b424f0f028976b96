package arrow

import (
	"io"
	"testing"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// TestSlowLevelsCountTheirTables: from zstd's level 10 on, the encoder's table of long matches alone has 2^22 entries of 8 bytes, for each goroutine.
// If they did not count, memory would grow by that with every core.
func TestSlowLevelsCountTheirTables(t *testing.T) {
	t.Parallel()
	s := &schema.Schema{Rows: -1, Source: -1, Columns: []source.Column{{Name: "image", DType: idx.Uint8, Shape: []int{28, 28}}}}
	size := func(level int) int64 {
		k, err := New(io.Discard, s, Options{Compression: "zstd", Level: level})
		if err != nil {
			t.Fatal(err)
		}
		return k.BatchSize(s.BatchRows())
	}
	if fast, slow := size(1), size(10); slow < fast+1<<25 {
		t.Errorf("found %d bytes at level 10 and %d at level 1, expected at least 2^25 more", slow, fast)
	}
}
