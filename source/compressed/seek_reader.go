package compressed

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"
)

// A SeekReader reads the data of a zstd file that has a [SeekTable], from any offset. It decodes
// whole frames in the order of the file. Before it moves elsewhere, it finishes the current frame
// and verifies its checksum, if any of that frame's data was returned.
//
// It is for one goroutine, except that Close may be called at any time from others.
type SeekReader struct {
	file  io.ReadSeeker
	table *SeekTable

	// Used only by the reading goroutine.
	offset   int64           // of the byte that Read returns next
	nextData int64           // offset of the byte that readNext returns next
	aheadEnd int64           // end of the data that is decoded in advance; 0 means the end of the current frame
	decoding *decoding       // nil before decodeFrom
	frames   *frameDecoder   // the decoder of decoding
	source   *countingReader // the input of frames

	mu     sync.Mutex
	closed bool
	in     *input     // of decoding
	ahead  *readAhead // nil before resume
}

// NewSeekReader returns a reader of file, which has the table t. The file must not be used
// otherwise until Close. The reader starts at offset 0, and decodes no further than the frame being
// read until ReadAhead is called.
func NewSeekReader(file io.ReadSeeker, t *SeekTable) *SeekReader {
	return &SeekReader{file: file, table: t}
}

// ReadAhead tells the reader that the data up to the offset end will be read. Another goroutine
// decodes it in advance, up to the end of the last frame with such data. Data from end on can still
// be read.
func (s *SeekReader) ReadAhead(end int64) { s.aheadEnd = end }

// Seek sets the offset of the next Read in the data, from 0 to the Size of the table. That Read
// seeks in the file, unless the byte is still to come in the frame being read.
func (s *SeekReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += s.offset
	case io.SeekEnd:
		offset += s.table.Size()
	default:
		return s.offset, fmt.Errorf("seek with whence %d, expected 0 to 2: %w", whence, fs.ErrInvalid)
	}
	if offset < 0 || offset > s.table.Size() {
		return s.offset, fmt.Errorf("seek to byte %d of the data, expected 0 to %d: %w", offset, s.table.Size(), fs.ErrInvalid)
	}
	s.offset = offset
	return offset, nil
}

// Read reads data. The errors are those of [Reader.Read]. Before it returns io.EOF, it has compared
// the seek table with the end of the file; if all data was read, every frame and its checksum agree
// with the table. The last bytes of a frame are returned only after its checksum was verified.
func (s *SeekReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := s.moveToOffset(); err != nil {
		return 0, err
	}
	n, err := s.readNext(p)
	s.offset = s.nextData
	return n, err
}

// Finish reads the rest of the frame that contains the byte before the offset of the next Read, to
// verify its checksum. The skipped data is read from the file again if a later Read needs it.
func (s *SeekReader) Finish() error {
	if s.offset == 0 {
		return nil
	}
	if err := s.moveToOffset(); err != nil {
		return err
	}
	return s.finishFrame()
}

// finishFrame reads to the end of the frame that contains the byte before nextData.
func (s *SeekReader) finishFrame() error {
	if s.nextData == 0 {
		return nil
	}
	return s.discard(s.table.frameWith(s.nextData-1).end().data - s.nextData)
}

// moveToOffset decodes up to the offset of the next Read: from the current position, if the offset
// is later in the same frame, and otherwise from the start of the frame at the offset.
func (s *SeekReader) moveToOffset() error {
	if s.decoding != nil && s.offset == s.nextData {
		return nil
	}
	frame := s.table.frameWith(s.offset)
	another := s.decoding != nil && frame.index != s.table.frameWith(s.nextData).index
	if another {
		if err := s.finishFrame(); err != nil {
			return err
		}
	}
	if s.decoding == nil || another || s.offset < s.nextData {
		if s.offset == 0 { // it may be preceded by frames without data
			frame = seekFrame{}
		}
		if err := s.decodeFrom(frame.index, frame.start); err != nil {
			return err
		}
	}
	return s.discard(s.offset - s.nextData)
}

// decodeFrom begins to decode at frame i, which begins at start.
func (s *SeekReader) decodeFrom(i int, start position) error {
	if err := s.halt(); err != nil {
		return err
	}
	if _, err := s.file.Seek(start.packed, io.SeekStart); err != nil {
		return err
	}
	s.nextData = start.data
	s.frames = &frameDecoder{table: s.table, index: i, next: start, stop: i}
	s.source = &countingReader{r: s.file, offset: start.packed, limit: start.packed}
	in := &input{r: s.source}
	in.taken.Store(start.packed)
	s.decoding = newDecoding(formatInfo{format: Zstd, name: Zstd.String(), open: s.frames.open}, in)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.in = in
	if err := s.resume(); err != nil {
		s.decoding = nil
		return err
	}
	return nil
}

// halt ends the decoding and waits for its goroutine, so that the file is not in use.
func (s *SeekReader) halt() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fs.ErrClosed
	}
	if a := s.ahead; a != nil {
		s.in.close()
		a.halt()
		s.mu.Unlock()
		<-a.done
		s.mu.Lock()
	}
	s.ahead, s.decoding = nil, nil
	return nil
}

// resume begins or continues decoding, up to the end of the next frame that has data, or as far as
// ReadAhead allows. The caller holds the lock.
func (s *SeekReader) resume() error {
	if s.closed {
		return fs.ErrClosed
	}
	f := s.frames
	switch {
	case s.aheadEnd == 0:
		f.stop = s.table.frameWith(f.next.data).index + 1
	case s.aheadEnd >= s.table.Size() || f.next.data >= s.aheadEnd: // aheadEnd is the end of the data, or was passed
		f.stop = -1
	default:
		f.stop = s.table.frameWith(s.aheadEnd-1).index + 1
	}
	s.source.limit = f.limit()
	if s.ahead == nil {
		s.ahead = startReadAhead(s.decoding)
	} else {
		s.ahead.resume(s.decoding)
	}
	return nil
}

// readNext reads the data at offset nextData, which need not be the offset of the next Read.
func (s *SeekReader) readNext(p []byte) (int, error) {
	for {
		n, err := s.ahead.read(p)
		s.nextData += int64(n)
		if err != errPaused {
			return n, err
		}
		s.mu.Lock()
		err = s.resume()
		s.mu.Unlock()
		if err != nil {
			return 0, err
		}
	}
}

func (s *SeekReader) discard(n int64) error {
	_, err := io.CopyN(io.Discard, nextReader{s}, n)
	return noEOF(err)
}

// nextReader is an io.Reader that calls readNext.
type nextReader struct{ s *SeekReader }

func (r nextReader) Read(p []byte) (int, error) { return r.s.readNext(p) }

// Close stops the decompression, like [Reader.Close]. It does not close the file.
func (s *SeekReader) Close() error {
	s.mu.Lock()
	s.closed = true
	in, a := s.in, s.ahead
	s.mu.Unlock()
	if a != nil {
		a.close(in.close())
	}
	return nil
}

// A countingReader counts the bytes that it reads from r, and reads no byte at or after limit. The
// user raises limit before it needs more.
type countingReader struct {
	r             io.Reader
	offset, limit int64 // counted from where the user set offset
}

func (c *countingReader) Read(p []byte) (int, error) {
	if c.limit < math.MaxInt64 {
		p = p[:min(int64(len(p)), c.limit-c.offset)]
	}
	n, err := c.r.Read(p)
	c.offset += int64(n)
	return n, err
}

// errPaused is the error of a frameDecoder that has reached the frame before which it pauses.
var errPaused = errors.New("paused")

// A frameDecoder decodes the frames of a seek table, one after another, and compares each with its
// entry. It returns the last bytes of a frame only after it has verified the checksum. After the
// last frame it compares the table with the end of the input.
type frameDecoder struct {
	table *SeekTable
	next  position // where the next frame begins
	index int      // of the next frame
	stop  int      // index of the frame before which it pauses, or −1

	in      *bufio.Reader
	decoder *zstd.Decoder

	// The current frame.
	frame   *frameInput // its compressed bytes; nil between frames
	left    int64       // bytes of data not yet decoded
	wantSum uint32      // expected checksum of the data, if the table has one
	hash    hash.Hash64 // of the data; nil if the frame has its own checksum, or the table has none
}

// open implements formatInfo.open.
func (f *frameDecoder) open(in *bufio.Reader, _ func() bool) (io.Reader, error) {
	decoder, err := newZstdDecoder(nil)
	if err != nil {
		return nil, err
	}
	f.in, f.decoder = in, decoder
	return f, nil
}

// limit returns the offset in the file of the next pause.
func (f *frameDecoder) limit() int64 {
	if f.stop < 0 || f.stop > f.table.frames {
		return math.MaxInt64
	}
	return f.table.frameStart(f.stop).packed
}

// Read skips any number of frames without data.
func (f *frameDecoder) Read(p []byte) (int, error) {
	for {
		switch {
		case f.frame != nil && f.left > 0:
			return f.readFrame(p)
		case f.frame != nil:
			if err := f.closeFrame(); err != nil {
				return 0, err
			}
		case f.index == f.stop:
			return 0, errPaused
		case f.index == f.table.frames:
			return 0, f.checkTable()
		default:
			if err := f.openFrame(); err != nil {
				return 0, err
			}
		}
	}
}

func (f *frameDecoder) openFrame() error {
	frame := f.table.frame(f.index, f.next)
	head, err := f.in.Peek(int(min(frame.packedSize, 5)))
	if err != nil {
		f.in.Discard(len(head)) // marks all input as decoded, so that the error is that of the input
		return noEOF(err)
	}
	f.left = frame.size
	f.hash = nil
	if sum, ok := f.table.checksum(f.index); ok && f.left > 0 {
		f.wantSum = sum
		f.hash = xxhash.New()
	}
	f.frame = &frameInput{in: io.LimitedReader{R: f.in, N: frame.packedSize}, keep: hasChecksum(head) && f.hash != nil}
	if f.frame.keep {
		f.hash = nil
	}
	return f.decoder.Reset(f.frame)
}

// hasChecksum reports whether a frame that begins with head, 5 bytes, ends with a checksum (RFC
// 8878, 3.1.1.1.1).
func hasChecksum(head []byte) bool {
	const contentChecksumFlag = 1 << 2
	return len(head) == 5 && bytes.HasPrefix(head, []byte(zstdMagic)) && head[4]&contentChecksumFlag != 0
}

// readFrame reads some data of the current frame. It returns the last bytes only if the whole frame
// is right.
func (f *frameDecoder) readFrame(p []byte) (int, error) {
	n, err := f.decoder.Read(p[:min(int64(len(p)), f.left)])
	f.left -= int64(n)
	if f.hash != nil {
		f.hash.Write(p[:n])
	}
	if f.left == 0 {
		if err := f.closeFrame(); err != nil {
			return 0, err
		}
		return n, nil
	}
	if err == io.EOF {
		size := f.table.frame(f.index, f.next).size
		return 0, corrupt("frame %d holds %d bytes of data, expected %d, as the seek table says", f.index, size-f.left, size)
	}
	return n, f.classify(err)
}

// closeFrame checks that the frame ends, and compares its checksum with that of the table.
func (f *frameDecoder) closeFrame() error {
	frame := f.table.frame(f.index, f.next)
	var one [1]byte
	n, err := f.decoder.Read(one[:])
	if n > 0 {
		return corrupt("frame %d holds more than %d bytes of data, expected no more, as the seek table says", f.index, frame.size)
	}
	if err != io.EOF {
		return f.classify(err)
	}
	found := f.wantSum
	switch {
	case f.hash != nil:
		found = uint32(f.hash.Sum64())
	case f.frame.keep: // verified by the decoder
		found = binary.LittleEndian.Uint32(f.frame.last[:])
	}
	if found != f.wantSum {
		return corrupt("found frame %d with the checksum %08x, expected %08x, as the seek table says", f.index, found, f.wantSum)
	}
	f.frame, f.next, f.index = nil, frame.end(), f.index+1
	return nil
}

// classify turns the error for an early end into one for corrupt data if the frame continues beyond
// its end in the table. Otherwise the input itself ends early, and err is returned.
func (f *frameDecoder) classify(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) && f.frame.in.N == 0 {
		end := f.table.frame(f.index, f.next).end().packed
		return corrupt("frame %d continues at byte %d, expected its end there, as the seek table says", f.index, end)
	}
	return err
}

// checkTable checks that the rest of the input is the seek table.
func (f *frameDecoder) checkTable() error {
	buf := make([]byte, min(len(f.table.raw), 4<<10))
	for want := f.table.raw; len(want) > 0; {
		found := buf[:min(len(buf), len(want))]
		if _, err := io.ReadFull(f.in, found); err != nil {
			return noEOF(err)
		}
		if !bytes.HasPrefix(want, found) {
			return corrupt("the seek table has changed since it was first read")
		}
		want = want[len(found):]
	}
	if _, err := f.in.ReadByte(); err != nil {
		return err
	}
	return corrupt("extra data after the seek table")
}

// Close releases the decoder.
func (f *frameDecoder) Close() error {
	f.decoder.Close()
	return nil
}

// frameInput reads a frame and, if keep is set, remembers its last four bytes.
type frameInput struct {
	in   io.LimitedReader
	keep bool
	last [4]byte
}

func (l *frameInput) Read(p []byte) (int, error) {
	n, err := l.in.Read(p)
	switch {
	case !l.keep:
	case n >= len(l.last):
		copy(l.last[:], p[n-len(l.last):n])
	default:
		copy(l.last[:], l.last[n:])
		copy(l.last[len(l.last)-n:], p[:n])
	}
	return n, err
}
