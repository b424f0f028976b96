package sinktest

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A WriterFunc is an io.Writer.
type WriterFunc func(p []byte) (int, error)

// Write calls f.
func (f WriterFunc) Write(p []byte) (int, error) { return f(p) }

// Counted tests the sinks that open makes of one column, whose header counts the rows: Close fails if they are not as many, and a write that fails is
// not forgotten.
func Counted(t *testing.T, open func(w io.Writer, s *schema.Schema) (sink.Sink, error)) {
	t.Helper()
	t.Run("rows as counted", func(t *testing.T) {
		t.Parallel()
		for _, rows := range []int{0, 2, 4} {
			k, err := open(io.Discard, &schema.Schema{Rows: 3, Columns: []source.Column{{DType: idx.Uint8}}})
			if err != nil {
				t.Fatal(err)
			}
			for range rows {
				if err := oneRow(t, k, 1); err != nil {
					t.Fatal(err)
				}
			}
			if err := k.Close(); err == nil || !strings.Contains(err.Error(), fmt.Sprint("wrote ", rows, " rows")) {
				t.Errorf("%d rows for a header that says 3: found the error %v", rows, err)
			}
		}
	})
	for _, shape := range [][]int{nil, {2}} {
		t.Run(fmt.Sprint("write errors, records of ", shape), func(t *testing.T) {
			t.Parallel()
			writeErrors(t, open, source.Column{DType: idx.Int32, Shape: shape})
		})
	}
}

// writeErrors fails the header, the first batch and the second.
func writeErrors(t *testing.T, open func(w io.Writer, s *schema.Schema) (sink.Sink, error), c source.Column) {
	full := errors.New("full")
	for fail := range 3 {
		writes := 0
		w := WriterFunc(func(p []byte) (int, error) {
			if writes++; writes > fail {
				return 0, full
			}
			return len(p), nil
		})
		k, err := open(w, &schema.Schema{Rows: 2, Columns: []source.Column{c}})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err = oneRow(t, k, c.RecordSize()); err != nil {
				break
			}
		}
		if !errors.Is(err, full) {
			t.Errorf("write %d failed: found the error %v, expected %v", fail, err, full)
		}
	}
}

// oneRow writes a batch of one record of size bytes; the error is the step's.
func oneRow(t *testing.T, k sink.Sink, size int) error {
	t.Helper()
	step, err := k.Encode(t.Context(), schema.Batch{Rows: 1, Columns: [][]byte{make([]byte, size)}})
	if err != nil {
		t.Fatal(err)
	}
	return step()
}
