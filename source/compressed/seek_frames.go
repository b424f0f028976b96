package compressed

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"math"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"
)

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

// hasChecksum tells whether a frame that begins with head, 5 bytes, ends with its checksum (RFC 8878, 3.1.1.1.1).
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
