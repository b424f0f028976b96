package compressed

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
)

// wholeAt lists the cuts that leave a valid file: after a member, frame or stream, and in padding.
var wholeAt = map[string][]int{
	"small-members.gz":  {62},
	"small-padded.gz":   {115, 116, 117, 118, 119, 120, 121},
	"small-frames.zst":  {11, 76, 84},
	"small-streams.xz":  {104, 108, 272, 276},
	"small-streams.bz2": {77},
}

// unprotected lists the bits of gzip files that no checksum covers (RFC 1952): in the header FTEXT
// (bit 0 of byte 3), MTIME (4 to 7), XFL (8), OS (9) and the name; and the bits that fill the last
// byte of the deflate stream. In the other formats, the bits that may change unnoticed are unused
// ones of headers (zstd's unused bit, skippable frames; bzip2's level) and redundancy of the codes:
// then the data must stay the same.
var unprotected = map[string][]bitRange{
	"small.gz":         {{3, 0, 0}, {4, 0, 17*8 - 1}},
	"small-members.gz": {{3, 0, 0}, {4, 0, 6*8 - 1}, {53, 6, 7}, {65, 0, 0}, {66, 0, 6*8 - 1}},
	"small-padded.gz":  {{3, 0, 0}, {4, 0, 6*8 - 1}},
	"empty.gz":         {{3, 0, 0}, {4, 0, 6*8 - 1}, {11, 2, 7}},
}

// A bitRange is the bits first to last of a byte and the following ones, counted from bit 0 of that
// byte.
type bitRange struct{ byte, first, last int }

// TestEveryTruncation also cuts small-blocks.xz after each block, which the library's own reader of
// the container takes for the end.
func TestEveryTruncation(t *testing.T) {
	t.Parallel()
	for _, file := range goodFiles {
		if strings.HasPrefix(file.name, "long") || file.format == Plain {
			continue
		}
		t.Run(file.name, func(t *testing.T) {
			t.Parallel()
			raw, want := testFile(t, file.name), content(t, file.name)
			for n := range len(raw) {
				data, format, err := decompress(raw[:n])
				switch {
				case format == Plain && n < magicLen:
					if err != nil || !bytes.Equal(data, raw[:n]) {
						t.Errorf("cut to %d bytes: found %q and %v, expected the bytes themselves", n, data, err)
					}
				case slices.Contains(wholeAt[file.name], n):
					if err != nil || !bytes.HasPrefix(want, data) {
						t.Errorf("cut to %d bytes, a whole file: found %v", n, err)
					}
				case !errors.Is(err, fault.Truncated) || !bytes.HasPrefix(want, data):
					t.Errorf("cut to %d of %d bytes: found %d bytes and %v, expected truncated data", n,
						len(raw), len(data), err)
				}
			}
		})
	}
}

func TestEveryFlippedBit(t *testing.T) {
	t.Parallel()
	for _, file := range goodFiles {
		if strings.HasPrefix(file.name, "long") || file.format == Plain {
			continue
		}
		t.Run(file.name, func(t *testing.T) {
			t.Parallel()
			raw := testFile(t, file.name)
			var silent []int
			for bit := range 8 * len(raw) {
				if flipIsSilent(t, file.name, file.format, raw, bit) {
					silent = append(silent, bit)
				}
			}
			if file.format != "gzip" {
				return
			}
			var want []int
			for _, b := range unprotected[file.name] {
				for i := b.first; i <= b.last; i++ {
					want = append(want, 8*b.byte+i)
				}
			}
			if !slices.Equal(silent, want) {
				t.Errorf("bits that flip without an error: found %v, expected %v", silent, want)
			}
		})
	}
}

// flipIsSilent flips one bit of raw and reports whether that causes no error. Then the data must
// still be right, or no checksum of the file covers it.
func flipIsSilent(t *testing.T, name string, format string, raw []byte, bit int) bool {
	t.Helper()
	flipped := slices.Clone(raw)
	flipped[bit/8] ^= 1 << (bit % 8)
	data, found, err := decompress(flipped)
	if found != format {
		if found != Plain || bit/8 >= magicLen || !bytes.Equal(data, flipped) {
			t.Errorf("byte %d bit %d: taken for %v", bit/8, bit%8, found)
		}
		return false
	}
	if err != nil {
		if !tellsDamage(err, format, len(raw)) {
			t.Errorf("byte %d bit %d: found %#v", bit/8, bit%8, err)
		}
		return false
	}
	if name != "small-nocheck.zst" && !bytes.Equal(data, content(t, name)) {
		t.Errorf("byte %d bit %d: wrong data and no error", bit/8, bit%8)
	}
	return true
}

// tellsDamage reports whether err is about data of the format, with a place among size bytes, which
// is not an Offset, and a hint.
func tellsDamage(err error, format string, size int) bool {
	var e *fault.Error
	var name string
	var at int
	if !errors.As(err, &e) || e.Kind == "" || e.Offset != -1 || e.Hint == "" {
		return false
	}
	n, _ := fmt.Sscanf(e.Msg, "%s stream, at compressed byte %d: ", &name, &at)
	return n == 2 && name == format && at <= size
}
