package compressed_test

import (
	"io"
	"testing"

	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/arrow"
	"github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/sink/idx"
	"github.com/idxport/idxport/sink/parquet"
	"github.com/idxport/idxport/source"
	elements "github.com/idxport/idxport/source/idx"
)

// TestSinksCountTheirEncoders checks that BatchSize includes the encoder: from zstd's level 10 on,
// its table of long matches alone has 2^22 entries of 8 bytes, on each goroutine. Otherwise the
// pipeline would exceed its memory budget.
func TestSinksCountTheirEncoders(t *testing.T) {
	t.Parallel()
	sinks := map[string]func(s *schema.Schema, c compressed.Codec) (sink.Sink, error){
		"arrow": func(s *schema.Schema, c compressed.Codec) (sink.Sink, error) {
			return arrow.New(io.Discard, s, sink.Options{Compression: c})
		},
		"parquet": func(s *schema.Schema, c compressed.Codec) (sink.Sink, error) {
			return parquet.New(io.Discard, s, sink.Options{Compression: c})
		},
		"parquet by default": func(s *schema.Schema, c compressed.Codec) (sink.Sink, error) {
			return parquet.New(io.Discard, s, sink.Options{Compression: compressed.Codec{Level: c.Level}})
		},
		"csv": func(s *schema.Schema, c compressed.Codec) (sink.Sink, error) {
			return csv.New(io.Discard, s, sink.Options{Compression: c})
		},
		"idx": func(s *schema.Schema, c compressed.Codec) (sink.Sink, error) {
			return idx.New(io.Discard, s, sink.Options{Compression: c})
		},
	}
	s := &schema.Schema{Rows: 60_000, Columns: []source.Column{{Name: "image", DType: elements.Uint8,
		Shape: []int{28, 28}}}}
	for name, open := range sinks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			size := func(level int) int64 {
				k, err := open(s, compressed.Codec{Name: "zstd", Level: level})
				if err != nil {
					t.Fatal(err)
				}
				return k.(sink.Sizer).BatchSize(s.BatchRows())
			}
			fast := size(1)
			for _, level := range []int{10, 22} {
				if slow := size(level); slow < fast+1<<25 {
					t.Errorf("found %d bytes at level %d and %d at level 1, expected at least 2^25 more", slow,
						level, fast)
				}
			}
			if size(9) != fast {
				t.Errorf("found %d bytes at level 9 and %d at level 1, expected the same", size(9), fast)
			}
		})
	}
}
