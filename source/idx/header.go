package idx

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
)

// MaxRank is the largest number of dimensions: the header counts them in one byte.
const MaxRank = 255

// unfilledCount is the number of records in headers whose writers cannot go back to fill it in.
const unfilledCount = math.MaxUint32

// A Header is that of an IDX file, with 1 to 255 Dims from 0 to 2³²−1; the first counts records.
type Header struct {
	DType DType
	Dims  []int64
}

// Records returns the number of records, the first dimension.
func (h Header) Records() int64 { return h.Dims[0] }

// RecordShape returns the shape of one record: all dimensions but the first, none for single
// elements. They must fit an int, as those that a Reader accepted do.
func (h Header) RecordShape() []int {
	shape := make([]int, len(h.Dims)-1)
	for i, d := range h.Dims[1:] {
		shape[i] = int(d)
	}
	return shape
}

// RecordSize returns the number of bytes of a record. It cannot overflow after ReadHeader.
func (h Header) RecordSize() int64 {
	size, _ := Product(int64(h.DType.Size()), h.Dims[1:])
	return size
}

// PayloadSize returns the number of bytes after the header.
func (h Header) PayloadSize() int64 { return h.Records() * h.RecordSize() }

// Size returns the number of bytes of the header: 4 for the magic number and for each dimension.
func (h Header) Size() int64 { return 4 + 4*int64(len(h.Dims)) }

// String returns the header in short: "uint8 60000×28×28".
func (h Header) String() string { return h.DType.String() + " " + dimsText(h.Dims) }

// record returns the type and shape of one record in short: "uint8 28×28", or "uint8" for a scalar.
func (h Header) record() string {
	return strings.TrimSuffix(Header{h.DType, h.Dims[1:]}.String(), " scalar")
}

// dimsText is text.Shape, but shows only the first of very many dimensions.
func dimsText[T int | int64](dims []T) string {
	if len(dims) > 8 {
		return fmt.Sprintf("%s×… (%d dimensions)", text.Shape(dims[:8]), len(dims))
	}
	return text.Shape(dims)
}

// Name returns the end of the name of a published file of this rank and data type: "idx3-ubyte".
func (h Header) Name() string { return fmt.Sprintf("idx%d-%s", len(h.Dims), h.DType.Suffix()) }

// Reshape returns h for records of another shape, in C order. The error is [fault.Usage].
func (h Header) Reshape(shape []int) (Header, error) {
	elements, _ := Product(1, h.Dims) // does not overflow: the size in bytes does not either
	n, ok := Product(1, shape)
	reshaped := Header{DType: h.DType, Dims: make([]int64, 1, 1+len(shape))}
	for _, d := range shape {
		reshaped.Dims = append(reshaped.Dims, int64(d))
	}
	if ok && n > 0 && elements%n == 0 && elements/n <= math.MaxUint32 && len(shape) < MaxRank {
		reshaped.Dims[0] = elements / n
		return reshaped, nil
	}
	return h, fault.New(fault.Usage, "the shape does not fit: %s has %d elements, which do not make records of %s", h,
		elements, dimsText(shape))
}

// AppendBinary appends the header's bytes to dst. It fails for other than 1 to 255 dimensions, one
// that does not fit 32 bits, an unknown data type, or 2⁶² bytes or more of records.
func (h Header) AppendBinary(dst []byte) ([]byte, error) {
	if !h.DType.Valid() {
		return dst, fmt.Errorf("found data type 0x%02x, expected 08, 09, 0b, 0c, 0d or 0e", uint8(h.DType))
	}
	if len(h.Dims) == 0 || len(h.Dims) > MaxRank {
		return dst, fmt.Errorf("found %d dimensions, expected 1 to %d", len(h.Dims), MaxRank)
	}
	dst = append(dst, 0, 0, byte(h.DType), byte(len(h.Dims)))
	for i, d := range h.Dims {
		if d < 0 || d > math.MaxUint32 {
			return dst, fmt.Errorf("found %d as dimension %d, expected 0 to %d", d, i+1, uint32(math.MaxUint32))
		}
		dst = binary.BigEndian.AppendUint32(dst, uint32(d))
	}
	return dst, h.checkSize()
}

// ReadHeader reads a header and nothing after it. It allocates at most 4·255 bytes, whatever the
// header says, and refuses a header whose payload would have 2⁶² bytes or more.
func ReadHeader(r io.Reader) (Header, error) {
	var magic [4]byte
	if n, err := io.ReadFull(r, magic[:]); err != nil {
		return Header{}, shortHeader(err, magic[:n], 0, 4)
	}
	if !HasMagic(magic[:]) {
		return Header{}, badMagic(magic, r)
	}
	raw := make([]byte, 4*int(magic[3]))
	if n, err := io.ReadFull(r, raw); err != nil {
		return Header{}, shortHeader(err, raw[:n], 4, len(raw))
	}
	h := Header{DType: DType(magic[2]), Dims: make([]int64, magic[3])}
	for i := range h.Dims {
		h.Dims[i] = int64(binary.BigEndian.Uint32(raw[4*i:]))
	}
	if err := h.checkSize(); err != nil {
		return Header{}, fault.New(fault.Malformed, "%v", err).At(4).WithHint(hintHeader)
	}
	return h, nil
}

// checkSize refuses a header if a record or the payload would have 2⁶² bytes or more.
func (h Header) checkSize() error {
	size := int64(h.DType.Size())
	_, record := Product(size, h.Dims[1:]) // checked even if there are no records
	if _, payload := Product(size, h.Dims); !record || !payload {
		return fmt.Errorf("the dimensions %s need more than 2^62 bytes", dimsText(h.Dims))
	}
	return nil
}

// Product returns size times all of dims. ok is false if that exceeds 2⁶²−1. If one of the dims is
// 0, the product is 0, however large the others are.
func Product[T int | int64](size int64, dims []T) (product int64, ok bool) {
	if slices.Contains(dims, 0) {
		return 0, true
	}
	p := uint64(size)
	for _, d := range dims {
		hi, lo := bits.Mul64(p, uint64(d))
		if hi != 0 || lo > math.MaxInt64/2 {
			return 0, false
		}
		p = lo
	}
	return int64(p), true
}

// shortHeader returns the error for an input that ends, or fails, inside the header. got is what
// was read of the want bytes at offset.
func shortHeader(err error, got []byte, offset int64, want int) error {
	if err != io.EOF && err != io.ErrUnexpectedEOF { // not errors.Is: an error that wraps io.EOF is a failure
		return err
	}
	if offset == 0 && len(got) == 0 {
		return fault.New(fault.Truncated, "the input is empty, expected an IDX header").At(0).WithHint(hintDownload)
	}
	if offset == 0 && len(got) >= 2 && (got[0] != 0 || got[1] != 0) {
		return notIDX(got)
	}
	end := offset + int64(len(got))
	return fault.New(fault.Truncated, "the input ends inside the header: found %s, expected %d",
		text.Count(end, "byte"), offset+int64(want)).At(end).WithHint(hintDownload)
}
