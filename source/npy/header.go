package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

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

// A description is what the header's text says.
type description struct {
	descr   string
	fortran bool
	shape   []int64
}

// A parser reads a dictionary as Python spells it: strings, tuples of integers, True and False, and no more than NumPy writes of the rest.
type parser struct {
	text string
	at   int
	base int64 // offset of the text within the file
}

// parseText reads the header's text, which stands at base.
func parseText(text string, base int64) (d description, err error) {
	p := &parser{text: text, base: base}
	met := map[string]bool{}
	if err := p.expect('{'); err != nil {
		return d, err
	}
	for p.peek() != '}' {
		start := p.at
		key, err := p.string()
		if err != nil {
			return d, err
		}
		if met[key] {
			p.at = start
			return d, p.fail("found %q again", key)
		}
		met[key] = true
		if err := p.expect(':'); err != nil {
			return d, err
		}
		switch key {
		case "descr":
			d.descr, err = p.descr()
		case "fortran_order":
			d.fortran, err = p.truth()
		case "shape":
			d.shape, err = p.shape()
		default:
			p.at = start
			err = p.fail("found the key %q, expected descr, fortran_order and shape", key)
		}
		if err != nil {
			return d, err
		}
		if p.peek() != ',' {
			break
		}
		p.at++
	}
	if err := p.expect('}'); err != nil {
		return d, err
	}
	if p.peek(); p.at < len(p.text) {
		return d, p.fail("found %q behind the dictionary, expected spaces and a newline", p.rest())
	}
	if len(met) < 3 {
		return d, p.fail("found %d of the keys descr, fortran_order and shape", len(met))
	}
	return d, nil
}

// fail is an error about what stands at the parser's place.
func (p *parser) fail(message string, values ...any) error {
	return fault.New(fault.Malformed, "the header cannot be read: "+message, values...).At(p.base + int64(p.at)).WithHint(adviceDamaged)
}

// rest is the start of what was not read yet.
func (p *parser) rest() string { return p.text[p.at:min(len(p.text), p.at+16)] }

// peek passes over white space, and is the byte behind it, or 0 at the end.
func (p *parser) peek() byte {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *parser) expect(c byte) error {
	if p.peek() != c {
		return p.fail("found %q, expected %q", p.rest(), c)
	}
	p.at++
	return nil
}

// string is a string without escapes, which neither keys nor types of numbers have.
func (p *parser) string() (string, error) {
	quote := p.peek()
	if quote != '\'' && quote != '"' {
		return "", p.fail("found %q, expected a string", p.rest())
	}
	end := strings.IndexByte(p.text[p.at+1:], quote)
	if end < 0 {
		return "", p.fail("found %q, a string without an end", p.rest())
	}
	s := p.text[p.at+1 : p.at+1+end]
	if strings.ContainsAny(s, "\\\n") {
		return "", p.fail("found %q, expected a string without escapes", p.rest())
	}
	p.at += end + 2
	return s, nil
}

// descr is the type of the elements; a list is one of several fields.
func (p *parser) descr() (string, error) {
	if c := p.peek(); c == '[' || c == '(' {
		return "", fault.New(fault.Unsupported, "found records of several fields, expected an array of numbers").At(p.base + int64(p.at)).
			WithHint("save each field as an array of its own: numpy.save(path, a[\"field\"])")
	}
	return p.string()
}

func (p *parser) truth() (bool, error) {
	p.peek()
	for word, value := range map[string]bool{"True": true, "False": false} {
		if strings.HasPrefix(p.text[p.at:], word) {
			p.at += len(word)
			return value, nil
		}
	}
	return false, p.fail("found %q, expected True or False", p.rest())
}

// shape is a tuple of integers. Python 2 put an L behind large ones.
func (p *parser) shape() ([]int64, error) {
	if err := p.expect('('); err != nil {
		return nil, err
	}
	var shape []int64
	for p.peek() != ')' {
		end := p.at
		for end < len(p.text) && p.text[end] >= '0' && p.text[end] <= '9' {
			end++
		}
		n, err := strconv.ParseInt(p.text[p.at:end], 10, 64)
		if err != nil || n > math.MaxUint32 {
			return nil, p.fail("found %q, expected a dimension of up to %d", p.rest(), uint32(math.MaxUint32))
		}
		if end < len(p.text) && p.text[end] == 'L' {
			end++
		}
		p.at = end
		shape = append(shape, n)
		if p.peek() != ',' {
			if len(shape) == 1 {
				return nil, p.fail("found %q, expected a comma: a tuple", p.rest())
			}
			break
		}
		p.at++
	}
	return shape, p.expect(')')
}
