package inflate

import (
	"bufio"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/iotest"

	"github.com/idxport/idxport/internal/fault"
)

// A result is everything that can be observed when a stream is decoded.
type result struct {
	data []byte
	rest int   // bytes left in the input
	err  error // nil at the end of the stream
}

// decodeAll decodes in with Reads of the given size, from a bufio.Reader over r with a buffer of
// the given size.
func decodeAll(t *testing.T, r io.Reader, buffer, read int) result {
	t.Helper()
	in := bufio.NewReaderSize(r, buffer)
	z := new(Reader)
	z.Reset(in)
	var data []byte
	for p := make([]byte, read); ; {
		n, err := z.Read(p)
		data = append(data, p[:n]...)
		if err == nil {
			continue
		}
		if n, again := z.Read(p); n != 0 || again != err {
			t.Errorf("after %v: found %d bytes and %v, expected that errors stay", err, n, again)
		}
		left, _ := io.Copy(io.Discard, in)
		if err == io.EOF {
			err = nil
		}
		return result{data, int(left), err}
	}
}

// compare decodes raw in several ways, which must agree: compress/flate, and long and short reads.
func compare(t *testing.T, raw []byte) result {
	t.Helper()
	got := decodeAll(t, bytes.NewReader(raw), max(16, len(raw)), 8<<10)
	compareFlate(t, raw, got)

	slow := decodeAll(t, iotest.OneByteReader(bytes.NewReader(raw)), 16, 7)
	if !bytes.Equal(slow.data, got.data) || slow.rest != got.rest || fmt.Sprint(slow.err) != fmt.Sprint(got.err) {
		t.Errorf("a byte at a time: found %d bytes, %d left, %v, expected as at once: %d, %d, %v",
			len(slow.data), slow.rest, slow.err, len(got.data), got.rest, got.err)
	}
	return got
}

// compareFlate requires the same data and the same used input, and an error if compress/flate has
// one. In that case flate may have found less data, as it reads more bits than a symbol has before
// it examines them.
func compareFlate(t *testing.T, raw []byte, got result) {
	t.Helper()
	in := bufio.NewReader(bytes.NewReader(raw))
	data, err := io.ReadAll(flate.NewReader(in))
	if err != nil {
		if got.err == nil || !bytes.HasPrefix(got.data, data) {
			t.Errorf("found %d bytes and %v, expected flate's %d and %v", len(got.data), got.err, len(data), err)
		}
		checkError(t, raw, got.err)
		return
	}
	rest, _ := io.Copy(io.Discard, in)
	if got.err != nil || !bytes.Equal(got.data, data) || got.rest != int(rest) {
		t.Errorf("found %d bytes, %d left, %v, expected as flate %d, %d", len(got.data), got.rest, got.err,
			len(data), rest)
	}
}

// checkError requires an error of a promised kind.
func checkError(t *testing.T, raw []byte, err error) {
	t.Helper()
	var c *fault.Error
	switch {
	case err == io.ErrUnexpectedEOF:
	case !errors.As(err, &c) || c.Kind != fault.Malformed:
		t.Errorf("found %v, expected malformed data", err)
	case c.Offset <= 0 || c.Offset > int64(len(raw)) || c.Msg == "":
		t.Errorf("found %v for a stream of %d bytes", err, len(raw))
	}
}
