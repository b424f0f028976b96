package arrow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/idxport/idxport/fault"
	sinkarrow "github.com/idxport/idxport/sink/arrow"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
	"github.com/idxport/idxport/test/sourcetest"
)

var errBroken = errors.New("the disk is broken")

// readFailing opens the file at path, and reads and decodes its first record batch through f.
func readFailing(path string, f *sourcetest.FailingReaderAt) error {
	o := source.ReadOptions{}
	if strings.Contains(path, "binary") { // bytes, of which nothing tells what they are
		o.DType = idx.Uint8
	}
	opened, err := Open(path, o)
	if err != nil {
		return err
	}
	defer opened.Close()
	t := opened.(*Table)
	if t.batch == nil || t.batch.at == nil || t.batch.body != nil {
		return nil // read as a whole, when it was opened
	}
	f.File, t.batch.at = t.batch.at, f
	b := &source.Raw{Cap: int(t.batch.rows)}
	if err := t.Read(context.Background(), b); err != nil {
		return err
	}
	return t.Decode(b)
}

// TestEveryReadMayFail lets each read of a record batch's arrays fail in turn, of files of all kinds of columns: the error is that of the disk, or, if the file
// has become shorter, one about the file.
func TestEveryReadMayFail(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*.arrow")
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, path := range paths {
		if strings.HasPrefix(filepath.Base(path), "refused-") || strings.HasSuffix(path, "untold.arrow") {
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

// TestPipeMayFail lets a pipe break at every byte, which is another error than its end.
func TestPipeMayFail(t *testing.T) {
	t.Parallel()
	written := layouttest.Random(20, source.Column{Name: "x", DType: idx.Int16, Shape: []int{3}}, source.Column{Name: "label", DType: idx.Uint8})
	for _, stream := range []bool{false, true} {
		file := encode(t, written, sinkarrow.Options{Stream: stream}, 8)
		for n := range len(file) + 1 {
			for _, skip := range []int64{0, 17} { // two record batches, whose bodies nobody wants
				table, err := New(io.MultiReader(bytes.NewReader(file[:n]), iotest.ErrReader(errBroken)), "-", source.ReadOptions{})
				if err == nil {
					err = source.Skip(table, skip)
				}
				if err == nil {
					_, err = readAll(table, 5)
				}
				if !errors.Is(err, errBroken) || fault.KindOf(err) != fault.Internal {
					t.Errorf("stream %t, %d of %d bytes, from row %d on: found %v, expected %v", stream, n, len(file), skip, err, errBroken)
				}
			}
		}
	}
}

// TestFilesThatChange reads two files as one table, the second of which is changed after they were counted.
func TestFilesThatChange(t *testing.T) {
	t.Parallel()
	columns := []source.Column{{Name: "x", DType: idx.Int16, Shape: []int{3}}}
	whole := encode(t, layouttest.Random(20, columns...), sinkarrow.Options{}, 8)
	for name, c := range map[string]struct {
		change func(path string) error
		want   error
	}{
		"is removed":  {os.Remove, fs.ErrNotExist},
		"is cut":      {func(path string) error { return os.Truncate(path, int64(len(whole)-1)) }, fault.Truncated},
		"is a folder": {func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o777)) }, nil},
		"has fewer rows": {func(path string) error {
			return os.WriteFile(path, encode(t, layouttest.Random(3, columns...), sinkarrow.Options{}, 8), 0o666)
		}, fault.Malformed},
		"has other columns": {func(path string) error {
			return os.WriteFile(path, encode(t, layouttest.Random(20, source.Column{Name: "y", DType: idx.Uint8}), sinkarrow.Options{}, 8), 0o666)
		}, fault.Malformed},
	} {
		for _, skip := range []int64{0, 21} {
			t.Run(fmt.Sprintf("%s, from row %d on", name, skip), func(t *testing.T) {
				t.Parallel()
				first, second := save(t, whole), save(t, whole)
				table, err := OpenFiles([]string{first, second}, "both", source.ReadOptions{})
				if err != nil {
					t.Fatal(err)
				}
				defer table.Close()
				if err := c.change(second); err != nil {
					t.Fatal(err)
				}
				err = source.Skip(table, skip)
				for b := (&source.Raw{Cap: 8}); err == nil; {
					err = table.Read(t.Context(), b)
				}
				if c.want != nil && !errors.Is(err, c.want) || err == io.EOF {
					t.Errorf("found %v, expected %v", err, c.want)
				}
			})
		}
	}
}

// TestUseAfterTheEnd opens what is not there, cancels, passes over rows that are not there, and reads after Close.
func TestUseAfterTheEnd(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	missing := filepath.Join(folder, "missing.arrow")
	for name, paths := range map[string][]string{"no files": nil, "one file": {missing}, "second file": {"testdata/binary.arrow", missing}} {
		if _, err := OpenFiles(paths, "both", source.ReadOptions{}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: found %v, expected %v", name, err, fs.ErrNotExist)
		}
	}
	if _, err := Open(folder, source.ReadOptions{}); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("found %v, expected that it is a directory", err)
	}
	table, err := Open("testdata/binary.arrow", source.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
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
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := table.Read(t.Context(), b); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("closed: found %v, expected %v", err, fs.ErrClosed)
	}
	if err := source.Skip(table, 1); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("closed: found %v, expected %v", err, fs.ErrClosed)
	}
}
