package idx_test

import (
	"bytes"
	"testing"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/compressed"
	"github.com/idxport/idxport/sink/idx"
	"github.com/idxport/idxport/test/sinktest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	open := func(o idx.Options) sinktest.Open {
		return func(_ *testing.T, s *schema.Schema) (sink.Sink, func() map[string][]byte, error) {
			var out bytes.Buffer
			k, err := idx.New(&out, s, o)
			return k, func() map[string][]byte { return map[string][]byte{"out.idx": out.Bytes()} }, err
		}
	}
	t.Run("plain", func(t *testing.T) {
		t.Parallel()
		sinktest.Run(t, open(idx.Options{}), sinktest.Images(), sinktest.Single(), sinktest.Empty())
	})
	t.Run("gzip", func(t *testing.T) {
		t.Parallel()
		sinktest.Run(t, open(idx.Options{Compression: compressed.Codec{Name: "gzip"}}), sinktest.Single())
	})
	t.Run("zstd", func(t *testing.T) {
		t.Parallel()
		sinktest.Run(t, open(idx.Options{Compression: compressed.Codec{Name: "zstd"}}), sinktest.Images(), sinktest.Empty())
	})
	t.Run("a column of many", func(t *testing.T) {
		t.Parallel()
		sinktest.Run(t, open(idx.Options{Column: 5}), sinktest.Numbers())
	})
}
