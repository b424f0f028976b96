package idx

import (
	"errors"
	"io"
	"testing"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/compressed"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/sinktest"
)

// TestHeaderOfNoRows fails the only write of a table without rows: its header, which Close writes.
func TestHeaderOfNoRows(t *testing.T) {
	t.Parallel()
	full := errors.New("full")
	for _, name := range []string{"none", "gzip", "zstd"} {
		w := sinktest.WriterFunc(func([]byte) (int, error) { return 0, full })
		k, err := New(w, &schema.Schema{Columns: []source.Column{{DType: idx.Uint8, Shape: []int{2}}}}, Options{Compression: compressed.Codec{Name: name}})
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Close(); !errors.Is(err, full) {
			t.Errorf("%s: found %v, expected %v", name, err, full)
		}
	}
}

// TestUnknownCodec asks for a codec that there is not.
func TestUnknownCodec(t *testing.T) {
	t.Parallel()
	_, err := New(io.Discard, &schema.Schema{Columns: []source.Column{{DType: idx.Uint8}}}, Options{Compression: compressed.Codec{Name: "rar"}})
	if err == nil {
		t.Error("it was accepted")
	}
}
