package parquet_test

import (
	"bytes"
	"testing"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/parquet"
	"github.com/idxport/idxport/test/sinktest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]parquet.Options{
		"none":         {Compression: "none"},
		"zstd":         {},
		"lz4_raw":      {Compression: "lz4_raw"},
		"fixed-binary": {Compression: "snappy", Layout: "fixed-binary"},
		"binary":       {Layout: "binary"},
		"nested":       {Layout: "nested"},
		"tensor":       {Layout: "tensor"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sinktest.Run(t, func(_ *testing.T, s *schema.Schema) (sink.Sink, func() map[string][]byte, error) {
				var out bytes.Buffer
				k, err := parquet.New(&out, s, o)
				return k, func() map[string][]byte { return map[string][]byte{"out.parquet": out.Bytes()} }, err
			}, sinktest.Images(), sinktest.Unlabelled(), sinktest.Numbers(), sinktest.Single(), sinktest.Empty(), sinktest.Named())
		})
	}
	for _, name := range []string{"spark-image", "huggingface"} { // hold nothing but images and scalars
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sinktest.Run(t, func(_ *testing.T, s *schema.Schema) (sink.Sink, func() map[string][]byte, error) {
				var out bytes.Buffer
				k, err := parquet.New(&out, s, parquet.Options{Layout: name})
				return k, func() map[string][]byte { return map[string][]byte{"out.parquet": out.Bytes()} }, err
			}, sinktest.Images(), sinktest.Unlabelled())
		})
	}
}

// TestContractOfColumns leaves out the tables whose records have too many elements.
func TestContractOfColumns(t *testing.T) {
	t.Parallel()
	sinktest.Run(t, func(_ *testing.T, s *schema.Schema) (sink.Sink, func() map[string][]byte, error) {
		var out bytes.Buffer
		k, err := parquet.New(&out, s, parquet.Options{Layout: "columns"})
		return k, func() map[string][]byte { return map[string][]byte{"out.parquet": out.Bytes()} }, err
	}, sinktest.Numbers(), sinktest.Single(), sinktest.Empty())
}
