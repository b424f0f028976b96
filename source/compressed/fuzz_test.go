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
