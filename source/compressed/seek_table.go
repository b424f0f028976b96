package compressed

import (
	"encoding/binary"
	"errors"
	"io"
	"sort"
)

// The fields of a seek table, from zstd's
// contrib/seekable_format/zstd_seekable_compression_format.md (0.1.0).
const (
	seekTableMagic   = 0x184D2A5E // of the skippable frame that holds the table
	seekFooterMagic  = 0x8F92EAB1 // the last four bytes of the file
	seekChecksumFlag = 0x80       // of the descriptor: entries have checksums
	seekReservedBits = 0x7c       // of the descriptor: not 0 in future versions

	skippableHeader = 8 // bytes: magic number and size
	seekFooter      = 9 // bytes: number of frames, descriptor, magic number
	seekEntry       = 8 // bytes: the sizes in the file and of data
	seekChecksum    = 4 // bytes, at the end of an entry
)

const (
	// maxSeekTable is the size in bytes of the largest table that is used: that of 1,398,099 frames
	// with checksums, or 1.3 TiB in frames of 1 MiB.
	maxSeekTable = 16 << 20

	// seekTail is how much of the end of a file is read to find the table. This includes a table of
	// at most 1,363 frames.
	seekTail = 16 << 10

	// markEvery is the interval of frames whose positions are kept.
	markEvery = 1024
)

// A SeekTable has the positions of the frames of a zstd file in the seekable format. It needs as
// much memory as the table in the file, 8 or 12 bytes per frame.
type SeekTable struct {
	raw    []byte     // the whole skippable frame, the last bytes of the file
	entry  int        // bytes of an entry
	frames int        // number of frames
	end    position   // where the last frame ends
	marks  []position // of the beginning of every markEvery-th frame
}

// A position is the beginning or the end of a frame.
type position struct {
	packed int64 // offset in the file
	data   int64 // offset in the decompressed data
}

// A seekFrame is the entry of one frame.
type seekFrame struct {
	index            int
	start            position
	packedSize, size int64 // bytes in the file, and of data
}

// end returns where the next frame begins.
func (f seekFrame) end() position {
	return position{f.start.packed + f.packedSize, f.start.data + f.size}
}

// FindSeekTable looks for the seek table at the end of r, which has size bytes. It returns nil if
// there is no usable one: for other files, for several joined files, where the table describes only
// the last one, for a table of a later version of the format, and for one of more than 16 MiB. It
// fails if the table contradicts itself or the size of the file.
func FindSeekTable(r io.ReaderAt, size int64) (*SeekTable, error) {
	tail := make([]byte, min(size, seekTail))
	if err := readAt(r, tail, size-int64(len(tail))); err != nil {
		return nil, err
	}
	t, length := parseSeekFooter(tail)
	if t == nil || length > min(size, maxSeekTable) {
		return nil, nil
	}
	t.end.packed = size - length
	if int(length) <= len(tail) {
		t.raw = tail[len(tail)-int(length):]
	} else {
		t.raw = make([]byte, length)
		if err := readAt(r, t.raw, t.end.packed); err != nil {
			return nil, err
		}
	}
	if binary.LittleEndian.Uint32(t.raw) != seekTableMagic {
		return nil, nil // the last four bytes are a coincidence
	}
	if found, want := int64(binary.LittleEndian.Uint32(t.raw[4:])), length-skippableHeader; found != want {
		return nil, Zstd.fault(t.end.packed+4, corrupt("the seek table's size is %d, expected %d for %d frames", found, want, t.frames))
	}
	packed := t.addUp()
	if packed < t.end.packed {
		var magic [4]byte
		if err := readAt(r, magic[:], t.end.packed-packed); err != nil {
			return nil, err
		}
		if isZstd(magic[:]) {
			return nil, nil // several files, joined
		}
	}
	if packed != t.end.packed {
		return nil, Zstd.fault(t.end.packed, corrupt("the seek table lists frames of %d bytes, expected the %d bytes before it", packed, t.end.packed))
	}
	return t, nil
}

// parseSeekFooter parses the last bytes of a file. It returns a table with its number of frames,
// and the size of the table in the file, or nil if there is none.
func parseSeekFooter(tail []byte) (*SeekTable, int64) {
	if len(tail) < skippableHeader+seekFooter {
		return nil, 0
	}
	footer := tail[len(tail)-seekFooter:]
	descriptor := footer[4]
	if binary.LittleEndian.Uint32(footer[5:]) != seekFooterMagic || descriptor&seekReservedBits != 0 {
		return nil, 0
	}
	frames := binary.LittleEndian.Uint32(footer)
	if frames > maxSeekTable/seekEntry {
		return nil, 0
	}
	t := &SeekTable{frames: int(frames), entry: seekEntry}
	if descriptor&seekChecksumFlag != 0 {
		t.entry += seekChecksum
	}
	return t, skippableHeader + int64(t.frames)*int64(t.entry) + seekFooter
}

// addUp adds up the sizes of the frames, and sets marks and end.data. It returns the sum of the
// sizes in the file.
func (t *SeekTable) addUp() (packed int64) {
	var end position
	for i := range t.frames {
		if i%markEvery == 0 {
			t.marks = append(t.marks, end)
		}
		end = t.frame(i, end).end()
	}
	t.end.data = end.data
	return end.packed
}

// frame returns frame i, which begins at start.
func (t *SeekTable) frame(i int, start position) seekFrame {
	entry := t.raw[skippableHeader+i*t.entry:]
	return seekFrame{i, start, int64(binary.LittleEndian.Uint32(entry)), int64(binary.LittleEndian.Uint32(entry[4:]))}
}

// checksum returns the low half of the XXH64 of frame i's data, if the table has checksums.
func (t *SeekTable) checksum(i int) (sum uint32, ok bool) {
	if t.entry == seekEntry {
		return 0, false
	}
	return binary.LittleEndian.Uint32(t.raw[skippableHeader+i*t.entry+seekEntry:]), true
}

// frameWith returns the frame that contains the byte of the data at offset. At the end of the data,
// it returns an empty frame after the last one.
func (t *SeekTable) frameWith(offset int64) seekFrame {
	mark := sort.Search(len(t.marks), func(i int) bool { return t.marks[i].data > offset }) - 1
	if mark < 0 {
		return seekFrame{index: t.frames, start: t.end}
	}
	start := t.marks[mark]
	for i := mark * markEvery; i < t.frames; i++ {
		f := t.frame(i, start)
		start = f.end()
		if start.data > offset {
			return f
		}
	}
	return seekFrame{index: t.frames, start: t.end}
}

// frameStart returns the position where frame i begins or, if there are only i frames, the last one
// ends.
func (t *SeekTable) frameStart(i int) position {
	if i >= t.frames {
		return t.end
	}
	start := t.marks[i/markEvery]
	for k := i / markEvery * markEvery; k < i; k++ {
		start = t.frame(k, start).end()
	}
	return start
}

// Size returns the number of bytes of the data in all frames.
func (t *SeekTable) Size() int64 { return t.end.data }

// Span returns the range [from, to) of the file that holds the frames of the data range [first,
// last), where 0 ≤ first ≤ last ≤ Size().
func (t *SeekTable) Span(first, last int64) (from, to int64) {
	from = t.frameWith(first).start.packed
	if first >= last {
		return from, from
	}
	return from, t.frameWith(last - 1).end().packed
}

// readAt fills p with the bytes that start at offset.
func readAt(r io.ReaderAt, p []byte, offset int64) error {
	n, err := r.ReadAt(p, offset)
	if n == len(p) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return Zstd.fault(offset+int64(n), truncated())
	}
	return err
}
