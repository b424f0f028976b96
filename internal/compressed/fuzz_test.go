package compressed

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"
)

// FuzzReader looks for panics, hangs, unexpected errors, and, for gzip and xz, data that differs
// from that of another reader.
func FuzzReader(f *testing.F) {
	for _, file := range goodFiles {
		f.Add(testFile(f, file.name))
	}
	for _, h := range hostile {
		f.Add([]byte(h.raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		const enough = 4 << 20
		r := NewReader(bytes.NewReader(raw))
		defer r.Close()
		data, err := io.ReadAll(io.LimitReader(r, enough))
		if err != nil && !tellsDamage(err, r.Format(), len(raw)) {
			t.Fatalf("found %v", err)
		}
		if err != nil || len(data) == enough {
			return
		}
		var reference io.Reader
		switch r.Format() {
		case "gzip":
			reference, err = gzip.NewReader(bytes.NewReader(raw))
		case "xz":
			reference, err = xz.ReaderConfig{DictCap: 4096}.NewReader(bytes.NewReader(raw))
		default:
			return
		}
		if err != nil {
			t.Fatalf("read without an error what the reference refuses: %v", err)
		}
		want := make([]byte, len(data))
		n, err := io.ReadFull(reference, want)
		// The reference has LZMA2 only, and compares the first byte of LZMA data, an unused one.
		if err != nil && (strings.Contains(err.Error(), "filter") || strings.Contains(err.Error(), "first byte")) {
			return
		}
		if !bytes.Equal(data, want[:n]) {
			t.Fatalf("the data differs from that of the reference: %v", err)
		}
	})
}
