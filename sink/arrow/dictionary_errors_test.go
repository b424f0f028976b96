package arrow

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/test/layouttest"
	"github.com/idxport/idxport/test/sinktest"
)

var errFull = errors.New("full")

// failing takes so many writes, fails one, and takes all others: an error that is passed over shows, as all goes well after it.
func failing(writes int) io.Writer {
	return sinktest.WriterFunc(func(p []byte) (int, error) {
		if writes--; writes == -1 {
			return 0, errFull
		}
		return len(p), nil
	})
}

// writeTwice writes t to two files, one after another.
func writeTwice(t layouttest.Table, o Options, first, second io.Writer) error {
	k, err := New(first, t.Schema(), o)
	if err != nil {
		return err
	}
	for _, next := range []io.Writer{second, nil} {
		step, err := k.Encode(context.Background(), schema.Batch{Rows: t.Rows, Columns: t.Data})
		if err == nil {
			err = step()
		}
		if err != nil {
			return err
		}
		if next == nil {
			return k.Close()
		}
		if err := k.Next(next); err != nil {
			return err
		}
	}
	return nil
}

// TestEveryWriteMayFail writes a table whose labels have a dictionary, to one file and then to another, and lets each write fail in turn.
func TestEveryWriteMayFail(t *testing.T) {
	t.Parallel()
	written := named(10)
	for _, o := range []Options{{}, {Stream: true}, {Compression: "zstd"}, {Compression: "lz4", Stream: true}} {
		var file bytes.Buffer
		writes := 0
		count := sinktest.WriterFunc(func(p []byte) (int, error) {
			writes++
			return file.Write(p)
		})
		if err := writeTwice(written, o, count, io.Discard); err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		if !bytes.Contains(file.Bytes(), []byte("class")) || writes < 5 {
			t.Fatalf("%+v: found %d writes and no dictionary", o, writes)
		}
		for n := range writes {
			if err := writeTwice(written, o, failing(n), io.Discard); !errors.Is(err, errFull) {
				t.Errorf("%+v, write %d of %d: found %v, expected %v", o, n+1, writes, err, errFull)
			}
			if err := writeTwice(written, o, io.Discard, failing(n)); !errors.Is(err, errFull) {
				t.Errorf("%+v, second file, write %d of %d: found %v, expected %v", o, n+1, writes, err, errFull)
			}
		}
	}
}

// TestCancelled demands that nothing is encoded once the context is cancelled.
func TestCancelled(t *testing.T) {
	t.Parallel()
	written := named(3)
	k, err := New(io.Discard, written.Schema(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if step, err := k.Encode(ctx, schema.Batch{Rows: written.Rows, Columns: written.Data}); !errors.Is(err, context.Canceled) || step != nil {
		t.Errorf("found %v, expected %v", err, context.Canceled)
	}
}
