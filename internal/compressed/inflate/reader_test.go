package inflate

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// TestExample decodes the stream in the package comment.
func TestExample(t *testing.T) {
	t.Parallel()
	raw, _ := hex.DecodeString("4b4c840100")
	if got := compare(t, raw); got.err != nil || string(got.data) != "aaaaaaaaaa" {
		t.Errorf("found %q and %v", got.data, got.err)
	}
}

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

// TestMembers reads streams and what is between them from one bufio.Reader, with one Reader.
func TestMembers(t *testing.T) {
	t.Parallel()
	var raw []byte
	all := contents()
	for name, data := range all {
		raw = append(append(raw, name+"\n"...), deflate(data, 6, 0)...)
	}
	in := bufio.NewReaderSize(bytes.NewReader(raw), 4096)
	z := NewReader(bufio.NewReader(strings.NewReader("")))
	for range all {
		name, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		name = strings.TrimSuffix(name, "\n")
		z.Reset(in)
		data, err := io.ReadAll(z)
		if err != nil || !bytes.Equal(data, all[name]) {
			t.Errorf("%s: found %d bytes and %v, expected %d", name, len(data), err, len(all[name]))
		}
	}
	if _, err := in.ReadByte(); err != io.EOF {
		t.Errorf("after the last: found %v, expected io.EOF", err)
	}
}

// TestResetForgets: Reset forgets the data, codes and errors of the previous stream.
func TestResetForgets(t *testing.T) {
	t.Parallel()
	z := NewReader(bufio.NewReader(bytes.NewReader(deflate(contents()["words"], 9, 0)[:5000])))
	if _, err := io.ReadAll(z); err != io.ErrUnexpectedEOF {
		t.Errorf("cut: found %v", err)
	}
	for _, s := range handmade() {
		z.Reset(bufio.NewReader(bytes.NewReader(s.stream.out)))
		data, err := io.ReadAll(z)
		if string(data) != s.data || !errors.Is(err, s.err) {
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

func TestErrorsStay(t *testing.T) {
	t.Parallel()
	for _, s := range handmade() {
		z := NewReader(bufio.NewReader(bytes.NewReader(s.stream.out)))
		io.Copy(io.Discard, z)
		n1, err1 := z.Read(make([]byte, 1))
		n2, err2 := z.Read(make([]byte, 1))
		if n1 != 0 || n2 != 0 || err1 == nil || err1 != err2 {
			t.Errorf("%s: found %d, %v, %d, %v", s.name, n1, err1, n2, err2)
		}
	}
}

// A countingReader returns one part in each Read.
type countingReader struct {
	parts [][]byte
	reads int
}

func (c *countingReader) Read(p []byte) (int, error) {
	if c.reads == len(c.parts) {
		return 0, io.EOF
	}
	c.reads++
	return copy(p, c.parts[c.reads-1]), nil
}

// TestFlushedDataComesAtOnce: what a writer has flushed is returned while the writer waits.
func TestFlushedDataComesAtOnce(t *testing.T) {
	t.Parallel()
	data := contents()["words"][:2000]
	raw := deflate(data, 6, 1000)
	cut := len(deflate(data[:1000], 6, 999)) // at most: it ends with the byte that the flush set apart
	cut = bytes.Index(raw[:cut], []byte{0, 0, 0xff, 0xff}) + 4
	in := &countingReader{parts: [][]byte{raw[:cut], raw[cut:]}}
	z := NewReader(bufio.NewReaderSize(in, 64<<10))
	if n, err := io.ReadFull(z, make([]byte, 1000)); err != nil || in.reads != 1 {
		t.Errorf("found %d bytes, %v and %d reads, expected 1000 and one read", n, err, in.reads)
	}
	if rest, err := io.ReadAll(z); err != nil || !bytes.Equal(rest, data[1000:]) {
		t.Errorf("the rest: found %d bytes and %v", len(rest), err)
	}
}

// TestNoAllocation is not parallel: it counts the allocations of the whole process.
func TestNoAllocation(t *testing.T) {
	raw := deflate(contents()["image"], 6, 0)
	z := NewReader(bufio.NewReader(strings.NewReader("")))
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
