package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/bits"
	"slices"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

const adviceDamaged = "the file is damaged or incomplete; write it again, or download it again"

const (
	magic     = "\x93NUMPY"
	magicZip  = "PK\x03\x04" // .npz
	maxHeader = 1 << 20      // bytes of the text: 255 dimensions take less than 4 KiB
)

// A header is what a file says of its elements.
type header struct {
	size   int64 // bytes of the header itself
	number source.Number
	big    bool // big-endian
	shape  []int64
}

// rows is the first dimension.
func (h *header) rows() int64 { return h.shape[0] }

// recordShape is the other dimensions.
func (h *header) recordShape() []int {
	shape := []int{}
	for _, d := range h.shape[1:] {
		shape = append(shape, int(d))
	}
	return shape
}

// recordSize is the number of bytes of a record in the file.
func (h *header) recordSize() int64 {
	n, _ := product(int64(h.number.Size()), h.shape[1:])
	return n
}

// product is size times all of shape; false if it exceeds 2⁶².
func product(size int64, shape []int64) (int64, bool) {
	if slices.Contains(shape, 0) {
		return 0, true
	}
	n := uint64(size)
	for _, d := range shape {
		hi, lo := bits.Mul64(n, uint64(d))
		if hi != 0 || lo > math.MaxInt64/2 {
			return 0, false
		}
		n = lo
	}
	return int64(n), true
}

// readHeader reads the header and nothing after it.
func readHeader(r io.Reader) (*header, error) {
	var start [10]byte
	n, err := readFull(r, start[:], 0)
	if known := min(n, len(magic)); string(start[:known]) != magic[:known] && (err == nil || errors.Is(err, fault.Truncated)) {
		return nil, foreign(start[:])
	}
	if err != nil {
		return nil, err
	}
	length, base := int64(binary.LittleEndian.Uint16(start[8:])), int64(10)
	switch start[6] {
	case 1:
	case 2, 3:
		var high [2]byte
		if _, err := readFull(r, high[:], base); err != nil {
			return nil, err
		}
		length |= int64(binary.LittleEndian.Uint16(high[:])) << 16
		base += 2
	default:
		return nil, fault.New(fault.Unsupported, "found version %d.%d, expected 1.0, 2.0 or 3.0", start[6], start[7]).At(6).
			WithHint("save it with a NumPy that writes format 1.0, 2.0 or 3.0")
	}
	if length > maxHeader {
		return nil, fault.New(fault.Malformed, "the header claims %d bytes, expected at most %d", length, maxHeader).At(base).WithHint(adviceDamaged)
	}
	text := make([]byte, length)
	if _, err := readFull(r, text, base); err != nil {
		return nil, err
	}
	d, err := parseText(string(text), base)
	if err != nil {
		return nil, err
	}
	return newHeader(d, base, base+length)
}

// readFull fills p from r, which has given offset bytes.
func readFull(r io.Reader, p []byte, offset int64) (int, error) {
	n, err := io.ReadFull(r, p)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = fault.New(fault.Truncated, "the input ends inside of the header, expected %d bytes more", len(p)-n).At(offset + int64(n)).
			WithHint(adviceDamaged)
	}
	return n, err
}

// foreign is the error for what does not begin as a .npy file.
func foreign(start []byte) error {
	if bytes.HasPrefix(start, []byte(magicZip)) {
		return fault.New(fault.Unsupported, "found a zip archive, expected a .npy file").At(0).
			WithHint("a .npz file is a zip archive of .npy files: unpack it with unzip, and give these")
	}
	if message, advice := idx.WebPage(start, "a .npy file"); message != "" {
		return fault.New(fault.Unsupported, "%s", message).At(0).WithHint("%s", advice)
	}
	return fault.New(fault.Unsupported, "found % x, expected 93 4e 55 4d 50 59, with which a .npy file begins", start[:6]).At(0).
		WithHint("give the file the extension of its format")
}

// types are the kinds of numbers by how the array protocol spells them: the kind and the size.
func types(descr string) source.Number {
	return map[string]source.Number{
		"b1": source.NumberBool8, "u1": source.NumberUint8, "i1": source.NumberInt8,
		"u2": source.NumberUint16, "i2": source.NumberInt16,
		"u4": source.NumberUint32, "i4": source.NumberInt32,
		"u8": source.NumberUint64, "i8": source.NumberInt64,
		"f2": source.NumberFloat16, "f4": source.NumberFloat32, "f8": source.NumberFloat64,
	}[descr]
}

// newHeader checks d, whose text begins at base; the elements begin at size.
func newHeader(d description, base, size int64) (*header, error) {
	unsupported := func(advice, message string, values ...any) error {
		return fault.New(fault.Unsupported, message, values...).At(base).WithHint("%s", advice)
	}
	h := &header{size: size, shape: d.shape}
	order, kind := byte(0), d.descr
	if kind != "" {
		order, kind = kind[0], kind[1:]
	}
	h.number = types(kind)
	switch {
	case h.number == source.NoNumber && len(kind) > 0 && kind[0] == 'O':
		return nil, unsupported("convert it to numbers first; a pickle is never loaded", "found the type %q, pickled objects of Python, expected numbers", d.descr)
	case h.number == source.NoNumber:
		return nil, unsupported("convert it with astype first", "found the type %q, expected integers or floats, as |u1 or <f4", d.descr)
	case order == '|' && h.number.Size() == 1 || order == '<' || order == '=':
	case order == '>':
		h.big = h.number.Size() > 1
	default:
		return nil, unsupported("convert it with astype first", "found the type %q, expected its byte order to be < or >", d.descr)
	}
	if len(h.shape) == 0 {
		return nil, unsupported("save it with a first dimension: a[None]", "found a single number, of no dimensions, expected records")
	}
	if len(h.shape) > idx.MaxRank {
		return nil, unsupported("", "found %d dimensions, expected at most %d", len(h.shape), idx.MaxRank)
	}
	record, ok := product(int64(h.number.Size()), h.shape[1:])
	if ok {
		_, ok = product(record, h.shape[:1])
	}
	if !ok {
		return nil, fault.New(fault.Malformed, "the shape %s claims more than 2^62 bytes", idx.ShapeText(h.shape)).At(base).WithHint(adviceDamaged)
	}
	if d.fortran && len(h.shape) > 1 && record > 0 {
		return nil, unsupported("save it with numpy.save(path, numpy.ascontiguousarray(a))", "found Fortran order, the first dimension fastest, expected C order")
	}
	return h, nil
}
