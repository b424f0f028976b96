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

// A SeekReader reads the data of a zstd file that has a [SeekTable], from any offset. It reads the
// file in order: whole frames, from the one with the first byte that is read. It moves to another
// frame only after it has read the current one, if any of its data was returned, to its end and
// verified its checksum.
//
// It is for one goroutine, except that Close may be called at any time from others.
type SeekReader struct {
	file  io.ReadSeeker
	table *SeekTable

	// Used only by the reading goroutine.
	offset   int64     // of the byte that Read returns next
	decoded  int64     // offset of the byte that is decoded next
	until    int64     // the data before it is decoded in advance; 0: at most one frame with data
	decoding *decoding // nil before restart
	frames   *frames   // what decoding decodes
	bound    *bounded  // what frames are read from

	mu     sync.Mutex
	closed bool
	in     *input // of decoding
	ahead  *ahead // nil before start
}

// NewSeekReader returns a reader of file, which has the table t. It takes over file until it is
// closed. It starts with the first frame, and reads nothing beyond the frame of the data that is
// read, until ReadAhead is called.
func NewSeekReader(file io.ReadSeeker, t *SeekTable) *SeekReader {
	return &SeekReader{file: file, table: t}
}

// ReadAhead tells the reader that the data up to the byte until−1 will be read. Another goroutine
// decodes it in advance, to the end of the frame with that byte. More data may still be read.
func (s *SeekReader) ReadAhead(until int64) { s.until = until }

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

// Read reads data. The errors are those of [Reader.Read]. io.EOF comes after the seek table, which
// ends the file; if all data was read, every frame and its checksum then agree with the table. The
// last bytes of a frame are returned only after its checksum was verified.
func (s *SeekReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := s.reach(); err != nil {
		return 0, err
	}
	n, err := s.next(p)
	s.offset = s.decoded
	return n, err
}

// Finish reads the rest of the frame with the byte before the offset of the next Read, to verify
// its checksum. Data that it skipped is read from the file again if it is needed after all.
func (s *SeekReader) Finish() error {
	if s.offset == 0 {
		return nil
	}
	if err := s.reach(); err != nil {
		return err
	}
	return s.finish()
}

// finish decodes to the end of the frame with the byte that was decoded last.
func (s *SeekReader) finish() error {
	if s.decoded == 0 {
		return nil
	}
	return s.discard(s.table.holding(s.decoded-1).end().data - s.decoded)
}

// reach moves to the offset of the next Read: onward within one frame, or else from the start of
// its frame.
func (s *SeekReader) reach() error {
	if s.decoding != nil && s.offset == s.decoded {
		return nil
	}
	frame := s.table.holding(s.offset)
	another := s.decoding != nil && frame.index != s.table.holding(s.decoded).index
	if another {
		if err := s.finish(); err != nil {
			return err
		}
	}
	if s.decoding == nil || another || s.offset < s.decoded {
		if s.offset == 0 { // frames without data may precede it
			frame = seekFrame{}
		}
		if err := s.restart(frame.index, frame.start); err != nil {
			return err
		}
	}
	return s.discard(s.offset - s.decoded)
}

// restart begins to decode at frame i.
func (s *SeekReader) restart(i int, start position) error {
	if err := s.halt(); err != nil {
		return err
	}
	if _, err := s.file.Seek(start.packed, io.SeekStart); err != nil {
		return err
	}
	s.decoded = start.data
	s.frames = &frames{table: s.table, index: i, next: start, stop: i}
	s.bound = &bounded{r: s.file, at: start.packed, end: start.packed}
	in := &input{r: s.bound}
	in.taken.Store(start.packed)
	s.decoding = newDecoding(decoder{format: Zstd, name: Zstd.String(), open: s.frames.open}, in)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.in = in
	if err := s.start(); err != nil {
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

// start lets the decoding continue to the end of the next frame that has data, or as far as
// ReadAhead said. The caller holds the lock.
func (s *SeekReader) start() error {
	if s.closed {
		return fs.ErrClosed
	}
	f := s.frames
	switch {
	case s.until == 0:
		f.stop = s.table.holding(f.next.data).index + 1
	case s.until >= s.table.Size() || f.next.data >= s.until: // to the end, or beyond ReadAhead
		f.stop = -1
	default:
		f.stop = s.table.holding(s.until-1).index + 1
	}
	s.bound.end = f.bound()
	if s.ahead == nil {
		s.ahead = startAhead(s.decoding)
	} else {
		s.ahead.resume(s.decoding)
	}
	return nil
}

// next reads the data that is decoded next.
func (s *SeekReader) next(p []byte) (int, error) {
	for {
		n, err := s.ahead.read(p)
		s.decoded += int64(n)
		if err != errPaused {
			return n, err
		}
		s.mu.Lock()
		err = s.start()
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

// nextReader is an io.Reader that calls next.
type nextReader struct{ s *SeekReader }

func (r nextReader) Read(p []byte) (int, error) { return r.s.next(p) }

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

// A bounded reader reads up to end, which its user sets before it needs more.
type bounded struct {
	r       io.Reader
	at, end int64 // offsets in the file
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.end < math.MaxInt64 {
		p = p[:min(int64(len(p)), b.end-b.at)]
	}
	n, err := b.r.Read(p)
	b.at += int64(n)
	return n, err
}

// errPaused is the error of frames that pause.
var errPaused = errors.New("paused")

// frames decodes the frames of a seek table, one after another, and compares each with its entry.
// The last bytes of a frame are returned only after its checksum was verified. After the last frame
// it reads the table itself, and requires the input to end.
type frames struct {
	table *SeekTable
	next  position // where the next frame begins
	index int      // of the next frame
	stop  int      // index of the frame to pause before, or −1

	in      *bufio.Reader
	decoder *zstd.Decoder

	// The current frame.
	packed  *lastBytes  // nil between frames
	left    int64       // bytes of data still to come
	sum     uint32      // expected checksum of the data
	summing hash.Hash64 // nil if the frame has its own checksum, or there is none
}

// open implements decoder.open.
func (f *frames) open(in *bufio.Reader, _ func() bool) (io.Reader, error) {
	decoder, err := newZstdDecoder(nil)
	if err != nil {
		return nil, err
	}
	f.in, f.decoder = in, decoder
	return f, nil
}

// bound returns the offset in the file up to which frames are read before the next pause.
func (f *frames) bound() int64 {
	if f.stop < 0 || f.stop > f.table.frames {
		return math.MaxInt64
	}
	return f.table.at(f.stop).packed
}

// Read skips any number of frames without data.
func (f *frames) Read(p []byte) (int, error) {
	for {
		switch {
		case f.packed != nil && f.left > 0:
			return f.read(p)
		case f.packed != nil:
			if err := f.finish(); err != nil {
				return 0, err
			}
		case f.index == f.stop:
			return 0, errPaused
		case f.index == f.table.frames:
			return 0, f.end()
		default:
			if err := f.begin(); err != nil {
				return 0, err
			}
		}
	}
}

func (f *frames) begin() error {
	frame := f.table.frame(f.index, f.next)
	head, err := f.in.Peek(int(min(frame.size.packed, 5)))
	if err != nil {
		f.in.Discard(len(head)) // the decoding has reached the input's end or its failure
		return noEOF(err)
	}
	f.left = frame.size.data
	f.summing = nil
	if sum, ok := f.table.checksum(f.index); ok && f.left > 0 {
		f.sum = sum
		f.summing = xxhash.New()
	}
	f.packed = &lastBytes{in: io.LimitedReader{R: f.in, N: frame.size.packed}, keep: hasChecksum(head) && f.summing != nil}
	if f.packed.keep {
		f.summing = nil
	}
	return f.decoder.Reset(f.packed)
}

// hasChecksum reports whether a frame that begins with head, 5 bytes, ends with a checksum (RFC
// 8878, 3.1.1.1.1).
func hasChecksum(head []byte) bool {
	const contentChecksumFlag = 1 << 2
	return len(head) == 5 && bytes.HasPrefix(head, []byte(zstdMagic)) && head[4]&contentChecksumFlag != 0
}

// read decodes some of the frame. Its last bytes are returned only if all of it is right.
func (f *frames) read(p []byte) (int, error) {
	n, err := f.decoder.Read(p[:min(int64(len(p)), f.left)])
	f.left -= int64(n)
	if f.summing != nil {
		f.summing.Write(p[:n])
	}
	if f.left == 0 {
		if err := f.finish(); err != nil {
			return 0, err
		}
		return n, nil
	}
	if err == io.EOF {
		size := f.table.frame(f.index, f.next).size.data
		return 0, corrupt("frame %d holds %d bytes of data, expected %d, as the seek table says", f.index, size-f.left, size)
	}
	return n, f.sort(err)
}

// finish requires the frame to end, and compares its checksum with that of the table.
func (f *frames) finish() error {
	frame := f.table.frame(f.index, f.next)
	var one [1]byte
	n, err := f.decoder.Read(one[:])
	if n > 0 {
		return corrupt("frame %d holds more than %d bytes of data, expected no more, as the seek table says", f.index, frame.size.data)
	}
	if err != io.EOF {
		return f.sort(err)
	}
	found := f.sum
	switch {
	case f.summing != nil:
		found = uint32(f.summing.Sum64())
	case f.packed.keep: // verified by the decoder
		found = binary.LittleEndian.Uint32(f.packed.last[:])
	}
	if found != f.sum {
		return corrupt("found frame %d with the checksum %08x, expected %08x, as the seek table says", f.index, found, f.sum)
	}
	f.packed, f.next, f.index = nil, frame.end(), f.index+1
	return nil
}

// sort distinguishes a frame that continues beyond its end in the table from an input that ends.
func (f *frames) sort(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) && f.packed.in.N == 0 {
		end := f.table.frame(f.index, f.next).end().packed
		return corrupt("frame %d continues at byte %d, expected its end there, as the seek table says", f.index, end)
	}
	return err
}

// end reads the seek table, which must not have changed, and requires the input to end.
func (f *frames) end() error {
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
func (f *frames) Close() error {
	f.decoder.Close()
	return nil
}

// lastBytes reads a frame and, if keep is set, remembers its last four bytes.
type lastBytes struct {
	in   io.LimitedReader
	keep bool
	last [4]byte
}

func (l *lastBytes) Read(p []byte) (int, error) {
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
