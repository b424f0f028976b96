package idx

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/idxport/idxport/internal/fault"
)

// fuzzSeeds are valid and invalid files, short enough for the fuzzer.
func fuzzSeeds(f *testing.F) [][]byte {
	seeds := [][]byte{
		images(f, 2, 2), images(f, 9, 2), images(f, 12, 2), images(f, 0, 2), images(f, math.MaxUint32, 2),
		append(images(f, 2, 2), 1),
		{}, {0, 0, 8, 0}, {0, 0, 10, 1, 0, 0, 0, 1, 1},
		{0, 0, 8, 2, 0, 0, 0, 3, 0, 0, 0, 0},
		{0, 0, 8, 2, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0},
		{0, 0, 14, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		{2, 11, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 2, 3, 4},
		[]byte("<!DOCTYPE html>"), []byte("PK\x03\x04"), {0x55, 0x4c, 0x3d, 0x1e},
	}
	return append(seeds, append([]byte{0, 0, 8, 255}, bytes.Repeat([]byte{0xff}, 4*255)...))
}

// ReadHeader accepts only what AppendBinary writes. Its other errors have an offset in the input.
func FuzzReadHeader(f *testing.F) {
	for _, seed := range fuzzSeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		h, err := ReadHeader(bytes.NewReader(in))
		if err != nil {
			var e *fault.Error
			if !errors.As(err, &e) || e.Kind == "" || e.Offset < 0 || e.Offset > int64(len(in)) || e.Msg == "" {
				t.Fatalf("found %#v, expected a place inside the %d bytes", err, len(in))
			}
			return
		}
		out, err := h.AppendBinary(nil)
		if err != nil || int64(len(out)) != h.Size() || !bytes.HasPrefix(in, out) {
			t.Fatalf("found %v, written % x, %v", h, out, err)
		}
		if h.Records() < 0 || h.RecordSize() < 0 || h.PayloadSize() < 0 {
			t.Fatalf("%v: an overflow: %d records of %d bytes", h, h.Records(), h.RecordSize())
		}
	})
}

// A Reader returns the records of the input in order, as many as it says, and never invents one.
func FuzzReader(f *testing.F) {
	for _, seed := range fuzzSeeds(f) {
		for options := range uint8(16) {
			f.Add(seed, options, int16(0), int16(0), uint8(3), uint8(0))
		}
		f.Add(seed, uint8(4), int16(-1), int16(6), uint8(1), uint8(1))
		f.Add(seed, uint8(6), int16(2), int16(-1), uint8(100), uint8(2))
	}
	f.Fuzz(func(t *testing.T, in []byte, options uint8, dim0, dim1 int16, limit, skip uint8) {
		o := Options{Salvage: options&1 != 0, MaxRecordSize: 1 << 12}
		if options&2 != 0 {
			o.Size = int64(len(in))
		}
		if options&4 != 0 {
			o.Shape = []int{int(dim0), int(dim1)}
		}
		var r io.Reader = bytes.NewBuffer(in)
		if options&16 != 0 {
			r = iotest.OneByteReader(r)
		}
		rd, err := NewReader(r, o)
		if err != nil {
			if rd != nil {
				t.Fatal("a reader and an error")
			}
			return
		}
		promised := rd.Records()
		if rd.Skip(int64(skip)) != nil {
			return
		}
		data, records, err := drain(rd, max(1, int(limit)))
		header, size := int(rd.Stored().Size()), int(rd.Header().RecordSize())
		from := header + size*int(skip)
		if len(data) > 0 && (from > len(in) || !bytes.HasPrefix(in[from:], data)) {
			t.Fatalf("%v: found %d bytes that are not in the input of %d", rd.Header(), len(data), len(in))
		}
		if err != nil {
			return
		}
		total := int64(records) + int64(skip)
		if total != rd.Records() || promised >= 0 && total != promised {
			t.Fatalf("found %d records and the end, promised %d, then %d", total, promised, rd.Records())
		}
		if !o.Salvage && len(in) != header+size*int(total) {
			t.Fatalf("%v: found the end after %d records, and %d bytes", rd.Header(), total, len(in))
		}
	})
}

// SwapBytes agrees with the reference, which reverses each element by itself.
func FuzzSwapBytes(f *testing.F) {
	for n := range 4 * 70 { // elements of every size, of which the last do not fill a word
		f.Add([]byte(strings.Repeat("0123456789abcdefghijklmnopqrstuvwxyz", 16))[:n/4<<(n%4)], uint8(n%4))
	}
	f.Add(bytes.Repeat([]byte{0x7f, 0xf0, 0, 0, 0, 0, 0, 1}, 3), uint8(3))
	f.Add(bytes.Repeat([]byte{0x7f, 0x80, 0, 1}, 7), uint8(2))
	f.Fuzz(func(t *testing.T, src []byte, exponent uint8) {
		size := 1 << (exponent % 4)
		checkSwap(t, src[:len(src)/size*size], size)
	})
}
