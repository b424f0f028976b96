package compressed

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/idxport/idxport/fault"
)

// readEither reads raw, of size bytes of data, as files are read: from the byte first of the data on, by the seek table if there is one that says the same
// of the size, else from the start.
func readEither(raw []byte, first, size int64) (data []byte, table bool, err error) {
	found, err := FindSeekTable(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, true, err
	}
	if found == nil {
		data, _, err = decompress(raw)
		return data[min(first, int64(len(data))):], false, err
	}
	r := NewSeekReader(bytes.NewReader(raw), found)
	defer r.Close()
	r.ReadAhead(found.Size())
	if found.Size() == size {
		if _, err := r.Seek(first, io.SeekStart); err != nil {
			return nil, true, err
		}
		first = 0
	}
	data, err = io.ReadAll(r)
	return data[min(first, int64(len(data))):], true, err
}

// bordersOf are the sizes to which a cut leaves whole frames, but no table.
var bordersOf = map[string][]int{
	"small-seekable.zst":        {56, 103, 180},
	"small-seekable-nosums.zst": {53, 101, 150, 227, 244},
	"empty-seekable.zst":        {9},
}

func TestEveryTruncationOfASeekableFile(t *testing.T) {
	t.Parallel()
	for _, file := range seekableFiles {
		raw, want := testFile(t, file.name), content(t, file.name)
		for n := range len(raw) {
			data, table, err := readEither(raw[:n], 0, int64(len(want)))
			switch {
			case table:
				t.Errorf("%s cut to %d bytes: a table was found", file.name, n)
			case n < 4: // not even a magic number
				if err != nil || !bytes.Equal(data, raw[:n]) {
					t.Errorf("%s cut to %d bytes: found %q and %v, expected the bytes themselves", file.name, n, data, err)
				}
			case slices.Contains(bordersOf[file.name], n):
				if err != nil || !bytes.HasPrefix(want, data) {
					t.Errorf("%s cut to %d bytes, whole frames: found %v", file.name, n, err)
				}
			case !errors.Is(err, fault.Truncated) || !bytes.HasPrefix(want, data):
				t.Errorf("%s cut to %d of %d bytes: found %d bytes and %v, expected truncated data", file.name, n, len(raw), len(data), err)
			}
		}
	}
}

// Every flipped bit is an error, or the data is right all the same, wherever reading begins.
func TestEveryFlippedBitOfASeekableFile(t *testing.T) {
	t.Parallel()
	for _, file := range seekableFiles {
		t.Run(file.name, func(t *testing.T) {
			t.Parallel()
			raw, want := testFile(t, file.name), content(t, file.name)
			silent := 0
			for bit := range 8 * len(raw) {
				for _, first := range []int64{0, 200} {
					if first > int64(len(want)) {
						continue
					}
					flipped := slices.Clone(raw)
					flipped[bit/8] ^= 1 << (bit % 8)
					data, _, err := readEither(flipped, first, int64(len(want)))
					switch {
					case err != nil:
						if !tellsDamage(err, Zstd, len(raw)) {
							t.Errorf("byte %d bit %d: found %#v", bit/8, bit%8, err)
						}
					case bytes.Equal(data, want[first:]):
						silent++
					case bit/8 >= 4 || !bytes.Equal(data, flipped[min(first, int64(len(flipped))):]): // not a magic number: taken for plain
						t.Errorf("byte %d bit %d: wrong data and no error", bit/8, bit%8)
					}
				}
			}
			if silent >= 4*8*len(raw)/2 {
				t.Errorf("%d flips were not seen", silent)
			}
		})
	}
}
