package arrow

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/idxport/idxport/fault"
	sinkarrow "github.com/idxport/idxport/sink/arrow"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

var errBroken = errors.New("the disk is broken")

// readFailing opens the file at path, and reads and decodes its first record batch through f.
func readFailing(path string, f *sourcetest.FailingReaderAt) error {
	o := source.ReadOptions{}
	if strings.Contains(path, "binary") { // bytes of an unknown type
		o.DType = idx.Uint8
	}
	opened, err := Open(path, o)
	if err != nil {
		return err
	}
	defer opened.Close()
	t := opened.(*Table)
	if t.batch == nil || t.batch.file == nil || t.batch.body != nil {
		return nil // it was read as a whole when it was opened
	}
	f.File, t.batch.file = t.batch.file, f
	b := &source.Raw{Cap: int(t.batch.rows)}
	if err := t.Read(context.Background(), b); err != nil {
		return err
	}
	return t.Decode(b)
}

// TestEveryReadMayFail lets every read of a record batch fail in turn, for all kinds of columns.
// The error is that of the disk, or one about the file if the file became shorter.
func TestEveryReadMayFail(t *testing.T) {
	t.Parallel()
	paths := must.Get(filepath.Glob("testdata/*.arrow"))(t)
	read := 0
	for _, path := range paths {
		if strings.HasPrefix(filepath.Base(path), "refused-") || strings.HasSuffix(path, "without-type.arrow") {
			continue
		}
		all := &sourcetest.FailingReaderAt{Left: -1}
		if err := readFailing(path, all); err != nil {
			t.Errorf("%s: found %v", path, err)
		}
		if all.Calls > 0 {
			read++
		}
		for left := range all.Calls {
			if err := readFailing(path, &sourcetest.FailingReaderAt{Left: left, Err: errBroken}); !errors.Is(err, errBroken) || fault.KindOf(err) != fault.Internal {
				t.Errorf("%s, read %d of %d: found %v, expected %v", path, left+1, all.Calls, err, errBroken)
			}
			if err := readFailing(path, &sourcetest.FailingReaderAt{Left: left, Err: io.EOF}); !errors.Is(err, fault.Truncated) {
				t.Errorf("%s ends at read %d of %d: found %v, expected %v", path, left+1, all.Calls, err, fault.Truncated)
			}
		}
	}
	if read < 20 {
		t.Errorf("%d files were read array by array, expected most of %d", read, len(paths))
	}
}

// TestPipeMayFail lets a pipe fail at every byte. The error differs from that for its end.
func TestPipeMayFail(t *testing.T) {
	t.Parallel()
	written := layouttest.Random(20, source.Column{Name: "x", DType: idx.Int16, Shape: []int{3}}, source.Column{Name: "label", DType: idx.Uint8})
	for _, stream := range []bool{false, true} {
		file := encode(t, written, sinkarrow.Options{Stream: stream}, 8)
		for n := range len(file) + 1 {
			for _, skip := range []int64{0, 17} { // two record batches, whose bodies are not needed
				table, err := New(io.MultiReader(bytes.NewReader(file[:n]), iotest.ErrReader(errBroken)), "-", source.ReadOptions{})
				if err == nil {
					err = source.Skip(table, skip)
				}
				if err == nil {
					_, err = sourcetest.ReadAll(table, 5)
				}
				if !errors.Is(err, errBroken) || fault.KindOf(err) != fault.Internal {
					t.Errorf("stream %t, %d of %d bytes, from row %d on: found %v, expected %v", stream, n, len(file), skip, err, errBroken)
				}
			}
		}
	}
}

// TestUseAfterTheEnd opens missing files, cancels, skips too many rows, and reads after Close.
func TestUseAfterTheEnd(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	missing := filepath.Join(folder, "missing.arrow")
	for name, paths := range map[string][]string{"no files": nil, "one file": {missing}, "second file": {"testdata/binary.arrow", missing}} {
		if _, err := OpenFiles(paths, "both", source.ReadOptions{}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: found %v, expected %v", name, err, fs.ErrNotExist)
		}
	}
	if _, err := Open(folder, source.ReadOptions{}); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("found %v, expected that it is a folder", err)
	}
	table := must.Get(Open("testdata/binary.arrow", source.ReadOptions{}))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := &source.Raw{Cap: 2}
	if err := table.Read(ctx, b); !errors.Is(err, context.Canceled) || b.Rows != 0 {
		t.Errorf("cancelled: found %d rows and %v", b.Rows, err)
	}
	if err := source.Skip(table, table.Rows()+1); !errors.Is(err, fault.Usage) {
		t.Errorf("found %v, expected %v", err, fault.Usage)
	}
	for range 2 {
		must.Do(t, table.Close())
	}
	if err := table.Read(t.Context(), b); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("closed: found %v, expected %v", err, fs.ErrClosed)
	}
	if err := source.Skip(table, 1); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("closed: found %v, expected %v", err, fs.ErrClosed)
	}
}

// TestLargeBatchesFromPipes reads record batches from pipes that are larger than the memory
// allocated before their bytes arrive: in whole reads, in half reads, and truncated.
func TestLargeBatchesFromPipes(t *testing.T) {
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
	return sourcetest.ReadAll(table, 3)
}
