package compressed

import (
	"cmp"
	"hash/crc32"
	"io"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/idxport/idxport/internal/fault"
)

// A Block is a compressed piece of the data, ready for Append.
type Block struct {
	data []byte // compressed
	size int    // bytes before compression
	crc  uint32 // of the bytes before compression, if the trailer needs it

	memory *[]byte    // of data, nil if it belongs to the caller of Encode
	pool   *sync.Pool // of memory
}

// A Writer writes one stream.
type Writer struct {
	Codec      Codec // as NewWriter got it
	w          io.Writer
	encoder    encoder
	buffers    sync.Pool // of *[]byte: see Buffer
	compressed sync.Pool // of *[]byte: blocks until they are written

	// Used by Append and Close only.
	header []byte // of the stream, nil once it is written
	size   uint64 // bytes so far, before compression
	crc    uint32 // of these bytes
	err    error  // of the first write that failed
}

// Encode compresses data. For "none", the Block refers to data, which the caller must not change
// until Append has returned. Empty data adds nothing to the stream. Concurrent use is safe.
func (w *Writer) Encode(data []byte) Block {
	b := Block{data: data, size: len(data)}
	if w.encoder.encode == nil || len(data) == 0 {
		return b
	}
	if w.encoder.sums {
		b.crc = crc32.ChecksumIEEE(data)
	}
	b.memory, b.pool = Take(&w.compressed, len(data)/2), &w.compressed
	*b.memory = w.encoder.encode(*b.memory, data)
	b.data = *b.memory
	return b
}

// AppendData compresses data and writes it: Encode and Append in one.
func (w *Writer) AppendData(data []byte) error { return w.Append(w.Encode(data)) }

// Buffer returns an empty buffer with room for n bytes, for EncodeBuffer. Concurrent use is safe.
func (w *Writer) Buffer(n int) *[]byte { return Take(&w.buffers, n) }

// EncodeBuffer is Encode for the contents of a buffer, which must not be used afterwards.
func (w *Writer) EncodeBuffer(buffer *[]byte) Block {
	b := w.Encode(*buffer)
	if w.encoder.encode == nil {
		b.memory, b.pool = buffer, &w.buffers
	} else {
		w.buffers.Put(buffer)
	}
	return b
}

// Take returns an empty slice from pool, whose elements are *[]byte, with a capacity of at least n
// bytes. The pool loses the memory of blocks that are never appended.
func Take(pool *sync.Pool, n int) *[]byte {
	b, ok := pool.Get().(*[]byte)
	if !ok {
		b = new([]byte)
	}
	if *b = (*b)[:0]; cap(*b) < n {
		*b = make([]byte, 0, n) // slices.Grow allocates twice as much under the race detector
	}
	return b
}

// Append writes b. It is called for one block at a time, in the order of the data. After an error
// of the underlying writer, Append and Close return that error and write nothing.
func (w *Writer) Append(b Block) error {
	if b.memory != nil {
		defer b.pool.Put(b.memory)
	}
	w.begin()
	w.write(b.data)
	w.crc = combineCRC32(w.crc, b.crc, int64(b.size))
	w.size += uint64(b.size)
	return w.err
}

// Close writes the end of the stream. It does not close the underlying writer.
func (w *Writer) Close() error {
	w.begin()
	if w.encoder.trailer != nil {
		w.write(w.encoder.trailer(w.crc, w.size))
	}
	return w.err
}

// Reset starts another stream, in out. Blocks that were already encoded may be appended to it.
func (w *Writer) Reset(out io.Writer) {
	w.w, w.header, w.size, w.crc, w.err = out, w.encoder.header, 0, 0, nil // Encode may be reading the other fields
}

// begin writes the header, once.
func (w *Writer) begin() {
	w.write(w.header)
	w.header = nil
}

func (w *Writer) write(p []byte) {
	if w.err != nil || len(p) == 0 {
		return
	}
	n, err := w.w.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	w.err = err
}

// A Codec is a compression and its level. The zero value does not compress.
type Codec struct {
	// Name is "none", "gzip" or "zstd" for a Writer; empty means "none". Formats with their own
	// tables have other names and another default.
	Name string

	// Level is 1 (fast) to 9 for gzip and 1 to 22 for zstd, whose encoder has four speeds (levels
	// 1, 3, 7 and 11) and uses the nearest. 0 is the default: 3 for gzip and 1 for zstd, which then
	// uses another encoder for blocks with runs (see [ZstdEncoder]).
	Level int
}

// Plain reports whether c does not compress.
func (c Codec) Plain() bool { return c.Name == "" || c.Name == "none" }

// EncoderSize returns the approximate maximum number of bytes that an encoder of c keeps between
// blocks, on each goroutine that compresses: 51 MiB for zstd from level 10 on, of which 34 MiB are
// hash tables and the rest is history. For all others, it returns 0, as they keep about as much as
// a few batches: the other speeds of zstd 1.9, 3.4 and 5.9 MiB; gzip and LZ4 below 1.4 MiB.
func (c Codec) EncoderSize() int64 {
	if c.Name == "zstd" && zstd.EncoderLevelFromZstd(c.Level) == zstd.SpeedBestCompression {
		return 51 << 20
	}
	return 0
}

// Measured on 8 MiB of MNIST's images and on their CSV, in blocks of 1 MiB, one core. gzip at level
// 3: 274 and 371 MB/s, 21.9 % and 13.6 % of the size; level 6: 177 and 233 MB/s for 21.6 % and 12.5
// %; level 1: 340 and 424 MB/s for 22.9 % and 14.0 %. zstd at level 1: 341 and 391 MB/s, 21.5 % and
// 14.3 %; level 3: 242 and 322 MB/s for 21.5 % and 13.2 %. The default of zstd is its level 1.
const defaultGzipLevel = 3

// An encoder compresses blocks for a Writer. The zero value is that of "none".
type encoder struct {
	header []byte // of a stream
	// encode appends block, which is not empty, compressed. It is safe for concurrent use.
	encode func(dst, block []byte) []byte
	sums   bool // trailer needs the CRC32
	// trailer returns the end of a stream of size bytes with the given CRC32.
	trailer func(crc uint32, size uint64) []byte
}

// NewWriter returns a Writer of a stream to w. It does not write yet. The error for an unknown
// codec or level lists the choices.
func NewWriter(w io.Writer, c Codec) (*Writer, error) {
	none := func(int) encoder { return encoder{} }
	e, err := Find([]Choice[encoder]{{"none", 0, none}, {"gzip", 9, newGzip}, {"zstd", 22, newZstd}}, c)
	if err != nil {
		return nil, err
	}
	return &Writer{Codec: c, w: w, encoder: e, header: e.header}, nil
}

// A Choice is a row of a format's table of codecs. The first row is the default.
type Choice[T any] struct {
	Name     string
	MaxLevel int               // levels are 1 to MaxLevel; 0 if there are none
	Make     func(level int) T // level 0 is the codec's default
}

// Names lists the names in table.
func Names[T any](table []Choice[T]) []string {
	names := make([]string, len(table))
	for i, choice := range table {
		names[i] = choice.Name
	}
	return names
}

// Find returns the codec for c; an empty name selects the first of table. Errors list the choices.
func Find[T any](table []Choice[T], c Codec) (found T, err error) {
	c.Name = cmp.Or(c.Name, table[0].Name)
	for _, choice := range table {
		if choice.Name != c.Name {
			continue
		}
		if c.Level >= 0 && c.Level <= choice.MaxLevel {
			return choice.Make(c.Level), nil
		}
		if choice.MaxLevel == 0 {
			return found, fault.New(fault.Usage, "compression %s: found level %d, but it has no levels",
				c.Name, c.Level)
		}
		return found, fault.New(fault.Usage, "compression %s: found level %d, expected 1 to %d",
			c.Name, c.Level, choice.MaxLevel)
	}
	return found, fault.New(fault.Usage, "no such compression: %q, expected one of %s",
		c.Name, strings.Join(Names(table), ", "))
}
