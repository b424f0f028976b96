package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
	"slices"
	"sync"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/columnar"
)

// Numbers of CompressionType in Message.fbs, and one for none.
const (
	codecNone = -1
	codecLZ4  = 0
	codecZstd = 1
)

// Limits of the record batches that are read into memory, in bytes. Polars and pandas write a table
// of 60,000 rows as one batch, and its 785 columns may be int64. Such numbers compress to a
// thirtieth of their size, but a file of some kilobytes must not need a gigabyte of memory: after
// decompression, all buffers together may have maxPlainRatio bytes for each byte of the body, with
// a limit between minPlain and maxPlain.
const (
	maxBody       = 256 << 20
	maxPlain      = 1 << 30 // of all buffers after decompression
	minPlain      = 64 << 20
	maxPlainRatio = 64 // bytes for each byte of the body
)

// maxRatio is the maximum number of bytes that one compressed byte can become, by codec. LZ4 counts
// the length of a match in bytes of up to 255. Zstandard's blocks have at least 4 bytes and become
// up to 128 KiB.
var maxRatio = [...]int64{codecLZ4: 255, codecZstd: 128 << 10 / 4}

// manyBuffers is the minimum number of buffers for which a record batch is read as a whole rather
// than buffer by buffer.
const manyBuffers = 64

// A span is a pair of longs: the offset and the length of a buffer within a body, or the length of
// an array and the number of its nulls.
type span struct{ first, second int64 }

// A batch is a record batch, or the values of a dictionary. Its body need not be in memory.
type batch struct {
	offset int64 // of its message
	first  int64 // row of the file
	rows   int64

	nodes   []span
	buffers []span
	views   []int // number of variadic buffers before view i
	codec   int8
	codecs  *codecs

	size  int64       // bytes of the body
	start int64       // of the body in file
	file  io.ReaderAt // nil in a pipe
	body  []byte      // nil until it is loaded

	dictionaries map[int64]*dictionary // those that the table's columns use, by id

	mu    sync.Mutex     // guards plain and held: Decode may run concurrently
	plain map[int][]byte // buffers that were decompressed
	held  int64          // bytes of these
}

// parseBatch returns the record batch in t, a RecordBatch of Message.fbs. t is the header of m or a
// part of that.
func (d *feed) parseBatch(t flatTable, m message) *batch {
	defer refuseOutside(m.offset)
	const fieldLength, fieldNodes, fieldBuffers, fieldCompression, fieldVariadic = 0, 1, 2, 3, 4
	b := &batch{offset: m.offset, start: m.offset + m.size, size: m.body, rows: t.long(fieldLength), codec: codecNone, codecs: d.codecs,
		nodes: spans(t, fieldNodes), buffers: spans(t, fieldBuffers), plain: map[int][]byte{}}
	if d.file != nil { // a nil source.File would not be a nil io.ReaderAt
		b.file = d.file
	}
	if c, ok := t.table(fieldCompression); ok {
		b.codec = int8(c.byte(0))
	}
	pos, n := t.vector(fieldVariadic, 8)
	b.views = make([]int, n+1)
	for i := range n {
		count := t.GetInt64(pos + flatbuffers.UOffsetT(8*i))
		demand(count >= 0 && count <= int64(len(b.buffers)-b.views[i]), b.offset, "", "a column of views has %d buffers, expected at most the %d of the record batch", count, len(b.buffers))
		b.views[i+1] = b.views[i] + int(count)
	}
	if b.codec < codecNone || b.codec > codecZstd {
		panic(unsupported("", "write it with lz4, zstd or no compression", "found the codec %d, expected lz4 or zstd", b.codec).At(b.offset))
	}
	demand(b.rows >= 0, b.offset, "", "found %d rows", b.rows)
	for i, s := range b.buffers {
		demand(s.first >= 0 && s.second >= 0 && s.first <= b.size-s.second, b.offset, "", "buffer %d is %d bytes at %d, expected it within the %d bytes of the body", i, s.second, s.first, b.size)
	}
	return b
}

// spans returns the structs of two longs in field i.
func spans(t flatTable, i int) []span {
	pos, n := t.vector(i, 16)
	all := make([]span, n)
	for k := range all {
		at := pos + flatbuffers.UOffsetT(16*k)
		all[k] = span{t.GetInt64(at), t.GetInt64(at + 8)}
	}
	return all
}

// direct reports whether rows are read from the file when they are needed, rather than from memory.
func (b *batch) direct() bool {
	return b.body == nil && b.file != nil && b.codec == codecNone && (len(b.buffers) < manyBuffers || b.size > maxBody)
}

// load reads the body from its file or from r, into buf if its capacity is large enough.
func (b *batch) load(r io.Reader, buf []byte) {
	if b.size > maxBody {
		panic(b.tooLarge("in its body", b.size, maxBody))
	}
	if b.file != nil {
		r = io.NewSectionReader(b.file, b.start, b.size)
		buf = slices.Grow(buf[:0], int(b.size)+bytes.MinRead) // the file has that many bytes
	}
	body, err := readBytes(r, buf, int(b.size))
	if err == io.ErrUnexpectedEOF {
		panic(truncated(b.start+int64(len(body)), "the input ends after %d of the %d bytes of a record batch", len(body), b.size))
	}
	check(err)
	b.body = body
}

// tooLarge returns the error for a record batch that needs more memory than the limit.
func (b *batch) tooLarge(where string, found, limit int64) error {
	return unsupported("", "write it in smaller record batches, or, as a file, without compression",
		"the record batch has %d bytes %s, expected at most %d", found, where, limit).At(b.offset)
}

// node returns the length and the number of nulls of the array of f.
func (b *batch) node(f *field) (length, nulls int64) {
	if f.node >= len(b.nodes) {
		panic(damaged(b.offset, "the record batch has %d arrays, expected more than %d", len(b.nodes), f.node))
	}
	s := b.nodes[f.node]
	if s.first < 0 || s.second < 0 || s.second > s.first {
		panic(damaged(b.offset, "found an array of %d values with %d nulls", s.first, s.second).InColumn(f.column))
	}
	return s.first, s.second
}

// checkNulls refuses nulls in f and in its children. perRow is the number of values of f in every
// row, or 0 if it is not known.
func (b *batch) checkNulls(f *field, perRow int64) {
	if b.refuseNulls(f, perRow); f.typeKind == columnar.List {
		perRow *= f.length
		if f.offsetSize > 0 {
			perRow = 0 // lists need not begin at the first value
		}
	}
	for i := range f.children {
		b.checkNulls(&f.children[i], perRow)
	}
}

// refuseNulls refuses nulls in the array of f alone.
func (b *batch) refuseNulls(f *field, perRow int64) {
	n, nulls := b.node(f)
	if nulls == 0 {
		return
	}
	for i, byte := range b.append(nil, f, 0, 0, n/8+min(1, n%8), 1) {
		at := int64(i)*8 + int64(bits.TrailingZeros8(^byte))
		if byte == 0xff || at >= n {
			continue
		}
		e := fault.New(fault.Malformed, "found a null, expected a value").InColumn(f.column).
			WithHint("fill the nulls or remove the rows: IDX has no nulls").Because(columnar.ErrNull)
		if perRow > 0 {
			e.Row = b.first + at/perRow
		}
		panic(e)
	}
}

// variadicBuffers returns the number of variadic buffers of f, a column of views.
func (b *batch) variadicBuffers(f *field) int {
	if f.views+1 >= len(b.views) {
		return 0
	}
	return b.views[f.views+1] - b.views[f.views]
}

// append appends n values of width bytes each from buffer k of f to dst; first is the index of the
// first one.
func (b *batch) append(dst []byte, f *field, k int, first, n, width int64) []byte {
	i := f.buffer + k
	if f.views < len(b.views) {
		i += b.views[f.views]
	}
	if f.views >= len(b.views) || i >= len(b.buffers) {
		panic(damaged(b.offset, "the record batch has %d buffers, including those of %d views, expected more", len(b.buffers), len(b.views)-1))
	}
	where, size, packed := b.locate(i, f)
	if n == 0 || width == 0 {
		return dst
	}
	if first < 0 || first > size/width-n {
		panic(damaged(b.offset, "a buffer has %d bytes, expected %d values of %d bytes after the first %d", size, n, width, first).InColumn(f.column))
	}
	have := len(dst)
	dst = slices.Grow(dst, int(n*width))[:have+int(n*width)]
	added, offset := dst[have:], first*width
	switch {
	case packed && offset == 0 && size == n*width:
		b.decompress(added, where, f)
	case packed:
		copy(added, b.decompressed(i, where, size, f)[offset:])
	case b.body != nil:
		copy(added, b.body[where.first+offset:])
	default:
		_, err := b.file.ReadAt(added, b.start+where.first+offset)
		if errors.Is(err, io.EOF) {
			panic(truncated(b.start+where.first+offset, "the file ends within a record batch: it became shorter while it was read"))
		}
		check(err)
	}
	return dst
}

// plainLimit returns the number of bytes that the buffers may have after decompression.
func (b *batch) plainLimit() int64 { return min(maxPlain, max(minPlain, maxPlainRatio*b.size)) }

// locate returns where buffer i of f is, its size after decompression, and whether it is
// compressed.
func (b *batch) locate(i int, f *field) (where span, size int64, packed bool) {
	where = b.buffers[i]
	if b.codec == codecNone || where.second == 0 {
		return where, where.second, false
	}
	const prefix = 8 // the size after decompression, or -1 if the buffer is not compressed after all
	demand(where.second >= prefix, b.offset, f.column, "a compressed buffer has %d bytes, expected at least %d", where.second, prefix)
	size = int64(binary.LittleEndian.Uint64(b.body[where.first:]))
	if limit := min(maxPlain, maxRatio[b.codec]*where.second); size != -1 && (size < 0 || size > limit) {
		panic(damaged(b.offset, "a buffer of %d compressed bytes has the size %d, expected at most %d", where.second, size, limit).InColumn(f.column))
	}
	if limit := b.plainLimit(); size > limit {
		panic(b.tooLarge("after decompression", size, limit))
	}
	where = span{where.first + prefix, where.second - prefix}
	if size == -1 {
		return where, where.second, false
	}
	return where, size, true
}

// decompressed decompresses buffer i of f and keeps it, because later rows need it again.
func (b *batch) decompressed(i int, where span, size int64, f *field) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if plain := b.plain[i]; plain != nil {
		return plain
	}
	if limit := b.plainLimit(); b.held+size > limit {
		panic(b.tooLarge("after decompression", b.held+size, limit))
	}
	plain := make([]byte, size)
	b.decompress(plain, where, f)
	b.plain[i] = plain
	b.held += size
	return plain
}

// decompress fills dst with the decompressed frame that is at where in the body.
func (b *batch) decompress(dst []byte, where span, f *field) {
	if err := b.codecs.decompress(b.codec, dst, b.body[where.first:where.first+where.second]); err != nil {
		panic(damaged(b.offset, "a buffer cannot be decompressed to %d bytes: %v", len(dst), err).InColumn(f.column))
	}
}

// codecs are the decompressors of a table, for many goroutines.
type codecs struct {
	lz4  sync.Pool // *lz4.Reader
	zstd func() (*zstd.Decoder, error)
}

func newCodecs() *codecs {
	return &codecs{zstd: sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxPlain), zstd.WithDecodeAllCapLimit(true))
	})}
}

// decompress fills dst with the decompressed content of packed, a frame of the codec.
func (c *codecs) decompress(codec int8, dst, packed []byte) error {
	if codec == codecLZ4 {
		return c.decompressLZ4(dst, packed)
	}
	decoder, err := c.zstd()
	if err != nil {
		return err
	}
	plain, err := decoder.DecodeAll(packed, dst[:0:len(dst)])
	if err == nil && len(plain) != len(dst) {
		err = errSize
	}
	return err
}

var errSize = errors.New("it has another size")

func (c *codecs) decompressLZ4(dst, packed []byte) error {
	r, ok := c.lz4.Get().(*lz4.Reader)
	if !ok {
		r = lz4.NewReader(nil)
	}
	defer c.lz4.Put(r)
	r.Reset(bytes.NewReader(packed))
	_, err := io.ReadFull(r, dst)
	if err == nil { // a checksum may follow
		if _, err = r.Read(make([]byte, 1)); err == io.EOF {
			return nil
		}
	}
	if err == nil || err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errSize
	}
	return err
}
