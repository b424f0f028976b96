package compressed

import (
	"encoding/binary"
	"io"
	"math"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/idxport/idxport/sink/compressed/pagezstd"
)

// Zstd compresses blocks to frames. At the default level, blocks with runs, such as images with a
// plain background, are compressed by package pagezstd, and others by the library. It is safe for
// concurrent use, and keeps as many encoders as were ever in use at the same time.
//
// The alternatives take more memory. One encoder of the library that is configured for concurrent
// use creates all its parts at the first block and uses them in turn; a sync.Pool keeps up to one
// more encoder per processor. With tens of MiB each, memory would grow with the processors, not
// with the workers: at level 19, with 2 workers and GOMAXPROCS 16, MNIST's test images took 306 MiB
// the first way (IDX) and 197 MiB the second (Parquet), against 88 and 93 MiB.
type Zstd struct {
	Level    int  // 1 to 22; 0 is the default
	Stream   bool // frames have checksums, and empty data becomes an empty frame
	Literals bool // at the fast levels, also compress data without repeated sequences, such as labels and floats

	mu   sync.Mutex
	free []*zstdEncoders
}

// zstdEncoders are what one goroutine uses at a time.
type zstdEncoders struct {
	library *zstd.Encoder
	pages   pagezstd.Encoder
	sample  []byte
}

// slowestZstd is the speed with the largest encoders: see Codec.EncoderSize.
const slowestZstd = zstd.SpeedBestCompression

// zstdSpeed returns the speed of the library that is nearest to level; 0 means the fastest.
func zstdSpeed(level int) zstd.EncoderLevel { return zstd.EncoderLevelFromZstd(level) }

// Append appends a frame of block to dst. The frame depends on the block alone.
func (z *Zstd) Append(dst, block []byte) ([]byte, error) {
	e, err := z.take()
	if err != nil {
		return dst, err
	}
	defer z.give(e)
	if z.Level == 0 && e.hasRuns(block) {
		return e.pages.Append(dst, block), nil
	}
	return e.library.EncodeAll(block, dst), nil
}

// hasRuns reports whether pagezstd is better than the library for the middle of block, a sample:
// runs are at least an eighth of it, and its frame is not larger than the library's. In a block
// with few runs, the library may find matches that a sample does not show.
func (e *zstdEncoders) hasRuns(block []byte) bool {
	const sample = 8 << 10
	if skipped := len(block) - sample; skipped > 0 {
		block = block[skipped/2:][:sample]
	}
	if e.pages.Matched(block) < len(block)/8 {
		return false
	}
	e.sample = e.pages.Append(e.sample[:0], block)
	pages := len(e.sample)
	e.sample = e.library.EncodeAll(block, e.sample[:0])
	return pages <= len(e.sample)
}

func (z *Zstd) take() (*zstdEncoders, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if last := len(z.free) - 1; last >= 0 {
		e := z.free[last]
		z.free = z.free[:last]
		return e, nil
	}
	library, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstdSpeed(z.Level)), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(z.Stream), zstd.WithZeroFrames(z.Stream), zstd.WithAllLitEntropyCompression(z.Literals))
	return &zstdEncoders{library: library, pages: pagezstd.Encoder{Checksum: z.Stream}}, err
}

func (z *Zstd) give(e *zstdEncoders) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.free = append(z.free, e)
}

// A zstdEncoder compresses each block to a frame.
type zstdEncoder struct{ frames *Zstd }

func newZstd(level int) encoder {
	return zstdEncoder{&Zstd{Level: level, Stream: true, Literals: true}}
}

func (z zstdEncoder) encode(dst, block []byte) (Block, error) {
	data, err := z.frames.Append(dst[:0], block)
	return Block{data: data, size: len(block)}, err
}

func (zstdEncoder) header() []byte { return nil }

// trailer returns nothing, or the frame of a stream without data.
func (z zstdEncoder) trailer(_ uint32, size uint64) ([]byte, error) {
	if size > 0 {
		return nil, nil
	}
	return z.frames.Append(nil, nil)
}

// The fields of a seek table: see zstd's
// contrib/seekable_format/zstd_seekable_compression_format.md.
const (
	seekTableMagic   = 0x184D2A5E // of a skippable frame
	seekFooterMagic  = 0x8F92EAB1
	seekChecksumFlag = 0x80
	skippableHeader  = 8  // bytes: magic number and size
	seekEntry        = 12 // bytes, with the checksum
	seekFooter       = 9  // bytes

	// maxSeekTable is the maximum size in bytes of a table that is written, and that
	// source/compressed reads, as a reader keeps the table in memory. zstd's own library would read
	// a table of 2²⁷ frames.
	maxSeekTable = 16 << 20

	// maxSeekFrames is the maximum number of frames in a table: 1,398,099.
	maxSeekFrames = (maxSeekTable - skippableHeader - seekFooter) / seekEntry

	// emptySum is the low half of the XXH64 of no data, as the empty frame has no checksum.
	emptySum = 0x51d8e999
)

// NewSeekable is like New, but a zstd stream ends with a seek table.
func NewSeekable(w io.Writer, c Codec) (*Writer, error) {
	out, err := New(w, c)
	if err == nil && c.Name == "zstd" {
		out.seek = new(seekTable)
	}
	return out, err
}

// A seekTable collects the entries of a stream's seek table.
type seekTable struct {
	entries []byte
	none    bool // a frame did not fit, so the table is left out
}

// add adds an entry for a frame of size bytes of data; the frame ends with their checksum unless
// size is 0.
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

// bytes returns the encoded table, nil if it is left out.
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
