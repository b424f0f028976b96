package csv_test

import (
	"bytes"
	"testing"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/compressed"
	"github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/test/sinktest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	open := func(o csv.Options) sinktest.Open {
		return func(_ *testing.T, s *schema.Schema) (sink.Sink, func() map[string][]byte, error) {
			var out bytes.Buffer
			k, err := csv.New(&out, s, o)
			return k, func() map[string][]byte { return map[string][]byte{"out.csv": out.Bytes()} }, err
		}
	}
	t.Run("plain", func(t *testing.T) {
		t.Parallel()
		sinktest.Run(t, open(csv.Options{}), sinktest.Images(), sinktest.Numbers(), sinktest.Empty(), sinktest.Named())
	})
	t.Run("gzip", func(t *testing.T) {
		t.Parallel()
		sinktest.Run(t, open(csv.Options{Compression: compressed.Codec{Name: "gzip"}}), sinktest.Single())
	})
	t.Run("one line", func(t *testing.T) {
		t.Parallel()
		sinktest.Run(t, open(csv.Options{Style: "matrix"}), sinktest.Single())
	})
}
