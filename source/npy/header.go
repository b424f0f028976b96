package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

const hintDamaged = "the file is damaged or incomplete; write it again, or download it again"

const (
	magic     = "\x93NUMPY"
	magicZip  = "PK\x03\x04" // .npz
	maxHeader = 1 << 20      // bytes of text; 255 dimensions need less than 4 KiB
)

// A header describes the elements of a file.
type header struct {
	size   int64 // in bytes, of the header itself
	number source.NumberKind
	big    bool // big-endian
	shape  []int64
	// fortran means that the first dimension is the fastest, and that this differs from C order.
	fortran bool
}

func (h *header) rows() int64 { return h.shape[0] }

// recordShape returns the dimensions after the first.
func (h *header) recordShape() []int {
	shape := []int{}
	for _, d := range h.shape[1:] {
		shape = append(shape, int(d))
	}
	return shape
}

// recordSize returns the number of bytes of a record in the file.
func (h *header) recordSize() int64 {
	n, _ := idx.Product(int64(h.number.Size()), h.shape[1:])
	return n
}

// payload returns the number of bytes of the elements.
func (h *header) payload() int64 { return h.rows() * h.recordSize() }

// readHeader reads the header and nothing after it.
func readHeader(r io.Reader) (*header, error) {
	var start [10]byte
	n, err := readFull(r, start[:], 0)
	if known := min(n, len(magic)); string(start[:known]) != magic[:known] && (err == nil || errors.Is(err, fault.Truncated)) {
		return nil, formatError(start[:n], "a .npy file", magic)
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
		return nil, fault.New(fault.Malformed, "the header has %d bytes, expected at most %d", length, maxHeader).At(base).WithHint(hintDamaged)
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

// readFull fills p from r, of which offset bytes have been read.
func readFull(r io.Reader, p []byte, offset int64) (int, error) {
	n, err := io.ReadFull(r, p)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = fault.New(fault.Truncated, "the input ends inside the header, expected %s", display.Count(len(p)-n, "more byte")).At(offset + int64(n)).
			WithHint(hintDamaged)
	}
	return n, err
}

// formatError returns the error for a file that does not begin with begin, as expected files do.
func formatError(start []byte, expected, begin string) error {
	if len(start) == 0 {
		return fault.New(fault.Truncated, "the file is empty, expected %s", expected).At(0).WithHint(hintDamaged)
	}
	if bytes.HasPrefix(start, []byte(magicZip)) {
		return fault.New(fault.Unsupported, "found a zip archive, expected %s", expected).At(0).
			WithHint("a zip archive of .npy files is a .npz file: rename it to that extension")
	}
	if message, hint := idx.WebPage(start, expected); message != "" {
		return fault.New(fault.Unsupported, "%s", message).At(0).WithHint("%s", hint)
	}
	return fault.New(fault.Unsupported, "found % x, expected % x, with which %s begins", start[:min(len(start), len(magic))], begin, expected).At(0).
		WithHint("if the file has another format, rename it to the extension of that format")
}

// numberOf returns the kind of number for a type string of NumPy's array protocol, without the byte
// order; ? is another name of b1.
func numberOf(descr string) source.NumberKind {
	return map[string]source.NumberKind{
		"b1": source.NumberBool8, "?": source.NumberBool8, "u1": source.NumberUint8, "i1": source.NumberInt8,
		"u2": source.NumberUint16, "i2": source.NumberInt16,
		"u4": source.NumberUint32, "i4": source.NumberInt32,
		"u8": source.NumberUint64, "i8": source.NumberInt64,
		"f2": source.NumberFloat16, "f4": source.NumberFloat32, "f8": source.NumberFloat64,
	}[descr]
}

// newHeader checks d, and returns its header. The text is at offset base, the elements at size.
func newHeader(d description, base, size int64) (*header, error) {
	unsupported := func(hint, message string, values ...any) error {
		return fault.New(fault.Unsupported, message, values...).At(base).WithHint("%s", hint)
	}
	h := &header{size: size, shape: d.shape}
	order, kind := byte('='), d.descr
	if kind != "" && strings.IndexByte("|<>=", kind[0]) >= 0 {
		order, kind = kind[0], kind[1:]
	}
	h.number = numberOf(kind)
	switch {
	case h.number == source.NoNumber && len(kind) > 0 && kind[0] == 'O':
		return nil, unsupported("convert it to numbers first; a pickle is never loaded", "found the type %q, pickled Python objects, expected numbers", d.descr)
	case h.number == source.NoNumber:
		return nil, unsupported("convert it with astype first", "found the type %q, expected integers or floats, such as |u1 or <f4", d.descr)
	case order == '|' && h.number.Size() == 1 || order == '<' || order == '=':
	case order == '>':
		h.big = h.number.Size() > 1
	default:
		return nil, unsupported("convert it with astype first", "found the type %q, expected its byte order to be < or >", d.descr)
	}
	if len(h.shape) == 0 {
		return nil, unsupported("save it with a first dimension: a[None]", "found a single number, expected an array of records")
	}
	if len(h.shape) > idx.MaxRank {
		return nil, unsupported("", "found %d dimensions, expected at most %d", len(h.shape), idx.MaxRank)
	}
	record, ok := idx.Product(int64(h.number.Size()), h.shape[1:])
	if ok {
		_, ok = idx.Product(record, h.shape[:1])
	}
	if !ok {
		return nil, fault.New(fault.Malformed, "the shape %s needs more than 2^62 bytes", display.Shape(h.shape)).At(base).WithHint(hintDamaged)
	}
	h.fortran = d.fortran && record > int64(h.number.Size()) && h.rows() > 0
	return h, nil
}

// A description is the content of the header's text.
type description struct {
	descr   string
	fortran bool
	shape   []int64
}

// A parser reads a Python dictionary, with no more syntax than NumPy writes.
type parser struct {
	text string
	pos  int
	base int64 // offset of the text within the file
}

// Patterns of the parser: a string without escapes, which neither keys nor types of numbers have,
// and a tuple of integers; Python 2 wrote an L after each integer.
const (
	quoted = `'[^'\\\n]*'|"[^"\\\n]*"`
	tuple  = `\(\s*(\d+L?\s*(,\s*\d+L?\s*)+,?|\d+L?\s*,)?\s*\)`
)

// parseText reads the header's text, which begins at base.
func parseText(text string, base int64) (d description, err error) {
	p := &parser{text: text, base: base}
	if _, err := p.next(`\{`, "a dictionary"); err != nil {
		return d, err
	}
	seen := map[string]bool{}
	for p.peek() != '}' {
		start := p.pos
		key, err := p.next(quoted, "a string")
		if err == nil {
			_, err = p.next(`:`, "a colon")
		}
		if err == nil && seen[key] {
			p.pos = start
			err = p.fail("found the key %s again", key)
		}
		if err != nil {
			return d, err
		}
		seen[key] = true
		switch key[1 : len(key)-1] {
		case "descr":
			d.descr, err = p.descr()
		case "fortran_order":
			var truth string
			truth, err = p.next(`True|False`, "True or False")
			d.fortran = truth == "True"
		case "shape":
			d.shape, err = p.shape()
		default:
			p.pos = start
			err = p.fail("found the key %s, expected descr, fortran_order and shape", key)
		}
		if err != nil {
			return d, err
		}
		if p.peek() != ',' {
			break
		}
		p.pos++
	}
	if _, err := p.next(`\}`, "the end of the dictionary"); err != nil {
		return d, err
	}
	if p.peek(); p.pos < len(p.text) {
		return d, p.fail("found %q after the dictionary, expected spaces and a newline", p.rest())
	}
	if len(seen) < 3 {
		return d, p.fail("found %d of the keys descr, fortran_order and shape", len(seen))
	}
	return d, nil
}

func (p *parser) fail(message string, values ...any) error {
	return fault.New(fault.Malformed, "the header cannot be read: "+message, values...).At(p.base + int64(p.pos)).WithHint(hintDamaged)
}

func (p *parser) rest() string { return p.text[p.pos:min(len(p.text), p.pos+16)] }

// peek skips white space and returns the byte after it, or 0 at the end.
func (p *parser) peek() byte {
	p.pos = len(p.text) - len(strings.TrimLeft(p.text[p.pos:], " \t\r\n"))
	if p.pos == len(p.text) {
		return 0
	}
	return p.text[p.pos]
}

// next skips white space and reads what the pattern matches; expected describes it for the error.
func (p *parser) next(pattern, expected string) (string, error) {
	p.peek()
	found := regexp.MustCompile(`^(` + pattern + `)`).FindString(p.text[p.pos:])
	if found == "" {
		return "", p.fail("found %q, expected %s", p.rest(), expected)
	}
	p.pos += len(found)
	return found, nil
}

// descr reads the type of the elements. A list is the type of a structured array.
func (p *parser) descr() (string, error) {
	if c := p.peek(); c == '[' || c == '(' {
		return "", fault.New(fault.Unsupported, "found records of several fields, expected an array of numbers").At(p.base + int64(p.pos)).
			WithHint("save each field as an array of its own: numpy.save(path, a[\"field\"])")
	}
	text, err := p.next(quoted, "a string")
	return strings.Trim(text, `'"`), err
}

func (p *parser) shape() (shape []int64, err error) {
	text, err := p.next(tuple, "a tuple of integers")
	if err != nil {
		return nil, err
	}
	for _, number := range regexp.MustCompile(`\d+`).FindAllString(text, -1) {
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n > math.MaxUint32 {
			p.pos -= len(text)
			return nil, p.fail("found the dimension %s, expected at most %d", number, uint32(math.MaxUint32))
		}
		shape = append(shape, n)
	}
	return shape, nil
}
