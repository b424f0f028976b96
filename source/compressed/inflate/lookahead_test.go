package inflate

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/iotest"
)

// smallSizes divide short streams into many pieces.
var smallSizes = sizes{first: 1 << 10, segment: 96 << 10, shared: 2 << 10}

func newSmallLookahead(r io.Reader, helpers int) *Lookahead {
	l := NewLookahead(r, helpers, nil)
	l.sizes = smallSizes
	return l
}

// decodeAhead decodes what l has with Reads of the given size, and closes it. It also returns the
// number of used pieces.
func decodeAhead(l *Lookahead, read int) (result, int) {
	defer l.Close()
	got := drain(l, l, read)
	return got, l.used
}

// compareAhead checks that helpers change nothing, and returns the number of used pieces.
func compareAhead(t *testing.T, raw []byte, helpers, read int) int {
	t.Helper()
	return compareLookahead(t, raw, newSmallLookahead(bytes.NewReader(raw), helpers), read)
}

func compareLookahead(t *testing.T, raw []byte, l *Lookahead, read int) int {
	t.Helper()
	want := decodeAll(t, bytes.NewReader(raw), max(16, len(raw)), 8<<10)
	got, used := decodeAhead(l, read)
	if !bytes.Equal(got.data, want.data) || got.rest != want.rest || !sameError(got.err, want.err) {
		t.Errorf("with %d helpers, reads of %d, %d pieces: found %d bytes, %d left, %v, expected as without: %d, %d, %v",
			cap(l.helpers), read, used, len(got.data), got.rest, got.err, len(want.data), want.rest, want.err)
	}
	return used
}

// manyBlocks returns streams of about 1.2 MB of data, in blocks small enough for pieces of
// smallSizes. Callers must not change them.
var manyBlocks = sync.OnceValue(func() map[string][]byte {
	all, streams := contents(), make(map[string][]byte)
	for _, name := range []string{"image", "skewed", "words"} {
		data := bytes.Repeat(all[name], 1_200_000/len(all[name]))
		for _, level := range []int{-2, 1, 6, 9} {
			streams[fmt.Sprintf("%s level %d", name, level)] = deflate(data, level, 0)
		}
		streams[name+" flushed"] = deflate(data, 6, 9_999)
	}
	var mixed []byte // text, images and what does not compress: stored blocks, far and near matches
	random := rand.New(rand.NewPCG(5, 6))
	for len(mixed) < 1_200_000 {
		for _, name := range []string{"noise", "words", "image", "skewed"} {
			data := all[name]
			at := random.IntN(len(data))
			mixed = append(mixed, data[at:min(len(data), at+random.IntN(20_000))]...)
		}
	}
	streams["mixed"] = deflate(mixed, 6, 0)
	return streams
})

func TestHelpersChangeNothing(t *testing.T) {
	t.Parallel()
	for name, raw := range manyBlocks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := append(raw, "trailer"...)
			for _, helpers := range []int{0, 1, 2, 3, 7} {
				for _, read := range []int{1000, 1 << 20} {
					used := compareAhead(t, raw, helpers, read)
					if helpers == 0 && used > 0 {
						t.Errorf("found %d pieces used without helpers", used)
					}
				}
			}
		})
	}
}

// TestPiecesAreUsed: in segments with several blocks, all pieces are used.
func TestPiecesAreUsed(t *testing.T) {
	t.Parallel()
	streams := manyBlocks()
	for _, name := range []string{"image level 6", "image level 9", "skewed level 6", "skewed level 9"} {
		raw := streams[name]
		segments := len(raw) / smallSizes.segment
		if used := compareAhead(t, raw, 1, 10_000); used < segments*2/3 || segments < 1 {
			t.Errorf("%s: found %d pieces used of %d segments", name, used, segments)
		}
	}
}

// TestDamagedPieces flips one bit or cuts off the end, anywhere: the data before the error, and the
// error, are the same as without helpers.
func TestDamagedPieces(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	streams := manyBlocks()
	for _, name := range []string{"image level 9", "skewed level 6", "mixed"} {
		for range 6 {
			raw := bytes.Clone(streams[name])
			bit := random.IntN(8 * len(raw))
			raw[bit/8] ^= 1 << (bit % 8)
			compareAhead(t, raw, 1, 1<<20)
			compareAhead(t, raw[:bit/8], 2, 1<<20)
			if t.Failed() {
				t.Fatalf("%s: that was byte %d bit %d", name, bit/8, bit%8)
			}
		}
	}
}

// TestStreamsWithinStreams has stored blocks full of things that look like headers: helpers start
// where no block begins.
func TestStreamsWithinStreams(t *testing.T) {
	t.Parallel()
	streams := manyBlocks()
	raw := deflate(append(streams["image level 6"], streams["skewed level 6"]...), 0, 0)
	if used := compareAhead(t, raw, 1, 1<<20); used != 0 {
		t.Errorf("found %d pieces used, expected none", used)
	}
}

// TestMembersOfALookahead reads streams and what is between them.
func TestMembersOfALookahead(t *testing.T) {
	t.Parallel()
	var raw []byte
	streams := manyBlocks()
	names := []string{"image level 9", "words level 1", "skewed level 6", "mixed", "image level 1"}
	for _, name := range names {
		raw = append(append(raw, name+"\n"...), streams[name]...)
	}
	l := newSmallLookahead(bytes.NewReader(raw), 2)
	defer l.Close()
	z := NewReader(nothing{})
	for _, name := range names {
		found := make([]byte, len(name)+1)
		if _, err := io.ReadFull(l, found); err != nil || string(found) != name+"\n" {
			t.Fatalf("found %q and %v, expected %q", found, err, name)
		}
		z.Reset(l)
		got, err := io.ReadAll(z)
		want := decodeAll(t, bytes.NewReader(streams[name]), 4096, 8<<10)
		if err != nil || !bytes.Equal(got, want.data) || z.InputOffset() != int64(len(streams[name])) {
			t.Errorf("%s: found %d bytes, %v and offset %d", name, len(got), err, z.InputOffset())
		}
	}
	if n := l.Unread(); n != 0 || l.used < 5 {
		t.Errorf("found %d bytes unread and %d pieces used", n, l.used)
	}
}

// TestPipesAreNotReadAhead has parts of up to 64 KiB, each of which must be decoded before the next
// one is read.
func TestPipesAreNotReadAhead(t *testing.T) {
	t.Parallel()
	noise := bytes.Repeat(contents()["noise"], 5)
	raw := deflate(noise, 0, 0)
	in := &countingReader{}
	for part := raw; len(part) > 0; part = part[min(len(part), 64<<10):] {
		in.parts = append(in.parts, part[:min(len(part), 64<<10)])
	}
	l := NewLookahead(in, 1, nil)
	defer l.Close()
	z, p := NewReader(l), make([]byte, 1000)
	for read := 0; read < len(noise); {
		n, err := z.Read(p)
		if read += n; err != nil || !bytes.Equal(p[:n], noise[read-n:read]) {
			t.Fatalf("after %d bytes: found %v", read, err)
		}
		if parts := read>>16 + 1; in.reads > parts {
			t.Fatalf("after %d bytes: found %d parts read, expected %d", read, in.reads, parts)
		}
	}
}

// TestNotWanted: helpers that are not wanted do nothing.
func TestNotWanted(t *testing.T) {
	t.Parallel()
	raw := manyBlocks()["image level 6"]
	l := newSmallLookahead(bytes.NewReader(raw), 1)
	defer l.Close()
	l.wanted = func() bool { return false }
	if n, err := io.Copy(io.Discard, NewReader(l)); n != 1_200_000 || err != nil || l.used != 0 {
		t.Errorf("found %d bytes, %v and %d pieces used", n, err, l.used)
	}
}

// TestCloseWaitsForHelpers closes everywhere in a stream. The race detector would find a helper
// that still works.
func TestCloseWaitsForHelpers(t *testing.T) {
	t.Parallel()
	raw := manyBlocks()["skewed level 6"]
	for n := 0; n < 1_200_000; n += 149_999 {
		l := newSmallLookahead(bytes.NewReader(raw), 3)
		if _, err := io.CopyN(io.Discard, NewReader(l), int64(n)); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		l.Close()
		if len(l.helpers) != 0 || len(l.current.pieces) != 0 || len(l.next.pieces) != 0 {
			t.Errorf("after %d bytes: found %d helpers at work", n, len(l.helpers))
		}
		clear(l.current.buf)
		clear(l.next.buf)
	}
}

func TestPeekAcrossSegments(t *testing.T) {
	t.Parallel()
	data := contents()["noise"]
	l := newSmallLookahead(iotest.HalfReader(bytes.NewReader(data)), 1)
	defer l.Close()
	random := rand.New(rand.NewPCG(9, 10))
	for at := 0; at < len(data); {
		want := min(1+random.IntN(headroom), len(data)-at)
		got, err := l.Peek(want)
		if err != nil || !bytes.Equal(got, data[at:at+want]) {
			t.Fatalf("at %d: found %d bytes and %v, expected %d", at, len(got), err, want)
		}
		skip := min(l.Buffered(), random.IntN(700))
		if n, err := l.Discard(skip); n != skip || err != nil {
			t.Fatalf("at %d: skipped %d bytes and %v, expected %d", at, n, err, skip)
		}
		at += skip
	}
	if got, err := l.Peek(1); len(got) != 0 || err != io.EOF {
		t.Errorf("at the end: found %d bytes and %v", len(got), err)
	}
	if n, err := l.Discard(1); n != 0 || err != bufio.ErrBufferFull {
		t.Errorf("at the end: skipped %d bytes and %v", n, err)
	}
}
