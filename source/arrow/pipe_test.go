package arrow

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/idxport/idxport/fault"
	sinkarrow "github.com/idxport/idxport/sink/arrow"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
)

// TestLargeBatchesOfPipes reads record batches that are larger than the memory that is taken before their bytes have come, from pipes that give them whole and
// by halves, and cut within.
func TestLargeBatchesOfPipes(t *testing.T) {
	t.Parallel()
	written := layouttest.Random(10, source.Column{Name: "x", DType: idx.Uint8, Shape: []int{1 << 20}})
	for _, batch := range []int{5, 10} { // of 5 and 10 MiB; block is 4
		file := encode(t, written, sinkarrow.Options{Stream: true}, batch)
		for name, pipe := range map[string]io.Reader{"whole": bytes.NewBuffer(file), "halves": iotest.HalfReader(bytes.NewReader(file))} {
			table, err := New(pipe, "-", source.ReadOptions{})
			if err != nil {
				t.Fatal(name, err)
			}
			compare(t, table, written, 3)
		}
		for _, n := range []int{6 << 20, len(file) - (1 << 20)} {
			if _, err := readAllOf(file[:n]); !errors.Is(err, fault.Truncated) {
				t.Errorf("batches of %d rows: %d of %d bytes gave %v, expected %v", batch, n, len(file), err, fault.Truncated)
			}
		}
	}
}

// readAllOf reads a stream from a pipe.
func readAllOf(stream []byte) ([][]byte, error) {
	table, err := New(bytes.NewReader(stream), "-", source.ReadOptions{})
	if err != nil {
		return nil, err
	}
	return readAll(table, 3)
}
