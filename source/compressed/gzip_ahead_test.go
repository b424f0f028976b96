package compressed

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

// storedGzip returns 3 MB of noise in stored blocks of 65,535 bytes, and the position of the length of block 10.
func storedGzip(t *testing.T) (raw []byte, length int) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 3_000_000)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	var buf bytes.Buffer
	w, err := gzip.NewWriterLevel(&buf, gzip.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(data)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	const header, blockHeader, block = 10, 5, 65535
	length = header + 10*(blockHeader+block) + 1
	if got := buf.Bytes()[length : length+4]; !bytes.Equal(got, []byte{0xff, 0xff, 0, 0}) {
		t.Fatalf("found %x, expected a block's length and its complement", got)
	}
	return buf.Bytes(), length
}

// TestDamageBeforeWhatWasReadAhead has bad data long before the end, or a failure, of an input that was read to there already.
func TestDamageBeforeWhatWasReadAhead(t *testing.T) {
	t.Parallel()
	raw, length := storedGzip(t)
	raw[length]++
	inputs := map[string]io.Reader{
		"whole":  bytes.NewReader(raw),
		"cut":    bytes.NewReader(raw[:1_000_000]),
		"broken": io.MultiReader(bytes.NewReader(raw[:1_000_000]), iotest.ErrReader(errors.New("disk on fire"))),
	}
	for name, in := range inputs {
		r, err := NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, r)
		want := fmt.Sprintf("gzip stream, at compressed byte %d: corrupt data: ", length+4) // after the length
		if n != 10*65535 || err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: found %d bytes and %v, expected 655350 and %s", name, n, err, want)
		}
		r.Close()
	}
}

// TestCutLongAfterTheStart is for an input that ends within the data.
func TestCutLongAfterTheStart(t *testing.T) {
	t.Parallel()
	raw, _ := storedGzip(t)
	r, err := NewReader(bytes.NewReader(raw[:2_500_000]))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, err = io.Copy(io.Discard, r)
	if err == nil || err.Error() != "gzip stream, at compressed byte 2500000: the data ends too early" {
		t.Errorf("found %v, expected truncated data at byte 2500000", err)
	}
}

// TestMemoryOfHelpers reads data that expands a thousandfold on the way to helpers: what they hold stays below the promised 32 MiB.
// It is not parallel, as it looks at the whole process.
func TestMemoryOfHelpers(t *testing.T) {
	var buf bytes.Buffer
	w, _ := gzip.NewWriterLevel(&buf, gzip.BestSpeed)
	zeros := make([]byte, 1<<20)
	random := rand.New(rand.NewPCG(3, 4))
	for range 600 {
		zeros[random.IntN(len(zeros))]++
		w.Write(zeros)
		w.Flush()
	}
	w.Close()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r, err := NewReader(&buf)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	most := uint64(0)
	p := make([]byte, 8<<20)
	for {
		_, err := io.ReadFull(r, p)
		runtime.ReadMemStats(&after)
		most = max(most, after.HeapInuse-min(before.HeapInuse, after.HeapInuse))
		if err != nil {
			break
		}
	}
	if most > 48<<20 {
		t.Errorf("found %d MiB in use, expected at most 48", most>>20)
	}
}
