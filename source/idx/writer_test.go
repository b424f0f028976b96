package idx

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/test/must"
)

func TestWriter(t *testing.T) {
	t.Parallel()
	for _, d := range DTypes() {
		for _, dims := range shapes {
			all := values(t, d, elements(dims))
			var out bytes.Buffer
			w := must.Get(NewWriter(&out, Header{d, dims}))(t)
			for piece := range slices.Chunk(payload(t, binary.BigEndian, all), 5) {
				must.Get(w.Write(piece))(t)
			}
			must.Do(t, w.Close())
			if want := encode(t, binary.BigEndian, d, dims, all); !bytes.Equal(out.Bytes(), want) {
				t.Errorf("%v: found % x, expected % x", Header{d, dims}, out.Bytes(), want)
			}
		}
	}
}

func TestWriterErrors(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := must.Get(NewWriter(&out, Header{Uint8, []int64{2, 2, 3}}))(t)
	must.Get(w.Write(make([]byte, 6)))(t)
	const message = " bytes of records, expected 12 for uint8 2×2×3"
	n, err := w.Write(make([]byte, 7))
	if n != 0 || fmt.Sprint(err) != "found 13"+message || out.Len() != imagesHeader+6 {
		t.Errorf("a byte too many: found %d, %v, %d bytes of the file", n, err, out.Len())
	}
	if err := w.Close(); fmt.Sprint(err) != "found 6"+message {
		t.Errorf("a record too few: found %v", err)
	}
	out.Reset()
	_, err = NewWriter(&out, Header{Uint8, []int64{math.MaxUint32, 1 << 31}})
	if !strings.Contains(fmt.Sprint(err), "4294967295×2147483648 need more than 2^62") || out.Len() > 0 {
		t.Errorf("found %v, %d bytes of a file that is too large", err, out.Len())
	}
	closed, input := io.Pipe()
	must.Do(t, closed.Close())
	if _, err := NewWriter(input, Header{Uint8, []int64{1}}); err != io.ErrClosedPipe {
		t.Errorf("found %v, expected the error of the underlying writer", err)
	}
}
