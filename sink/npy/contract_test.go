package npy_test

import (
	"bytes"
	"testing"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/npy"
	"github.com/idxport/idxport/test/sinktest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	open := func(o npy.Options) sinktest.Open {
		return func(_ *testing.T, s *schema.Schema) (sink.Sink, func() map[string][]byte, error) {
			var out bytes.Buffer
			k, err := npy.New(&out, s, o)
			return k, func() map[string][]byte { return map[string][]byte{"out.npy": out.Bytes()} }, err
		}
	}
	sinktest.Run(t, open(npy.Options{}), sinktest.Images(), sinktest.Single(), sinktest.Empty())
	sinktest.Run(t, open(npy.Options{Column: 5}), sinktest.Numbers())
}
