package npy

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
	"github.com/idxport/idxport/source"
)

// array is a .npy file of version 1.0 after NumPy's format: the magic number, the version, the length of the header, the header, the elements.
func array(descr, shape string, elements int) []byte {
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", descr, shape)
	file := append([]byte("\x93NUMPY\x01\x00"), byte(len(text)), byte(len(text)>>8))
	return append(append(file, text...), make([]byte, elements)...)
}

var errBroken = errors.New("the pipe is broken")

// TestEveryReadMayFail lets a pipe break at every byte, which is another error than its end.
func TestEveryReadMayFail(t *testing.T) {
	t.Parallel()
	file := array("<i2", "(3, 2)", 12)
	for n := range len(file) + 1 {
		for skip := range int64(4) {
			table, err := newTable(io.MultiReader(bytes.NewReader(file[:n]), iotest.ErrReader(errBroken)), "-", source.ReadOptions{})
			if err == nil {
				err = source.Skip(table, skip)
			}
			b := &source.Raw{Cap: 2}
			for err == nil {
				err = table.Read(t.Context(), b)
			}
			if !errors.Is(err, errBroken) || fault.KindOf(err) != fault.Internal {
				t.Errorf("%d bytes, from row %d on: found %v, expected %v", n, skip, err, errBroken)
			}
		}
	}
}

// TestClaims refuses headers that claim more than there can be, before memory is taken for it.
func TestClaims(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file []byte
		kind fault.Kind
		want string
	}{
		"version 4":             {[]byte("\x93NUMPY\x04\x00\x00\x00"), fault.Unsupported, "version 4.0"},
		"header of 4 GiB":       {[]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff"), fault.Malformed, "4294967295 bytes"},
		"version 2 cut":         {[]byte("\x93NUMPY\x02\x00\xff\xff\xff"), fault.Truncated, "inside of the header"},
		"no type":               {array("", "(3,)", 3), fault.Unsupported, `the type ""`},
		"order of 2 bytes":      {array("|i2", "(3,)", 6), fault.Unsupported, "byte order"},
		"256 dimensions":        {array("|u1", "("+strings.Repeat("1,", 256)+")", 1), fault.Unsupported, "256 dimensions, expected at most 255"},
		"rows of 2⁶⁷ bytes":     {array("<f8", "(1, 4294967295, 4294967295)", 0), fault.Malformed, "more than 2^62 bytes"},
		"2³² rows of 2³⁴ bytes": {array("<f8", "(4294967295, 2147483648)", 0), fault.Malformed, "more than 2^62 bytes"},
		"rows of 16 MiB + 1":    {array("|u1", "(1, 16777217)", 0), fault.Unsupported, "a record has 16777217 bytes, expected at most 16777216"},
		"2²⁰ + 1 empty rows":    {array("|u1", "(1048577, 0)", 0), fault.Malformed, "1048577 records without elements"},
		"short and no .npy":     {[]byte("\x1f\x8b"), fault.Unsupported, "1f 8b"},
		"text without an end":   {array("u1\\", "(3,)", 3), fault.Malformed, "at byte"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := newTable(bytes.NewReader(c.file), "-", source.ReadOptions{}); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found %v, expected %v: %s", err, c.kind, c.want)
			}
		})
	}
}

// TestOpenFails opens what is not there, and a folder.
func TestOpenFails(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if _, err := Open(filepath.Join(folder, "missing.npy"), source.ReadOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("found %v, expected %v", err, fs.ErrNotExist)
	}
	if _, err := Open(folder, source.ReadOptions{}); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("found %v, expected that it is a directory", err)
	}
}

// TestUseAfterTheEnd cancels, passes over rows that are not there, and reads after Close.
func TestUseAfterTheEnd(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.npy")
	if err := os.WriteFile(path, array("|u1", "(5, 2)", 10), 0o666); err != nil {
		t.Fatal(err)
	}
	table, err := Open(path, source.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := &source.Raw{Cap: 2}
	if err := table.Read(ctx, b); !errors.Is(err, context.Canceled) || b.Rows != 0 {
		t.Errorf("cancelled: found %d rows and %v", b.Rows, err)
	}
	for _, n := range []int64{-1, 6} {
		if err := source.Skip(table, n); !errors.Is(err, fault.Usage) {
			t.Errorf("%d of 5 rows: found %v, expected %v", n, err, fault.Usage)
		}
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if err := table.Read(t.Context(), b); !errors.Is(err, fault.Truncated) {
		t.Errorf("the file was emptied: found %v, expected %v", err, fault.Truncated)
	}
	for range 2 {
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := table.Read(t.Context(), b); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("closed: found %v, expected %v", err, fs.ErrClosed)
	}
}
