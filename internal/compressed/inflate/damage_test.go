package inflate

import (
	"bytes"
	"io"
	"testing"
)

// smallStreams have every kind of block, and flushes, and are short enough to change every bit of
// them.
func smallStreams(t *testing.T) map[string][]byte {
	streams := map[string][]byte{"codes of 15 bits": longCodes().out}
	all := contents()
	for _, name := range []string{"empty", "run", "noise", "skewed", "words"} {
		data := all[name][:min(len(all[name]), 150)]
		streams[name+" stored"] = deflate(data, 0, 0)
		streams[name+" Huffman only"] = deflate(data, -2, 0)
		streams[name+" best"] = deflate(data, 9, 0)
		streams[name+" flushed"] = deflate(data, 6, 60)
	}
	return streams
}

func TestEveryTruncation(t *testing.T) {
	t.Parallel()
	for name, raw := range smallStreams(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := compare(t, raw)
			for n := range raw {
				got := compare(t, raw[:n])
				if got.err != io.ErrUnexpectedEOF || !bytes.HasPrefix(whole.data, got.data) {
					t.Errorf("cut to %d of %d bytes: found %v", n, len(raw), got.err)
				}
			}
		})
	}
}

func TestEveryFlippedBit(t *testing.T) {
	t.Parallel()
	for name, raw := range smallStreams(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for bit := range 8 * len(raw) {
				flipped := bytes.Clone(raw)
				flipped[bit/8] ^= 1 << (bit % 8)
				compare(t, flipped)
				if t.Failed() {
					t.Fatalf("that was byte %d bit %d", bit/8, bit%8)
				}
			}
		})
	}
}
