package idx

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/test/must"
)

func TestReadHeader(t *testing.T) {
	t.Parallel()
	rank255 := append([]byte{0, 0, 8, 255}, bytes.Repeat([]byte{0, 0, 0, 1}, 255)...)
	for name, test := range map[string]struct {
		in     []byte
		dtype  DType
		dims   []int64
		record int64
		total  int64
	}{
		"MNIST's training images": {[]byte{0, 0, 8, 3, 0, 0, 0xea, 0x60, 0, 0, 0, 28, 0, 0, 0, 28}, Uint8,
			[]int64{60000, 28, 28}, 784, 47040000},
		"labels":          {[]byte{0, 0, 8, 1, 0, 0, 0xea, 0x60}, Uint8, []int64{60000}, 1, 60000},
		"QMNIST's labels": {[]byte{0, 0, 0x0c, 2, 0, 0, 0xea, 0x60, 0, 0, 0, 8}, Int32, []int64{60000, 8}, 32, 1920000},
		"no records":      {[]byte{0, 0, 0x0e, 2, 0, 0, 0, 0, 0, 0, 0, 5}, Float64, []int64{0, 5}, 40, 0},
		"no elements":     {[]byte{0, 0, 0x0b, 3, 0, 0, 0, 7, 0, 0, 0, 3, 0, 0, 0, 0}, Int16, []int64{7, 3, 0}, 0, 0},
		"rank 255":        {rank255, Uint8, slices.Repeat([]int64{1}, 255), 1, 1},
		"unsigned dimension": {[]byte{0, 0, 9, 1, 0xff, 0xff, 0xff, 0xff}, Int8, []int64{math.MaxUint32}, 1,
			math.MaxUint32},
		"zero beside large": {[]byte{0, 0, 0x0d, 3, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 2}, Float32,
			[]int64{0, math.MaxUint32, 2}, 8 * math.MaxUint32, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := must.Get(ReadHeader(iotest.OneByteReader(bytes.NewReader(test.in))))(t)
			if h.DType != test.dtype || !slices.Equal(h.Dims, test.dims) || h.RecordSize() != test.record ||
				h.PayloadSize() != test.total || h.Size() != int64(len(test.in)) {
				t.Errorf("found %v, record %d, payload %d", h, h.RecordSize(), h.PayloadSize())
			}
			if out, err := h.AppendBinary(nil); err != nil || !bytes.Equal(out, test.in) {
				t.Errorf("written again: % x, %v", out, err)
			}
		})
	}
}

func TestReadHeaderErrors(t *testing.T) {
	t.Parallel()
	dims := func(rank byte, each ...byte) []byte {
		return append([]byte{0, 0, 8, rank}, bytes.Repeat(each, int(rank))...)
	}
	for name, test := range map[string]struct {
		in      []byte
		kind    fault.Kind
		offset  int64
		message string // part of the message
		hints   string // in the hint
	}{
		"empty":               {nil, fault.Truncated, 0, "empty", "download"},
		"one byte":            {[]byte{0}, fault.Truncated, 1, "found 1 byte, expected 4", "download"},
		"half a magic number": {[]byte{0, 0, 8}, fault.Truncated, 3, "found 3 bytes, expected 4", "download"},
		"dimensions cut": {[]byte{0, 0, 8, 3, 0, 0, 0, 1, 0}, fault.Truncated, 9, "found 9 bytes, expected 16",
			"download"},
		"rank 0":        {[]byte{0, 0, 8, 0}, fault.Malformed, 2, "0 dimensions", "damaged"},
		"unknown type":  {[]byte{0, 0, 0x0a, 1, 0, 0, 0, 0}, fault.Malformed, 2, "0x0a", "damaged"},
		"little-endian": {[]byte{3, 8, 0, 0, 2, 0, 0, 0}, fault.Malformed, 0, "little-endian", "big-endian"},
		"HTML page":     {[]byte("\n <!DOCTYPE html><html>"), fault.Unsupported, 0, "HTML", "download it again"},
		"S3's error":    {[]byte("<?xml version=\"1.0\"?><Error>"), fault.Unsupported, 0, "XML", "download it again"},
		"NORB, little-endian": {[]byte{0x55, 0x4c, 0x3d, 0x1e, 4, 0, 0, 0}, fault.Unsupported, 0, "NORB",
			"another format"},
		"two bytes of text":    {[]byte("hi"), fault.Unsupported, 0, "68 69", "two zero bytes"},
		"overflowing products": {dims(255, 0xff, 0xff, 0xff, 0xff), fault.Malformed, 4, "2^62", "damaged"},
		"records of 2^96": {append(dims(4, 0), bytes.Repeat([]byte{0xff}, 12)...), fault.Malformed, 4, "2^62",
			"damaged"},
		"payload of 2^64": {dims(2, 0xff, 0xff, 0xff, 0xff), fault.Malformed, 4, "2^62", "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ReadHeader(bytes.NewReader(test.in))
			checkFault(t, err, test.kind, test.offset, test.message, test.hints)
		})
	}
}

// failing returns its data, then its error.
type failing struct {
	data []byte
	err  error
}

func (f *failing) Read(p []byte) (int, error) {
	if len(f.data) == 0 {
		return 0, f.err
	}
	n := copy(p, f.data)
	f.data = f.data[n:]
	return n, nil
}

func TestAppendBinaryRefusesHeaders(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]Header{
		"no dimensions":      {DType: Uint8},
		"256 dimensions":     {DType: Uint8, Dims: make([]int64, 256)},
		"negative dimension": {DType: Uint8, Dims: []int64{-1}},
		"dimension of 2^32":  {DType: Uint8, Dims: []int64{1 << 32}},
		"unknown type":       {DType: 0x0A, Dims: []int64{1}},
		"2^63 bytes":         {DType: Uint8, Dims: []int64{math.MaxUint32, 1 << 31}},
	} {
		if out, err := h.AppendBinary(nil); err == nil {
			t.Errorf("%s: found % x, %v, expected an error", name, out, err)
		}
	}
}

func TestReshape(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		from     []int64
		to, want []int // want nil: an error
	}{
		"flat to images":     {[]int64{60000, 784}, []int{28, 28}, []int{60000, 28, 28}},
		"fewer records":      {[]int64{6}, []int{3}, []int{2, 3}},
		"to rank 1":          {[]int64{2, 3, 4}, []int{}, []int{24}},
		"no records":         {[]int64{0, 784}, []int{28, 28}, []int{0, 28, 28}},
		"does not divide":    {[]int64{10}, []int{3}, nil},
		"records of nothing": {[]int64{0}, []int{0}, nil},
		"overflow":           {[]int64{10}, []int{math.MaxInt32, math.MaxInt32, math.MaxInt32}, nil},
		"overflow of none":   {[]int64{0}, []int{math.MaxInt32, math.MaxInt32, math.MaxInt32}, nil},
		"negative":           {[]int64{10}, []int{-5}, nil},
		"2^32 records":       {[]int64{1 << 16, 1 << 16}, []int{}, nil},
		"256 dimensions":     {[]int64{10}, slices.Repeat([]int{1}, 255), nil},
	} {
		h, err := Header{DType: Int16, Dims: test.from}.Reshape(test.to)
		if test.want == nil {
			if !errors.Is(err, fault.Usage) {
				t.Errorf("%s: found %v, %v, expected wrong usage", name, h, err)
			}
			continue
		}
		if err != nil || text.Shape(h.Dims) != text.Shape(test.want) || h.DType != Int16 {
			t.Errorf("%s: found %v, %v, expected %v", name, h, err, test.want)
		}
	}
}
