package npy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sinktest"
)

// numpy is a header as NumPy 2.4 writes it (numpy.lib.format.write_array_header_1_0): its length,
// and its text without the padding.
type numpy struct {
	size int
	text string
}

// TestHeaders compares with what NumPy writes for the same arrays.
func TestHeaders(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		d     idx.DType
		rows  int64
		shape []int
		want  numpy
	}{
		"images": {idx.Uint8, 60000, []int{28, 28}, numpy{128, "{'descr': '|u1', 'fortran_order': False, 'shape': (60000, 28, 28), }"}},
		"labels": {idx.Int8, 10000, nil, numpy{128, "{'descr': '|i1', 'fortran_order': False, 'shape': (10000,), }"}},
		"empty":  {idx.Int16, 0, []int{28}, numpy{128, "{'descr': '<i2', 'fortran_order': False, 'shape': (0, 28), }"}},
		"int":    {idx.Int32, 2, []int{3, 0}, numpy{128, "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3, 0), }"}},
		"a space to spare": {idx.Float32, 2, []int{123456, 123456, 123456, 123456, 100000},
			numpy{128, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 123456, 123456, 123456, 123456, 100000), }"}},
		"no space to spare": {idx.Float32, 2, []int{123456, 123456, 123456, 123456, 1000000},
			numpy{192, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 123456, 123456, 123456, 123456, 1000000), }"}},
		"most rows": {idx.Float64, math.MaxInt64, nil, numpy{128, "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807,), }"}},
		"most dimensions": {idx.Float64, 1, slices.Repeat([]int{1}, 31),
			numpy{192, "{'descr': '<f8', 'fortran_order': False, 'shape': (1" + strings.Repeat(", 1", 31) + "), }"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := must.Get(newHeader(source.Column{DType: test.d, Shape: test.shape}, test.rows))(t)
			length := test.want.size - 10
			want := "\x93NUMPY\x01\x00" + string([]byte{byte(length), byte(length >> 8)}) + test.want.text
			want += strings.Repeat(" ", test.want.size-len(want)-1) + "\n"
			if string(got) != want {
				t.Errorf("found\n%q\nexpected\n%q", got, want)
			}
		})
	}
}

// encode returns a step of k for one batch.
func encode(t *testing.T, k sink.Sink, rows int, columns ...[]byte) func() error {
	t.Helper()
	return must.Get(k.Encode(context.Background(), schema.Batch{Rows: rows, Columns: columns}))(t)
}

// TestBatchesAreWrittenAsTheyAre checks that the sink writes the selected column of several,
// without a copy.
func TestBatchesAreWrittenAsTheyAre(t *testing.T) {
	t.Parallel()
	var written [][]byte
	w := sinktest.WriterFunc(func(p []byte) (int, error) {
		written = append(written, p)
		return len(p), nil
	})
	s := &schema.Schema{Rows: 3, Columns: []source.Column{{Name: "image", DType: idx.Uint8, Shape: []int{2}}, {Name: "label", DType: idx.Int16}}}
	k := must.Get(New(w, s, Options{Column: 1}))(t)
	first, second := []byte{1, 2, 3, 4}, []byte{5, 6}
	steps := []func() error{encode(t, k, 2, make([]byte, 4), first), encode(t, k, 1, make([]byte, 2), second)}
	if written != nil {
		t.Fatal("something was written before the first step")
	}
	must.Do(t, errors.Join(steps[0](), steps[1](), k.Close()))
	if len(written) != 3 || len(written[0]) != 128 {
		t.Fatalf("found %d writes, expected the header of 128 bytes and two batches", len(written))
	}
	for i, want := range [][]byte{first, second} {
		if got := written[i+1]; !bytes.Equal(got, want) || &got[0] != &want[0] {
			t.Errorf("batch %d: found % x, expected % x itself", i, got, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rows  int64
		shape []int
		want  error
	}{
		"rows unknown":        {-1, nil, fault.Usage},
		"too many dimensions": {1, slices.Repeat([]int{1}, 32), fault.Usage},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &schema.Schema{Rows: test.rows, Columns: []source.Column{{Name: "data", DType: idx.Uint8, Shape: test.shape}}}
			var refused *fault.Error
			if _, err := New(io.Discard, s, Options{}); !errors.As(err, &refused) || !errors.Is(err, test.want) || refused.Hint == "" {
				t.Errorf("found %v, expected a *fault.Error that is %q, with a hint", err, test.want)
			}
		})
	}
	if _, err := New(io.Discard, &schema.Schema{Rows: 1, Columns: make([]source.Column, 2)}, Options{Column: 2}); err == nil {
		t.Error("an index without a column was accepted")
	}
}

func TestContract(t *testing.T) {
	t.Parallel()
	for column, table := range []sinktest.Table{sinktest.Single(), sinktest.Images(), sinktest.Empty(), sinktest.Numbers()} {
		open := func(w io.Writer, s *schema.Schema) (sink.Sink, error) {
			return New(w, s, Options{Column: min(column, len(s.Columns)-1)})
		}
		sinktest.RunWriter(t, open, table)
	}
	sinktest.Counted(t, func(w io.Writer, s *schema.Schema) (sink.Sink, error) { return New(w, s, Options{}) })
}
