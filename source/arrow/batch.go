package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/idxport/idxport/fault"
)

// Numbers of CompressionType in Message.fbs, and none.
const (
	codecNone = -1
	codecLZ4  = 0
	codecZstd = 1
)

// maxBody is the most bytes of a record batch that is read into memory. Uncompressed batches of a plain file are not: their rows are read where they are.
// maxPlain is the most bytes of its buffers after decompression: polars and pandas write a table of 60,000 rows as one batch, and its 785 columns may be int64.
// A small body does not become as much: see plainLimit.
const (
	maxBody    = 256 << 20
	maxPlain   = 1 << 30
	leastPlain = 64 << 20
	mostPacked = 64 // times; 60,000 images of MNIST as int64 are packed 30 times
)

// plainLimit is the most bytes that the buffers of b may have after decompression: a file of some kilobytes must not take the memory of a gigabyte, whatever a
// codec can do with zeros.
func (b *batch) plainLimit() int64 { return min(maxPlain, max(leastPlain, mostPacked*b.size)) }

// manyBuffers is from how many buffers on a batch is read as a whole, if it is not too large, rather than each by itself.
const manyBuffers = 64

// A span is a part of a batch's body, or the length of an array and how many of its values are null.
type span struct{ first, second int64 }

// A batch is a record batch: where its arrays are, and, once it was loaded, their bytes.
type batch struct {
	path   string // of its file, for errors
	offset int64  // of its message within the file
	first  int64  // row of the file
	rows   int64

	nodes   []span // length, nulls
	buffers []span // offset in the body, length
	views   []int  // buffers of values of the views before view i
	codec   int8
	size    int64 // bytes of the body

	codecs *codecs

	dictionaries map[int64]*dictionary  // of the feed, as long as this is its current batch
	found        map[*field]*dictionary // those that columns use

	at    io.ReaderAt // if not nil, the body is there, from start on
	start int64
	body  []byte // or here, once it is loaded

	once   bool // its rows are taken all at once: decompressed buffers need not be kept
	mu     sync.Mutex
	plain  map[int]*plainBuffer // decompressed buffers
	memory int64                // bytes of these
}

// A plainBuffer is a buffer after decompression. Many goroutines may want it; the first decompresses it.
type plainBuffer struct {
	once  sync.Once
	bytes []byte
	err   error
}

// parseBatch reads a RecordBatch of Message.fbs, of the message at offset with a body of size bytes.
func parseBatch(t flatTable, offset, size int64) (*batch, error) {
	const (
		fieldLength      = 0
		fieldNodes       = 1
		fieldBuffers     = 2
		fieldCompression = 3
		fieldVariadic    = 4
	)
	b := &batch{offset: offset, rows: t.long(fieldLength), size: size, codec: codecNone}
	b.nodes, b.buffers = spans(t, fieldNodes), spans(t, fieldBuffers)
	if c, ok := t.table(fieldCompression); ok {
		b.codec = int8(c.byte(0))
	}
	pos, n := t.vector(fieldVariadic, 8)
	b.views = make([]int, n+1)
	for i := range n {
		count := t.int64(pos + 8*i)
		if count < 0 || count > int64(len(b.buffers)-b.views[i]) {
			return nil, damaged(offset, "a column of views has %d buffers, expected at most the %d of the record batch", count, len(b.buffers))
		}
		b.views[i+1] = b.views[i] + int(count)
	}
	if t.bad {
		return nil, damaged(offset, "the record batch points outside of its message")
	}
	if b.codec != codecNone && b.codec != codecLZ4 && b.codec != codecZstd {
		return nil, unsupported("", "write it with lz4, zstd or no compression", "found the codec %d, expected lz4 or zstd", b.codec).At(offset)
	}
	if b.rows < 0 {
		return nil, damaged(offset, "found %d rows", b.rows)
	}
	for i, s := range b.buffers {
		if s.first < 0 || s.second < 0 || s.first > size-s.second {
			return nil, damaged(offset, "buffer %d is %d bytes at %d, expected it inside of the %d bytes of the body", i, s.second, s.first, size)
		}
	}
	return b, nil
}

// spans are the structs of two longs of field i.
func spans(t flatTable, i int) []span {
	pos, n := t.vector(i, 16)
	all := make([]span, n)
	for k := range all {
		all[k] = span{t.int64(pos + 16*k), t.int64(pos + 16*k + 8)}
	}
	return all
}

// node is the length and the number of nulls of f's array.
func (b *batch) node(f *field) (span, error) {
	if f.node >= len(b.nodes) {
		return span{}, damaged(b.offset, "the record batch has %d arrays, expected more than %d", len(b.nodes), f.node)
	}
	s := b.nodes[f.node]
	if s.first < 0 || s.second < 0 || s.second > s.first {
		return span{}, damaged(b.offset, "an array has %d values and %d nulls", s.first, s.second)
	}
	return s, nil
}

// buffer is the index of f's k-th buffer.
func (b *batch) buffer(f *field, k int) (int, error) {
	if f.views >= len(b.views) {
		return 0, damaged(b.offset, "the record batch counts the buffers of %d columns of views, expected more", len(b.views)-1)
	}
	i := f.buffer + b.views[f.views] + k
	if i >= len(b.buffers) {
		return 0, damaged(b.offset, "the record batch has %d buffers, expected more than %d", len(b.buffers), i)
	}
	return i, nil
}

// viewed is the number of buffers that hold the values of f, a column of views.
func (b *batch) viewed(f *field) int {
	if f.views+1 >= len(b.views) {
		return 0
	}
	return b.views[f.views+1] - b.views[f.views]
}

// direct tells that rows are read from the file as they are wanted.
func (b *batch) direct() bool {
	return b.body == nil && b.at != nil && b.codec == codecNone && (len(b.buffers) < manyBuffers || b.size > maxBody)
}

// length is the number of bytes of the buffer of f, as they are before compression.
func (b *batch) length(f *field, k int) (int64, error) {
	i, err := b.buffer(f, k)
	if err != nil {
		return 0, err
	}
	where := b.buffers[i]
	if b.codec == codecNone || where.second == 0 {
		return where.second, nil
	}
	if where.second < 8 {
		return 0, damaged(b.offset, "a compressed buffer has %d bytes, expected at least 8", where.second).InColumn(f.name)
	}
	size := int64(binary.LittleEndian.Uint64(b.body[where.first:]))
	if size == -1 { // not compressed, as that would have made it longer
		return where.second - 8, nil
	}
	if size < 0 || size > maxPlain {
		return 0, damaged(b.offset, "a compressed buffer claims %d bytes, expected at most %d", size, maxPlain).InColumn(f.name)
	}
	if err := b.plausible(size, int(where.second), f); err != nil {
		return 0, err
	}
	if limit := b.plainLimit(); size > limit {
		return 0, b.tooLarge("after decompression more than", limit)
	}
	return size, nil
}

// bytes are n bytes from the given one on of the buffer of f, as they are before compression: in buf, if that is large enough.
func (b *batch) bytes(buf []byte, f *field, k int, from, n int64) ([]byte, error) {
	size, err := b.length(f, k)
	if err != nil {
		return buf, err
	}
	if from < 0 || n < 0 || from > size-n {
		return buf, b.short(f, from, n, size)
	}
	buf = grow(buf, int(n))
	return buf, b.read(buf, f, k, from)
}

// read fills dst with the bytes from the given one on of the buffer of f, as they are before compression.
func (b *batch) read(dst []byte, f *field, k int, from int64) error {
	size, err := b.length(f, k)
	if err != nil || len(dst) == 0 {
		return err
	}
	if from < 0 || from > size-int64(len(dst)) {
		return b.short(f, from, int64(len(dst)), size)
	}
	i, _ := b.buffer(f, k) // was found
	where := b.buffers[i]
	if b.codec == codecNone {
		return b.raw(dst, where.first+from)
	}
	packed := b.body[where.first+8 : where.first+where.second]
	switch {
	case int64(binary.LittleEndian.Uint64(b.body[where.first:])) == -1:
		copy(dst, packed[from:])
		return nil
	case b.once && from == 0 && size == int64(len(dst)):
		return b.inflate(dst, packed, f)
	}
	plain, err := b.decompressed(i, packed, size, f)
	if err != nil {
		return err
	}
	copy(dst, plain[from:])
	return nil
}

func (b *batch) short(f *field, from, n, size int64) error {
	return damaged(b.offset, "a buffer of the record batch has %d bytes, expected %d", size, from+n).InColumn(f.name)
}

// raw fills dst with the bytes from the given one on of the body.
func (b *batch) raw(dst []byte, from int64) error {
	if b.body != nil {
		copy(dst, b.body[from:])
		return nil
	}
	_, err := b.at.ReadAt(dst, b.start+from)
	if errors.Is(err, io.EOF) {
		return truncated(b.start+from, "the file ends inside of a record batch: it became shorter while it was read")
	}
	return err
}

// decompressed is buffer i, which is packed, after decompression to size bytes. It is kept, as there will be others who want a part of it.
func (b *batch) decompressed(i int, packed []byte, size int64, f *field) ([]byte, error) {
	b.mu.Lock()
	p := b.plain[i]
	if p == nil {
		p = new(plainBuffer)
		b.plain[i] = p
		b.memory += size
	}
	limit := b.plainLimit()
	over := b.memory > limit
	b.mu.Unlock()
	if over {
		return nil, b.tooLarge("after decompression more than", limit)
	}
	p.once.Do(func() {
		p.bytes = make([]byte, size)
		p.err = b.inflate(p.bytes, packed, f)
	})
	return p.bytes, p.err
}

// tooLarge is the error for a batch that does not fit the memory that one may take.
func (b *batch) tooLarge(what string, most int64) error {
	return unsupported("", "write it in smaller record batches, or, as a file, without compression",
		"a record batch has %s %d bytes, expected no more", what, most).At(b.offset)
}

// load reads the body from r, into buf if that is large enough.
func (b *batch) load(r io.Reader, buf []byte) error {
	if b.size > maxBody {
		return b.tooLarge(fmt.Sprintf("%d bytes, more than", b.size), maxBody)
	}
	if b.at != nil { // its size was compared with the file's
		b.body = grow(buf, int(b.size))
		body := b.body
		b.body = nil
		err := b.raw(body, 0)
		b.body = body
		b.plain = map[int]*plainBuffer{}
		return err
	}
	body, err := readBytes(r, buf, int(b.size))
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return truncated(b.start+int64(len(body)), "the input ends after %d of the %d bytes of a record batch", len(body), b.size)
	}
	b.body, b.plain = body, map[int]*plainBuffer{}
	return err
}

// block is the most memory that is taken before the bytes for it have come.
const block = 4 << 20

// readBytes reads n bytes from r, into buf if that is large enough. Memory grows with what comes, not with n.
func readBytes(r io.Reader, buf []byte, n int) ([]byte, error) {
	if n <= max(cap(buf), block) {
		buf = grow(buf, n)
		got, err := io.ReadFull(r, buf)
		return buf[:got], err
	}
	buf = buf[:0]
	for len(buf) < n {
		have := len(buf)
		if have == cap(buf) {
			more := make([]byte, have, min(n, max(2*have, block)))
			copy(more, buf)
			buf = more
		}
		got, err := io.ReadFull(r, buf[have:min(n, cap(buf))])
		buf = buf[:have+got]
		if err != nil {
			return buf, err
		}
	}
	return buf, nil
}

// grow is buf with length n, made anew if it is too small. Its contents are not kept, and it is not nil.
func grow(buf []byte, n int) []byte {
	if buf == nil || cap(buf) < n {
		return make([]byte, n)
	}
	return buf[:n]
}

// The most bytes that one compressed byte can stand for. LZ4 counts the length of a match in bytes of up to 255. Zstandard's blocks have 4 bytes at
// least, and become 128 KiB at most.
const (
	mostLZ4  = 255
	mostZstd = 128 << 10 / 4
)

// codecs are the decompressors of a table. They are safe on many goroutines, and have none of their own.
type codecs struct {
	lz4  sync.Pool // *lz4.Reader
	once sync.Once
	zstd *zstd.Decoder // made on first use
	err  error
}

// plausible refuses a claim of size bytes that n compressed bytes cannot keep, before memory is taken for it.
func (b *batch) plausible(size int64, n int, f *field) error {
	most := int64(mostLZ4)
	if b.codec == codecZstd {
		most = mostZstd
	}
	if size > most*int64(n) {
		return damaged(b.offset, "a buffer of %d compressed bytes claims %d, expected at most %d", n, size, most*int64(n)).InColumn(f.name)
	}
	return nil
}

// inflate fills dst with what packed, a frame of the batch's codec, stands for.
func (b *batch) inflate(dst, packed []byte, f *field) error {
	var err error
	if b.codec == codecLZ4 {
		err = b.codecs.inflateLZ4(dst, packed)
	} else {
		err = b.codecs.inflateZstd(dst, packed)
	}
	if err != nil {
		return damaged(b.offset, "a buffer of the record batch cannot be decompressed to %d bytes: %v", len(dst), err).InColumn(f.name)
	}
	return nil
}

var errLength = errors.New("it has another length")

func (c *codecs) inflateLZ4(dst, packed []byte) error {
	r, ok := c.lz4.Get().(*lz4.Reader)
	if !ok {
		r = lz4.NewReader(nil)
	}
	defer c.lz4.Put(r)
	r.Reset(bytes.NewReader(packed))
	if _, err := io.ReadFull(r, dst); err == io.EOF || err == io.ErrUnexpectedEOF {
		return errLength
	} else if err != nil {
		return err
	}
	var one [1]byte
	if _, err := io.ReadFull(r, one[:]); err == nil {
		return errLength
	} else if err != io.EOF {
		return err
	}
	return nil
}

func (c *codecs) inflateZstd(dst, packed []byte) error {
	c.once.Do(func() {
		c.zstd, c.err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxPlain), zstd.WithDecodeAllCapLimit(true))
	})
	if c.err != nil {
		return c.err
	}
	made, err := c.zstd.DecodeAll(packed, dst[:0:len(dst)])
	if err == nil && len(made) != len(dst) {
		err = errLength
	}
	return err
}

// unknown stands for a row or an offset that is not known.
const unknown = -1

// damaged is an error about the message at offset.
func damaged(offset int64, message string, values ...any) *fault.Error {
	return fault.New(fault.Malformed, message, values...).At(offset).
		WithHint("the file is damaged, or its writer is; write it again, or download it again")
}

// truncated is the error for an input that ends at offset.
func truncated(offset int64, message string, values ...any) *fault.Error {
	return fault.New(fault.Truncated, message, values...).At(offset).
		WithHint("the file is incomplete; write it again, or download it again")
}

// unsupported is the error for a column that is no column of an IDX file.
func unsupported(column, advice, message string, values ...any) *fault.Error {
	return fault.New(fault.Unsupported, message, values...).InColumn(column).WithHint("%s", advice)
}

// wrong is the error for a value of a column, in a row of a record batch, or in one of its rows if row is −1.
func wrong(b *batch, column string, row int64, message string, values ...any) *fault.Error {
	e := fault.New(fault.Malformed, message, values...).InColumn(column)
	if row >= 0 {
		e.Row = b.first + row
	}
	return e
}
