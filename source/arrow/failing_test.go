package arrow

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

var errBroken = errors.New("the disk is broken")

// A failingFile reads through a FailingReaderAt.
type failingFile struct {
	source.File
	through *sourcetest.FailingReaderAt
}

func (f failingFile) ReadAt(p []byte, at int64) (int, error) { return f.through.ReadAt(p, at) }

// readFailing reads the file at path, of whose reads one fails.
func readFailing(t *testing.T, path string, f *sourcetest.FailingReaderAt) error {
	t.Helper()
	file := must.Get(os.Open(path))(t)
	defer file.Close()
	info := must.Get(file.Stat())(t)
	f.File = file
	table, err := open(&messages{file: failingFile{file, f}, end: info.Size()}, path, needed(path))
	if err == nil {
		_, err = sourcetest.ReadAll(table, 5)
	}
	return err
}

// TestEveryReadMayFail lets every read of a file fail in turn, for all kinds of columns. The error
// is that of the disk, or one about the file if the file became shorter.
func TestEveryReadMayFail(t *testing.T) {
	t.Parallel()
	for _, path := range must.Get(filepath.Glob("testdata/*.arrow"))(t) {
		if strings.HasPrefix(filepath.Base(path), "refused-") {
			continue
		}
		all := &sourcetest.FailingReaderAt{Left: -1}
		if err := readFailing(t, path, all); err != nil || all.Calls.Load() < 3 {
			t.Errorf("%s: found %v after %d reads", path, err, all.Calls.Load())
		}
		for left := range all.Calls.Load() {
			for broken, kind := range map[error]error{errBroken: fault.Internal, io.EOF: fault.Truncated} {
				err := readFailing(t, path, &sourcetest.FailingReaderAt{Left: left, Err: broken})
				if fault.KindOf(err) != kind || kind == fault.Internal && !errors.Is(err, errBroken) {
					t.Errorf("%s, read %d of %d: found %v, expected %v", path, left+1, all.Calls.Load(), err, broken)
				}
			}
		}
	}
}

// TestPipeMayFail lets a pipe fail at every byte. The error differs from that for its end. The
// bodies of skipped record batches are not needed.
func TestPipeMayFail(t *testing.T) {
	t.Parallel()
	written := layouttest.Random(20, source.Column{Name: "x", DType: idx.Int16, Shape: []int{3}},
		source.Column{Name: "label", DType: idx.Uint8})
	file := encode(t, written, sink.Options{Stream: true}, 8)
	for n := range len(file) + 1 {
		for _, skip := range []int64{0, 17} {
			r := io.MultiReader(bytes.NewReader(file[:n]), iotest.ErrReader(errBroken))
			table, err := New(r, "-", source.ReadOptions{})
			if err == nil {
				err = source.Skip(table, skip)
			}
			if err == nil {
				_, err = sourcetest.ReadAll(table, 5)
			}
			if !errors.Is(err, errBroken) || fault.KindOf(err) != fault.Internal {
				t.Errorf("%d of %d bytes, from row %d on: found %v, expected %v", n, len(file), skip, err, errBroken)
			}
		}
	}
}
