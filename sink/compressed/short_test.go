package compressed

import (
	"errors"
	"io"
	"testing"
)

// short takes all but the last byte of what it is given, and says so without an error.
type short struct{}

func (short) Write(p []byte) (int, error) { return max(0, len(p)-1), nil }

// TestShortWrites demands that a writer which breaks the rule of io.Writer is not believed.
func TestShortWrites(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"none", "gzip", "zstd"} {
		w, err := New(short{}, Codec{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		b, err := w.Encode(nil, []byte("data"))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Append(b); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s, Append: found %v, expected %v", name, err, io.ErrShortWrite)
		}
		if err := w.Close(); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s, Close: found %v, expected %v", name, err, io.ErrShortWrite)
		}
	}
}
