package compressed

import (
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

func TestCombineCRC32OnArbitrarySplits(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 20_000)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	for range 500 {
		end := random.IntN(len(data) + 1)
		start := random.IntN(end + 1)
		cut := start + random.IntN(end-start+1)
		got := combineCRC32(crc32.ChecksumIEEE(data[start:cut]), crc32.ChecksumIEEE(data[cut:end]), int64(end-cut))
		if want := crc32.ChecksumIEEE(data[start:end]); got != want {
			t.Fatalf("[%d:%d] cut at %d: found %08x, expected %08x", start, end, cut, got, want)
		}
	}
}

// The check value of CRC-32/ISO-HDLC: "123456789" gives cbf43926.
func TestCombineCRC32CheckValue(t *testing.T) {
	t.Parallel()
	const digits = "123456789"
	for cut := range len(digits) + 1 {
		a, b := crc32.ChecksumIEEE([]byte(digits[:cut])), crc32.ChecksumIEEE([]byte(digits[cut:]))
		if got := combineCRC32(a, b, int64(len(digits)-cut)); got != 0xcbf43926 {
			t.Errorf("cut at %d: found %08x", cut, got)
		}
	}
}

// More bytes than can be made in a test: 5 GiB of zeros, as five times one.
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
		t.Errorf("1 GiB and 4 GiB: found %08x, expected %08x as of five single ones", got, five)
	}
}
