package idx

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/idxport/idxport/test/must"
)

func TestWriterCounts(t *testing.T) {
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
	closed, input := io.Pipe()
	must.Do(t, closed.Close())
	if _, err := NewWriter(input, Header{Uint8, []int64{1}}); err != io.ErrClosedPipe {
		t.Errorf("found %v, expected the error of the underlying writer", err)
	}
}
