package pagezstd

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/idxport/idxport/test/frames/pages"
	"github.com/idxport/idxport/test/must"
)

// newDecoder returns the library's decoder, which shares with this package only the Huffman coder;
// test/frames has decoders that share nothing.
func newDecoder(t testing.TB) *zstd.Decoder {
	d := must.Get(zstd.NewReader(nil, zstd.WithDecoderConcurrency(1)))(t)
	t.Cleanup(d.Close)
	return d
}

// check compresses page with and without a checksum, demands that the frames give it back, and
// returns the frame without one.
func check(t testing.TB, d *zstd.Decoder, e *Encoder, page []byte) []byte {
	t.Helper()
	var frame []byte
	for _, e.Checksum = range []bool{true, false} {
		frame = e.Append([]byte("before"), page)
		rest, ok := bytes.CutPrefix(frame, []byte("before"))
		if !ok {
			t.Fatalf("Append changed what was before the frame")
		}
		if found, err := d.DecodeAll(rest, nil); err != nil || !bytes.Equal(found, page) {
			t.Fatalf("checksum %v: %d bytes were decoded to %d bytes: %v", e.Checksum, len(page), len(found), err)
		}
		var header zstd.Header
		if err := header.Decode(rest); err != nil || !header.HasFCS || header.FrameContentSize != uint64(len(page)) ||
			header.HasCheckSum != e.Checksum || header.WindowSize != maxBlock {
			t.Errorf("found the header %+v of %d bytes (%v)", header, len(page), err)
		}
		frame = rest
	}
	return frame
}

// TestWorkedExample compares the frame in the package comment.
func TestWorkedExample(t *testing.T) {
	t.Parallel()
	var example string
	for line := range strings.Lines(string(must.Get(os.ReadFile("doc.go"))(t))) {
		if hexadecimal, ok := strings.CutPrefix(line, "//\t"); ok {
			example += strings.ReplaceAll(strings.TrimSpace(hexadecimal[:min(len(hexadecimal), 14)]), " ", "")
		}
	}
	page := append(make([]byte, 20), 7, 9)
	page = append(page, make([]byte, 30)...)
	if found := hex.EncodeToString(check(t, newDecoder(t), new(Encoder), page)); found != example {
		t.Errorf("found\n%s, expected\n%s", found, example)
	}
}

// TestPages has the pages that test/frames gives to other decoders.
func TestPages(t *testing.T) {
	t.Parallel()
	d, e := newDecoder(t), new(Encoder)
	for _, page := range pages.All(rand.New(rand.NewPCG(1, 0))) {
		check(t, d, e, page)
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	d, e := newDecoder(t), new(Encoder)
	noise := pages.Noise(rand.New(rand.NewPCG(3, 0)), maxBlock)
	if frame := check(t, d, e, noise); len(frame) != 14+blockHeader+maxBlock {
		t.Errorf("noise: found a frame of %d bytes, expected one raw block", len(frame))
	}
	if frame := check(t, d, e, make([]byte, 3*maxBlock)); len(frame) > 40 {
		t.Errorf("zeros: found a frame of %d bytes, expected blocks of one byte after the first", len(frame))
	}
	// The library takes about 30 bytes for such levels of 6,680 bytes.
	page, levels := images(t), pages.Levels([]byte{2, 0, 0x9e, 0x0c, 1}, 6676)
	if plain, found := check(t, d, e, page), check(t, d, e, append(levels, page...)); len(found) > len(plain)+60 {
		t.Errorf("found %d bytes more with levels than without, expected at most 60", len(found)-len(plain))
	}
}

// TestFrameDependsOnThePageAlone compares the frames of a new Encoder with those of a used one.
func TestFrameDependsOnThePageAlone(t *testing.T) {
	t.Parallel()
	used, random := new(Encoder), rand.New(rand.NewPCG(4, 0))
	for range 100 {
		page := pages.Mixture(random, random.IntN(3*maxBlock))
		if !bytes.Equal(used.Append(nil, page), new(Encoder).Append(nil, page)) {
			t.Fatalf("%d bytes: an Encoder that was used before makes another frame", len(page))
		}
	}
}

// images returns images of Fashion-MNIST.
func images(t testing.TB) []byte {
	file := must.Get(os.Open("../../../testdata/fashion-mnist/t10k-images-idx3-ubyte.gz"))(t)
	defer file.Close()
	return must.Get(io.ReadAll(must.Get(gzip.NewReader(file))(t)))(t)[16:]
}

// TestSmallerThanTheLibrary is what this package is for, with BenchmarkAppend.
func TestSmallerThanTheLibrary(t *testing.T) {
	t.Parallel()
	page := images(t)
	library := must.Get(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false)))(t)
	defer library.Close()
	if found, most := len(check(t, newDecoder(t), new(Encoder), page)), len(library.EncodeAll(page,
		nil))*96/100; found > most {
		t.Errorf("found a frame of %d bytes, expected at most %d, 4 %% less than the library's", found, most)
	}
}

// TestSplit compares split, which works on words of bits, with its definition.
func TestSplit(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 0))
	for range 2000 {
		p := pages.Mixture(random, random.IntN(1<<(1+random.IntN(17))))
		var literals []byte
		var sequences []sequence
		before := 0
		for i := 0; i < len(p); {
			run := 1
			for i+run < len(p) && p[i+run] == p[i] {
				run++
			}
			if run < minRun {
				literals = append(literals, p[i:i+run]...)
				before += run
			} else {
				literals = append(literals, p[i])
				sequences = append(sequences, lengthCodes().sequence(before+1, run-1-minMatch))
				before = 0
			}
			i += run
		}
		var s splitter
		s.split(p)
		if !bytes.Equal(s.literals, literals) || !slices.Equal(s.sequences, sequences) {
			t.Fatalf("%d bytes: found %d literals and the sequences %x, expected %d and %x", len(p),
				len(s.literals), s.sequences, len(literals), sequences)
		}
	}
}

func FuzzAppend(f *testing.F) {
	f.Add([]byte("0000000"), 3, true)
	f.Add(make([]byte, 1000), 200, false)
	d, e := newDecoder(f), new(Encoder)
	f.Fuzz(func(t *testing.T, part []byte, times int, noisy bool) {
		page := bytes.Repeat(part, min(max(times, 1), 300))
		if noisy {
			for i := range page {
				page[i] ^= byte(i * i >> 12)
			}
		}
		check(t, d, e, page)
	})
}
