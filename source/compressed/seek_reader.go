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

// A SeekReader reads the data of a zstd file that has a [SeekTable], from wherever it is told to. What it reads of the file it reads by Read, in
// order: whole frames, from the one that holds the byte that is read first. It goes to another frame only when the one that it has delivered data of was
// read to its end, and its checksum found right.
//
// It is for one goroutine, except that Close may be called from others at any time.
type SeekReader struct {
	file  io.ReadSeeker
	table *SeekTable

	// For the reading goroutine alone.
	offset   int64     // of the byte that Read delivers next
	decoded  int64     // offset of the byte that the decoding delivers next
	until    int64     // the data before it is decoded in advance; 0: no more than one frame with data is
	decoding *decoding // nil: to be begun
	frames   *frames   // that it decodes
	bound    *bounded  // what they are read from

	mu     sync.Mutex
	closed bool
	in     *input // of decoding
	ahead  *ahead // nil: to be started
}

// NewSeekReader returns a reader of file, in which t was found. It takes file over until it is closed. The first frame is read first, and nothing
// beyond the frame of what is read, until ReadAhead tells how far to go.
func NewSeekReader(file io.ReadSeeker, t *SeekTable) *SeekReader {
	return &SeekReader{file: file, table: t}
}

// ReadAhead tells that the data from here on will be read, up to the byte until−1: another goroutine decodes it in advance, to the end of the frame that
// holds that byte. It is no promise: more can be read.
func (s *SeekReader) ReadAhead(until int64) { s.until = until }

// Seek sets the offset of the next Read in the data, which must be between 0 and the table's Size. The file is sought at that Read, unless the frame
// is the one that is being read and the byte is still to come.
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

// Read reads data. The errors are those of [Reader.Read]: io.EOF comes after the seek table, which ends the file, and if all data was read, then every
// frame and its checksum were found to be what the table says. The last bytes of a frame come only after its checksum was found right.
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

// Finish reads the rest of the frame that holds the byte before the offset of the next Read, to verify its checksum. What it has passed over is read
// from the file again if it is wanted after all.
func (s *SeekReader) Finish() error {
	if s.offset == 0 {
		return nil
	}
	if err := s.reach(); err != nil {
		return err
	}
	return s.finish()
}

// finish decodes to the end of the frame that holds the byte which was decoded last.
func (s *SeekReader) finish() error {
	if s.decoded == 0 {
		return nil
	}
	return s.discard(s.table.holding(s.decoded-1).end().data - s.decoded)
}

// reach goes to the offset of the next Read: on, within one frame, or else from the start of its frame.
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
		if s.offset == 0 { // there may be others before it, without data
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

// halt ends the decoding and waits for its goroutine, after which the file is not in use.
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

// start lets the decoding go on, to the end of the next frame that has data, or as far as ReadAhead said. The caller holds the lock.
func (s *SeekReader) start() error {
	if s.closed {
		return fs.ErrClosed
	}
	f := s.frames
	switch {
	case s.until == 0:
		f.stop = s.table.holding(f.next.data).index + 1
	case s.until >= s.table.Size() || f.next.data >= s.until: // to the end; or beyond what was said
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

// next reads what is decoded next.
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

// discard passes over n bytes.
func (s *SeekReader) discard(n int64) error {
	_, err := io.CopyN(io.Discard, nextReader{s}, n)
	return noEOF(err)
}

// nextReader reads by next.
type nextReader struct{ s *SeekReader }

func (r nextReader) Read(p []byte) (int, error) { return r.s.next(p) }

// Close stops the decompression, as [Reader.Close] does. It does not close the file.
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

// A bounded reader reads no further than end, which whoever reads it sets before he needs what is there.
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

// errPaused is the error of frames that were told to stop before one.
var errPaused = errors.New("paused")

// frames decodes the frames that a seek table lists, one after another, and holds each against its entry. The last bytes of a frame are delivered only
// after its checksum was found right. After the last frame it reads the table itself, and demands the end.
type frames struct {
	table *SeekTable
	next  position // where the next frame begins
	index int      // of the next frame
	stop  int      // the index of the frame to pause before; −1: none

	in      *bufio.Reader
	decoder *zstd.Decoder

	// Of the frame that was begun, nil if none was.
	packed  *lastBytes
	left    int64       // bytes of data yet to come
	sum     uint32      // that its data must have
	summing hash.Hash64 // nil: the frame says itself what the sum is, or nothing does
}

// open is the decoder's open.
func (f *frames) open(in *bufio.Reader, _ func() bool) (io.Reader, error) {
	decoder, err := newZstdDecoder(nil)
	if err != nil {
		return nil, err
	}
	f.in, f.decoder = in, decoder
	return f, nil
}

// bound is the offset in the file before which frames are read without another word.
func (f *frames) bound() int64 {
	if f.stop < 0 || f.stop > f.table.frames {
		return math.MaxInt64
	}
	return f.table.at(f.stop).packed
}

// Read reads on until there is a byte, through any number of frames without data.
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

// begin begins the next frame.
func (f *frames) begin() error {
	frame := f.table.frame(f.index, f.next)
	head, err := f.in.Peek(int(min(frame.size.packed, 5)))
	if err != nil {
		f.in.Discard(len(head)) // the decoding has come to the input's end, or to its failure
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

// hasChecksum reports whether a frame that begins with head, 5 bytes, ends with its checksum (RFC 8878, 3.1.1.1.1).
func hasChecksum(head []byte) bool {
	const contentChecksumFlag = 1 << 2
	return len(head) == 5 && bytes.HasPrefix(head, []byte(zstdMagic)) && head[4]&contentChecksumFlag != 0
}

// read decodes some of the frame. Its last bytes are delivered only if all of it is right.
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

// finish demands the end of the frame and holds its checksum against the table's.
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
	case f.packed.keep: // the decoder has found it right
		found = binary.LittleEndian.Uint32(f.packed.last[:])
	}
	if found != f.sum {
		return corrupt("found data of frame %d with the checksum %08x, expected %08x, as the seek table says", f.index, found, f.sum)
	}
	f.packed, f.next, f.index = nil, frame.end(), f.index+1
	return nil
}

// sort tells a frame that goes on where the table ends it from an input that ends.
func (f *frames) sort(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) && f.packed.in.N == 0 {
		end := f.table.frame(f.index, f.next).end().packed
		return corrupt("frame %d goes on at byte %d, expected its end there, as the seek table says", f.index, end)
	}
	return err
}

// end reads the seek table, which must be the one that was found at first, and demands the end of the input.
func (f *frames) end() error {
	buf := make([]byte, min(len(f.table.raw), 4<<10))
	for want := f.table.raw; len(want) > 0; {
		found := buf[:min(len(buf), len(want))]
		if _, err := io.ReadFull(f.in, found); err != nil {
			return noEOF(err)
		}
		if !bytes.HasPrefix(want, found) {
			return corrupt("the seek table is not what it was before")
		}
		want = want[len(found):]
	}
	if _, err := f.in.ReadByte(); err != nil {
		return err
	}
	return corrupt("junk after the seek table")
}

// Close frees the decoder.
func (f *frames) Close() error {
	f.decoder.Close()
	return nil
}

// lastBytes is a frame being read; it remembers its last four bytes if told to.
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
