package tar

import (
	"archive/tar"
	"bytes"
	"math"
	"testing"
	"time"
)

// reference returns a header written by archive/tar.
func reference(name string, size int64) []byte {
	var out bytes.Buffer
	err := tar.NewWriter(&out).WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644, ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR,
	})
	if err != nil {
		panic(err) // the header is invalid
	}
	return out.Bytes()
}

// TestHeaders compares with the headers of archive/tar.
func TestHeaders(t *testing.T) {
	t.Parallel()
	for _, ending := range []string{".png", ".cls", ".json"} {
		for _, key := range []string{"000000", "059999", "9999999999", "9223372036854775807"} {
			h := newHeader(len(key), ending)
			for _, size := range []int{0, 1, 7, 8, 511, 512, 16 << 20, min(1<<33-1, math.MaxInt)} {
				got := bytes.Repeat([]byte{0xA5}, block)
				h.fill(got, []byte(key), size)
				if want := reference(key+ending, int64(size)); !bytes.Equal(got, want) {
					t.Errorf("%s%s of %d bytes: found\n%q\nexpected\n%q", key, ending, size, got, want)
				}
			}
		}
	}
}
