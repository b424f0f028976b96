package compressed

import (
	"encoding/binary"
	"io"
	"math"
)

// The seek table's fields, as zstd's contrib/seekable_format/zstd_seekable_compression_format.md (0.1.0) has them.
const (
	seekTableMagic   = 0x184D2A5E // of a skippable frame
	seekFooterMagic  = 0x8F92EAB1
	seekChecksumFlag = 0x80
	skippableHeader  = 8  // bytes: magic number and size
	seekEntry        = 12 // bytes, with the checksum
	seekFooter       = 9  // bytes

	// maxSeekTable is the size in bytes of the largest table that is written, which is that of the largest that source/compressed uses: who reads a table
	// keeps it in memory. zstd's own library would read one of 2²⁷ frames.
	maxSeekTable = 16 << 20

	// maxSeekFrames is how many frames have room in it: 1,398,099.
	maxSeekFrames = (maxSeekTable - skippableHeader - seekFooter) / seekEntry

	// emptySum is the low half of the XXH64 of no data: the empty frame has no checksum.
	emptySum = 0x51d8e999
)

// NewSeekable returns a Writer like that of New, except that a zstd stream ends with a seek table.
func NewSeekable(w io.Writer, c Codec) (*Writer, error) {
	out, err := New(w, c)
	if err == nil && c.Name == "zstd" {
		out.seek = new(seekTable)
	}
	return out, err
}

// A seekTable is what a stream's seek table will be.
type seekTable struct {
	entries []byte
	none    bool // a frame has no place in it, so that there will be no table
}

// add adds a frame, which ends with the checksum of size bytes of data, unless those are none.
func (t *seekTable) add(frame []byte, size uint64) {
	if max(uint64(len(frame)), size) > math.MaxUint32 || len(t.entries) == maxSeekFrames*seekEntry {
		t.none, t.entries = true, nil
	}
	if t.none {
		return
	}
	sum := uint32(emptySum)
	if size > 0 {
		sum = binary.LittleEndian.Uint32(frame[len(frame)-4:])
	}
	t.entries = binary.LittleEndian.AppendUint32(t.entries, uint32(len(frame)))
	t.entries = binary.LittleEndian.AppendUint32(t.entries, uint32(size))
	t.entries = binary.LittleEndian.AppendUint32(t.entries, sum)
}

// bytes is the table as it ends the stream.
func (t *seekTable) bytes() []byte {
	if t.none {
		return nil
	}
	frame := binary.LittleEndian.AppendUint32(nil, seekTableMagic)
	frame = binary.LittleEndian.AppendUint32(frame, uint32(len(t.entries)+seekFooter))
	frame = append(frame, t.entries...)
	frame = binary.LittleEndian.AppendUint32(frame, uint32(len(t.entries)/seekEntry))
	frame = append(frame, seekChecksumFlag)
	return binary.LittleEndian.AppendUint32(frame, seekFooterMagic)
}
