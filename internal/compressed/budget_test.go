package compressed_test

import (
	"io"
	"testing"

	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/internal/sinks"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
)

// TestSinksCountTheirEncoders checks that BatchSize includes the encoder: from zstd's level 10 on,
// its table of long matches alone has 2^22 entries of 8 bytes, on each goroutine. Otherwise the
// pipeline would exceed its memory budget.
func TestSinksCountTheirEncoders(t *testing.T) {
	t.Parallel()
	s := &schema.Schema{Rows: 60_000, Columns: []source.Column{{Name: "image", DType: idx.Uint8, Shape: []int{28, 28}}}}
	for _, c := range []struct{ format, codec string }{
		{"arrow", "zstd"}, {"parquet", "zstd"}, {"parquet", ""}, {"csv", "zstd"}, {"idx", "zstd"},
	} {
		f, _ := sinks.Named(c.format)
		size := func(level int) int64 {
			o := sink.Options{Compression: compressed.Codec{Name: c.codec, Level: level}}
			k := must.Get(f.Open(io.Discard, nil, s, o))(t)
			return k.(sink.Sizer).BatchSize(s.BatchRows())
		}
		fast := size(1)
		for level, least := range map[int]int64{9: fast, 10: fast + 1<<25, 22: fast + 1<<25} {
			if slow := size(level); slow < least || level == 9 && slow > fast {
				t.Errorf("%v: found %d bytes at level %d and %d at level 1, expected %d", c, slow, level, fast, least)
			}
		}
	}
}
