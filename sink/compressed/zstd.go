package compressed

import (
	"encoding/binary"
	"io"
	"math"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Zstd makes frames of blocks. It is safe on many goroutines, and keeps as many of the library's encoders as ever were at work at once.
//
// The library's own way, one encoder that is told how many may work at once, makes all of them at the first block and uses them in turn; a
// sync.Pool keeps up to one more for each processor. With tens of MiB each, memory would grow with the processors, not with the workers:
// at level 19, with 2 workers and GOMAXPROCS 16, MNIST's test images took 306 MiB the first way (IDX) and 197 MiB the second (Parquet), against
// 88 and 93 MiB.
type Zstd struct {
	options []zstd.EOption

	mu   sync.Mutex
	free []*zstd.Encoder
}

// NewZstd returns the Zstd of a level, 1 to 22; 0 is the default.
func NewZstd(level int, options ...zstd.EOption) *Zstd {
	return &Zstd{options: append([]zstd.EOption{zstd.WithEncoderLevel(zstdSpeed(level)), zstd.WithEncoderConcurrency(1)}, options...)}
}

// slowestZstd is the speed whose encoders are large.
const slowestZstd = zstd.SpeedBestCompression

// zstdSpeed is the nearest speed that the library has.
func zstdSpeed(level int) zstd.EncoderLevel {
	if level == 0 {
		level = defaultZstdLevel
	}
	return zstd.EncoderLevelFromZstd(level)
}

// Append appends the frame of block to dst.
func (z *Zstd) Append(dst, block []byte) ([]byte, error) {
	e, err := z.take()
	if err != nil {
		return dst, err
	}
	defer z.give(e)
	return e.EncodeAll(block, dst), nil
}

func (z *Zstd) take() (*zstd.Encoder, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	last := len(z.free) - 1
	if last < 0 {
		return zstd.NewWriter(nil, z.options...)
	}
	e := z.free[last]
	z.free = z.free[:last]
	return e, nil
}

func (z *Zstd) give(e *zstd.Encoder) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.free = append(z.free, e)
}

// A zstdEncoder makes a frame of each block.
type zstdEncoder struct{ frames *Zstd }

func newZstd(level int) encoder {
	return zstdEncoder{NewZstd(level,
		zstd.WithEncoderCRC(true),
		zstd.WithAllLitEntropyCompression(true), // labels repeat no sequences; without it the fast levels store them as they are
		zstd.WithZeroFrames(true))}              // for a stream of nothing
}

func (z zstdEncoder) encode(dst, block []byte) (Block, error) {
	data, err := z.frames.Append(dst[:0], block)
	return Block{data: data, size: len(block)}, err
}

func (zstdEncoder) header() []byte { return nil }

// trailer is empty, unless the stream is.
func (z zstdEncoder) trailer(_ uint32, size uint64) ([]byte, error) {
	if size > 0 {
		return nil, nil
	}
	return z.frames.Append(nil, nil)
}

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
