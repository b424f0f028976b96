package inflate

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLevels(t *testing.T) {
	t.Parallel()
	for name, data := range contents() {
		for _, level := range []int{-2, -1, 0, 1, 2, 9} {
			for _, flush := range []int{0, 7_777} {
				t.Run(fmt.Sprintf("%s level %d flush %d", name, level, flush), func(t *testing.T) {
					t.Parallel()
					raw := append(deflate(data, level, flush), "trailer"...)
					got := compare(t, raw)
					if got.err != nil || got.rest != len("trailer") || !bytes.Equal(got.data, data) {
						t.Errorf("found %d bytes, %d left, %v, expected %d bytes, 7 left", len(got.data),
							got.rest, got.err, len(data))
					}
				})
			}
		}
	}
}

func TestSizesOfReads(t *testing.T) {
	t.Parallel()
	data := contents()["image"]
	raw := deflate(data, 6, 0)
	random := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		buffer, read := 16+random.IntN(300), 1+random.IntN(70_000)
		got := decodeAll(t, bytes.NewReader(raw), buffer, read)
		if got.err != nil || !bytes.Equal(got.data, data) {
			t.Errorf("buffer %d, reads of %d: found %d bytes and %v, expected %d", buffer, read, len(got.data),
				got.err, len(data))
		}
	}
}

// TestFarthestMatches has matches at the largest distance wherever the window is moved, with
// symbols 285 and 29 of the RFC.
func TestFarthestMatches(t *testing.T) {
	t.Parallel()
	noise := contents()["noise"][:maxDistance]
	w := new(bitWriter).number(0, 8).number(maxDistance, 16).number(0xffff-maxDistance, 16)
	for _, b := range noise {
		w.number(int(b), 8)
	}
	w.number(1, 1).number(1, 2)
	const matches = 4000
	for range matches {
		w.code("11000101"+"11101").number(1<<13-1, 13)
	}
	w.code("0000000")
	want := bytes.Repeat(noise, 1+matches*maxMatch/maxDistance+1)[:maxDistance+matches*maxMatch]
	if got := compare(t, w.out); got.err != nil || !bytes.Equal(got.data, want) {
		t.Errorf("found %d bytes and %v, expected %d", len(got.data), got.err, len(want))
	}
}

// TestResetForgets: Reset forgets the data, codes and errors of the previous stream.
func TestResetForgets(t *testing.T) {
	t.Parallel()
	z := new(Reader)
	z.Reset(bufio.NewReader(bytes.NewReader(deflate(contents()["words"], 9, 0)[:5000])))
	if _, err := io.ReadAll(z); err != io.ErrUnexpectedEOF {
		t.Errorf("cut: found %v", err)
	}
	for _, s := range handmade() {
		z.Reset(bufio.NewReader(bytes.NewReader(s.stream.out)))
		if data, err := io.ReadAll(z); string(data) != s.data || !errors.Is(err, s.err) {
			t.Errorf("%s: found %q and %v, expected %q and %v", s.name, data, err, s.data, s.err)
		}
	}
}

func TestErrorsOfTheInput(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	data := contents()["words"]
	for _, flush := range []int{0, 1000} {
		raw := deflate(data, 0, flush)
		for _, n := range []int{0, 1, 3, 500, len(raw) - 1} {
			got := decodeAll(t, io.MultiReader(bytes.NewReader(raw[:n]), iotest.ErrReader(broken)), 100, 100)
			if got.err != broken || !bytes.HasPrefix(data, got.data) || len(got.data) < n*9/10-10 {
				t.Errorf("broken after %d bytes: found %d bytes and %v", n, len(got.data), got.err)
			}
		}
	}
}

// TestFlushedDataComesAtOnce would not end if what a writer has flushed were not returned while the
// writer waits.
func TestFlushedDataComesAtOnce(t *testing.T) {
	t.Parallel()
	data := contents()["words"][:2000]
	raw := deflate(data, 6, 1000)
	cut := len(deflate(data[:1000], 6, 999)) // at most: it ends with the byte that the flush set apart
	cut = bytes.Index(raw[:cut], []byte{0, 0, 0xff, 0xff}) + 4
	in, out := io.Pipe()
	go out.Write(raw[:cut])
	z := new(Reader)
	z.Reset(bufio.NewReaderSize(in, 64<<10))
	if n, err := io.ReadFull(z, make([]byte, 1000)); err != nil {
		t.Errorf("found %d bytes and %v, expected 1000", n, err)
	}
	go func() { out.Write(raw[cut:]); out.Close() }()
	if rest, err := io.ReadAll(z); err != nil || !bytes.Equal(rest, data[1000:]) {
		t.Errorf("the rest: found %d bytes and %v", len(rest), err)
	}
}

// TestNoAllocation is not parallel: it counts the allocations of the whole process.
func TestNoAllocation(t *testing.T) {
	raw := deflate(contents()["image"], 6, 0)
	z := new(Reader)
	z.Reset(bufio.NewReader(strings.NewReader("")))
	in, p := bufio.NewReader(strings.NewReader("")), make([]byte, 4096)
	n := testing.AllocsPerRun(5, func() {
		in.Reset(bytes.NewReader(raw))
		z.Reset(in)
		for err := error(nil); err == nil; _, err = z.Read(p) {
		}
	})
	if n > 1 { // the bytes.Reader
		t.Errorf("found %v allocations a stream, expected none", n)
	}
}
