package compressed

import (
	"bytes"
	stdgzip "compress/gzip"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/idxport/idxport/test/must"
)

// readers do not share code with the encoders, except that Go has no other zstd reader.
var readers = map[string]func(io.Reader) (io.Reader, error){
	"":     func(r io.Reader) (io.Reader, error) { return r, nil },
	"none": func(r io.Reader) (io.Reader, error) { return r, nil },
	"gzip": func(r io.Reader) (io.Reader, error) {
		z, err := stdgzip.NewReader(r)
		if err == nil {
			z.Multistream(false) // there must be only one member
		}
		return z, err
	},
	"zstd": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
}

func TestStreamsReadBack(t *testing.T) {
	t.Parallel()
	streams := map[string][]int{
		"nothing":          {},
		"an empty block":   {0},
		"one byte":         {1},
		"several sizes":    {1000, 0, 1, 70_000, 0, 100_000},
		"many tiny blocks": {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9},
	}
	codecs := []Codec{{}, {Name: "none"}, {Name: "gzip"}, {"gzip", 1}, {"gzip", 6}, {"gzip", 9}, {Name: "zstd"},
		{"zstd", 1}, {"zstd", 3}, {"zstd", 7}, {"zstd", 22}}
	for name, sizes := range streams {
		for _, c := range codecs {
			blocks := makeBlocks(sizes)
			raw := writeAll(t, c, blocks, 1)
			in := bytes.NewReader(raw)
			got, err := io.ReadAll(must.Get(readers[c.Name](in))(t))
			if want := bytes.Join(blocks, nil); err != nil || !bytes.Equal(got, want) || in.Len() > 0 {
				t.Errorf("%s, %v: found %d bytes, %v, %d more, expected %d",
					name, c, len(got), err, in.Len(), len(want))
			}
		}
	}
}

func TestEmptyStreams(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"none": "",
		"gzip": "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" + "\x03\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00",
	} {
		if got := writeAll(t, Codec{Name: name}, nil, 1); string(got) != want {
			t.Errorf("%s: found %x, expected %x", name, got, want)
		}
	}
	if got := writeAll(t, Codec{Name: "zstd"}, nil, 1); !strings.HasPrefix(string(got), "\x28\xb5\x2f\xfd") {
		t.Errorf("zstd: found %x, expected a frame", got)
	}
}

// Pooled encoders must not remember what they compressed before.
func TestOutputDoesNotDependOnGoroutines(t *testing.T) {
	t.Parallel()
	sizes := make([]int, 24)
	for i := range sizes {
		sizes[i] = 1 + i*i*37%30_000
	}
	blocks := makeBlocks(sizes)
	for _, c := range []Codec{{}, {"gzip", 1}, {Name: "gzip"}, {"gzip", 6}, {"gzip", 9}, {Name: "zstd"},
		{"zstd", 3}, {"zstd", 7}} {
		want := writeAll(t, c, blocks, 1)
		for range 2 {
			if got := writeAll(t, c, blocks, 8); !bytes.Equal(got, want) {
				t.Errorf("%v: 8 goroutines give other bytes than one", c)
			}
		}
	}
}

func TestUnknownCodecs(t *testing.T) {
	t.Parallel()
	for codec, choices := range map[Codec]string{
		{Name: "lz77"}: "none, gzip, zstd", {"gzip", 10}: "1 to 9", {"gzip", -1}: "1 to 9", {"zstd", 23}: "1 to 22",
		{"none", 1}: "no levels",
	} {
		if _, err := NewWriter(io.Discard, codec); err == nil || !strings.Contains(err.Error(), choices) {
			t.Errorf("%v: found %v, expected the choices %q", codec, err, choices)
		}
	}
}

// A writerFunc is an io.Writer.
type writerFunc func([]byte) (int, error)

// Write calls f.
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestWriteErrorsStay has a disk that is full for a moment, and a writer that breaks io.Writer's
// contract: it drops the last byte of each write without an error.
func TestWriteErrorsStay(t *testing.T) {
	t.Parallel()
	room, full := 0, errors.New("no space")
	outputs := map[error]writerFunc{
		full: func(p []byte) (int, error) {
			if len(p) > room {
				return 0, full
			}
			room -= len(p)
			return len(p), nil
		},
		io.ErrShortWrite: func(p []byte) (int, error) { return max(0, len(p)-1), nil },
	}
	for _, name := range []string{"none", "gzip", "zstd"} {
		for want, out := range outputs {
			room = 400
			w := must.Get(NewWriter(out, Codec{Name: name}))(t)
			b := w.Encode(makeBlocks([]int{5000})[0])
			if err := w.Append(b); !errors.Is(err, want) {
				t.Errorf("%s, Append: found %v, expected %v", name, err, want)
			}
			room = 1 << 20
			if err := w.Close(); !errors.Is(err, want) {
				t.Errorf("%s, Close: found %v, expected the first error, %v", name, err, want)
			}
		}
	}
}

// makeBlocks returns blocks of the given sizes, which are partly compressible.
func makeBlocks(sizes []int) [][]byte {
	random := rand.New(rand.NewPCG(3, 4))
	blocks := make([][]byte, len(sizes))
	for i, size := range sizes {
		block := make([]byte, size)
		for j := range block {
			if random.IntN(4) == 0 {
				block[j] = byte(random.IntN(2 + i*8%255))
			}
		}
		blocks[i] = block
	}
	return blocks
}

// writeAll encodes the blocks on the given number of goroutines and appends them in order.
func writeAll(t testing.TB, c Codec, blocks [][]byte, goroutines int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := must.Get(NewWriter(&out, c))(t)
	encoded := make([]Block, len(blocks))
	var workers sync.WaitGroup
	for g := range goroutines {
		workers.Go(func() {
			for i := len(blocks) - 1 - g; i >= 0; i -= goroutines {
				encoded[i] = w.Encode(blocks[i])
			}
		})
	}
	workers.Wait()
	for _, b := range encoded {
		must.Do(t, w.Append(b))
	}
	must.Do(t, w.Close())
	return out.Bytes()
}

// TestDigitsShrink compresses ten random values, which carry log2(10) = 3.33 bits each, 42 % of a
// byte.
func TestDigitsShrink(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	digits := make([]byte, 60_000)
	for i := range digits {
		digits[i] = byte(random.IntN(10))
	}
	for _, c := range []Codec{{Name: "gzip"}, {Name: "zstd"}, {Name: "zstd", Level: 3}} {
		if out := writeAll(t, c, [][]byte{digits}, 1); len(out) > len(digits)/2 {
			t.Errorf("%s, level %d: found %d bytes of %d, expected less than half", c.Name, c.Level, len(out),
				len(digits))
		}
	}
}

// TestCombineCRC32OnArbitrarySplits has many short pieces, and empty ones.
func TestCombineCRC32OnArbitrarySplits(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 20_000)
	rand.NewChaCha8([32]byte{1}).Read(data)
	for range 500 {
		end := random.IntN(1 << random.IntN(15))
		start := random.IntN(end + 1)
		cut := start + random.IntN(end-start+1)
		got := combineCRC32(crc32.ChecksumIEEE(data[start:cut]), crc32.ChecksumIEEE(data[cut:end]), int64(end-cut))
		if want := crc32.ChecksumIEEE(data[start:end]); got != want {
			t.Fatalf("[%d:%d] cut at %d: found %08x, expected %08x", start, end, cut, got, want)
		}
	}
}

// TestCombineCRC32Lengths combines more bytes than a test can allocate: 5 GiB of zeros.
func TestCombineCRC32Lengths(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	zeros := make([]byte, mib)
	piece := crc32.ChecksumIEEE(zeros)
	gib := uint32(0)
	for range 1024 {
		gib = combineCRC32(gib, piece, mib)
	}
	five, four := uint32(0), uint32(0)
	for range 5 {
		five = combineCRC32(five, gib, 1<<30)
	}
	for range 4 {
		four = combineCRC32(four, gib, 1<<30)
	}
	if got := combineCRC32(gib, four, 4<<30); got != five {
		t.Errorf("1 GiB and 4 GiB: found %08x, expected %08x as for five times 1 GiB", got, five)
	}
}

// TestEncoderSize compares the constant with the heap that an encoder uses. It is not parallel, as
// other tests would change the heap.
func TestEncoderSize(t *testing.T) {
	block := makeBlocks([]int{1 << 20})[0]
	z := &ZstdEncoder{Level: 10}
	before := heap()
	frame := z.Append(make([]byte, 0, 2*len(block)), block)
	kept := heap() - before - int64(cap(frame))
	if stated := (Codec{"zstd", 10}).EncoderSize(); kept > stated || kept < stated*9/10 {
		t.Errorf("an encoder keeps %d bytes, EncoderSize is %d", kept, stated)
	}
	runtime.KeepAlive(z)
	runtime.KeepAlive(frame)
}

// heap returns the number of bytes in use on the heap.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestEncodersAreReused compresses on many goroutines, never more than two at once.
func TestEncodersAreReused(t *testing.T) {
	t.Parallel()
	z := &ZstdEncoder{Level: 1}
	block := makeBlocks([]int{0, 0, 0, 5000})[3]
	turns := make(chan struct{}, 2)
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			z.Append(nil, block)
		})
	}
	all.Wait()
	if n := len(z.free); n < 1 || n > 2 {
		t.Errorf("found %d encoders, expected at most the two that were in use", n)
	}
}

// TestZstdChoosesByRuns compares frames of the default level with those of level 1, which are the
// library's: images with runs take less, and other data give the same frames.
func TestZstdChoosesByRuns(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 0))
	noise, images, text, counters := make([]byte, 1<<20), make([]byte,
		1<<20), bytes.Repeat([]byte("12,0,0,0,255,"), 80000), make([]byte, 1<<20)
	for i, stroke := 0, 0; i < len(images); i++ {
		if stroke--; stroke < -random.IntN(50) {
			stroke = 1 + random.IntN(10)
		}
		if stroke > 0 {
			images[i] = byte(random.Uint32())
		}
	}
	for i := range noise {
		noise[i] = byte(random.Uint32())
		if i%4 == 0 {
			counters[i] = byte(i >> 2)
		}
	}
	for _, test := range []struct {
		name  string
		block []byte
		pages bool
	}{
		{"noise", noise, false},
		{"text", text, false},
		{"integers", counters, false},
		{"an image that is repeated", bytes.Repeat(images[:3000], 300), false},
		{"images", images, true},
		{"few images", images[:5000], true},
		{"nothing", nil, false},
	} {
		found := (&ZstdEncoder{Stream: true}).Append(nil, test.block)
		library := (&ZstdEncoder{Level: 1, Stream: true}).Append(nil, test.block)
		if pages := !bytes.Equal(found, library); pages != test.pages || len(found) > len(library) {
			t.Errorf("%s: found a frame of %d bytes, the library's has %d; expected that they are the same: %v",
				test.name, len(found), len(library), !test.pages)
		}
	}
}
