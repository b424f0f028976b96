package compressed

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"testing"
)

// FuzzReader looks for panics, hangs, errors of other kinds than promised, and, for gzip, data that the standard
// library's reader does not find.
func FuzzReader(f *testing.F) {
	for _, file := range goodFiles {
		f.Add(testFile(f, file.name))
	}
	for _, h := range hostile {
		f.Add([]byte(h.raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		const enough = 4 << 20
		r, err := NewReader(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		data, err := io.ReadAll(io.LimitReader(r, enough))
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Offset > int64(len(raw))) {
			t.Fatalf("found %v", err)
		}
		if r.Format() != Gzip || err != nil || len(data) == enough {
			return
		}
		reference, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			t.Fatalf("read without an error what compress/gzip refuses: %v", err)
		}
		want := make([]byte, len(data))
		if n, _ := io.ReadFull(reference, want); !bytes.Equal(data, want[:n]) {
			t.Fatal("the data differs from that of compress/gzip")
		}
	})
}

// FuzzSeekReader looks for panics, hangs, errors of other kinds than promised, and for data that differs from what is read without the table: of the whole
// file, and from a byte in its middle on.
func FuzzSeekReader(f *testing.F) {
	for _, file := range seekableFiles {
		f.Add(testFile(f, file.name), uint16(100))
	}
	f.Add([]byte(stored("abc")+stored("a")+seekTable(2, 0, 12, 3, 10, 1)), uint16(3))
	f.Fuzz(func(t *testing.T, raw []byte, first uint16) {
		const enough = 4 << 20
		table, err := FindSeekTable(bytes.NewReader(raw), int64(len(raw)))
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Offset > int64(len(raw))) {
			t.Fatalf("found %v", err)
		}
		if table == nil {
			return
		}
		r := NewSeekReader(bytes.NewReader(raw), table)
		defer r.Close()
		data, err := io.ReadAll(io.LimitReader(r, enough))
		if err != nil && (!errors.As(err, &e) || e.Offset > int64(len(raw))) {
			t.Fatalf("found %v", err)
		}
		if err != nil || len(data) == enough {
			return
		}
		want, _, err := decompress(raw)
		if err != nil || !bytes.Equal(data, want) || table.Size() != int64(len(data)) {
			t.Fatalf("found %d bytes, a table for %d and, without it, %d and %v", len(data), table.Size(), len(want), err)
		}
		at := int64(first) % (table.Size() + 1)
		if _, err := r.Seek(at, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if data, err := io.ReadAll(r); err != nil || !bytes.Equal(data, want[at:]) {
			t.Fatalf("from byte %d on: found %d bytes and %v", at, len(data), err)
		}
	})
}
