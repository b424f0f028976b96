package compressed

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"runtime"
	"testing"

	"github.com/idxport/idxport/fault"
)

// hostile are files of a few bytes that ask for much memory.
var hostile = []struct {
	name string
	raw  string
	want error
}{
	{"a zstd window of 128 MiB", "\x28\xb5\x2f\xfd\x00\x88\x01\x00\x00", nil},
	{"a zstd window of 144 MiB", "\x28\xb5\x2f\xfd\x00\x89\x01\x00\x00", fault.Unsupported},
	{"a zstd window of 3.75 TiB", "\x28\xb5\x2f\xfd\x00\xff\x01\x00\x00", fault.Unsupported},
	{"a zstd single segment of 4 GiB", "\x28\xb5\x2f\xfd\xa0\xff\xff\xff\xff\x01\x00\x00", fault.Unsupported},
	{"a zstd single segment of 128 MiB", "\x28\xb5\x2f\xfd\xa0\x00\x00\x00\x08\x01\x00\x00", fault.Malformed},
	{"an xz dictionary of 64 MiB", xzWithDictionary(28), fault.Truncated},
	{"an xz dictionary of 96 MiB", xzWithDictionary(29), fault.Unsupported},
	{"an xz dictionary of 4 GiB", xzWithDictionary(40), fault.Unsupported},
}

// xzWithDictionary is the start of an xz file whose block asks for a dictionary of the coded size (5.3.1) and holds an
// uncompressed chunk of one byte.
func xzWithDictionary(size byte) string {
	block := []byte{2, 0, 0x21, 1, size, 0, 0, 0}
	block = binary.LittleEndian.AppendUint32(block, crc32.ChecksumIEEE(block))
	stream := append([]byte(xzMagic), 0, 0)
	stream = binary.LittleEndian.AppendUint32(stream, crc32.ChecksumIEEE(stream[6:]))
	return string(stream) + string(block) + "\x01\x00\x00a"
}

// Not parallel: it reads the process's memory statistics.
func TestHostileHeaders(t *testing.T) {
	const limit = 130 << 20
	for _, test := range hostile {
		t.Run(test.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err := decompress([]byte(test.raw))
			runtime.ReadMemStats(&after)
			if !errors.Is(err, test.want) {
				t.Errorf("found %v, expected %v", err, test.want)
			}
			reserved := after.TotalAlloc - before.TotalAlloc
			if reserved > limit || errors.Is(err, fault.Unsupported) && reserved > 2<<20 {
				t.Errorf("%d bytes made it reserve %d KiB", len(test.raw), reserved>>10)
			}
			t.Logf("reserved %d KiB", reserved>>10)
		})
	}
}

func TestJunkAfterTheLastMember(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"small.gz", "small-padded.gz", "small.zst", "small.xz", "small.bz2"} {
		for _, junk := range []string{"x", "junk", "PK\x03\x04 is another format", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00x"} {
			data, _, err := decompress([]byte(string(testFile(t, name)) + junk))
			if string(data) != string(content(t, name)) || err == nil {
				t.Errorf("%s and %q: found %d bytes and %v, expected all data, then an error", name, junk, len(data), err)
			}
			if len(junk) >= 4 && !errors.Is(err, fault.Malformed) {
				t.Errorf("%s and %q: found %v, expected malformed data", name, junk, err)
			}
		}
	}
}
