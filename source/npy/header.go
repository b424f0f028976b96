package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
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
	// maxDimension is the largest number that IDX has for a dimension, if it is an int here.
	maxDimension = min(math.MaxUint32, math.MaxInt)
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
	var start [12]byte
	n, err := readFull(r, start[:10], 0)
	known := min(n, len(magic))
	if string(start[:known]) != magic[:known] && (err == nil || errors.Is(err, fault.Truncated)) {
		return nil, formatError(start[:n], "a .npy file", magic)
	}
	if err != nil {
		return nil, err
	}
	base := int64(10)
	switch start[6] {
	case 1:
	case 2, 3: // the length has two more bytes
		base = 12
		if _, err := readFull(r, start[10:], 10); err != nil {
			return nil, err
		}
	default:
		return nil, fault.New(fault.Unsupported, "found version %d.%d, expected 1.0, 2.0 or 3.0", start[6], start[7]).
			At(6).WithHint("save it with a NumPy that writes format 1.0, 2.0 or 3.0")
	}
	length := int64(binary.LittleEndian.Uint32(start[8:]))
	if length > maxHeader {
		return nil, fault.New(fault.Malformed, "the header has %d bytes, expected at most %d", length, maxHeader).
			At(base).WithHint(hintDamaged)
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
		err = fault.New(fault.Truncated, "the input ends inside the header, expected %s",
			display.Count(len(p)-n, "more byte")).At(offset + int64(n)).WithHint(hintDamaged)
	}
	return n, err
}

// formatError returns the error for a file that does not begin with begin, as expected files do.
func formatError(start []byte, expected, begin string) error {
	if len(start) == 0 {
		return fault.New(fault.Truncated, "the file is empty, expected %s", expected).At(0).WithHint(hintDamaged)
	}
	message, hint := idx.WebPage(start, expected)
	switch {
	case bytes.HasPrefix(start, []byte(magicZip)):
		message = "found a zip archive, expected " + expected
		hint = "a zip archive of .npy files is a .npz file: rename it to that extension"
	case message == "":
		found := start[:min(len(start), len(magic))]
		message = fmt.Sprintf("found % x, expected % x, with which %s begins", found, begin, expected)
		hint = "if the file has another format, rename it to the extension of that format"
	}
	return fault.New(fault.Unsupported, "%s", message).At(0).WithHint("%s", hint)
}

// numberOf has the kind of number for a type string of NumPy's array protocol, without the byte
// order; ? is another name of b1.
var numberOf = map[string]source.NumberKind{
	"b1": source.NumberBool, "?": source.NumberBool,
	"u1": source.NumberUint8, "u2": source.NumberUint16, "u4": source.NumberUint32, "u8": source.NumberUint64,
	"i1": source.NumberInt8, "i2": source.NumberInt16, "i4": source.NumberInt32, "i8": source.NumberInt64,
	"f2": source.NumberFloat16, "f4": source.NumberFloat32, "f8": source.NumberFloat64,
}

// newHeader checks d, and returns its header. The text is at offset base, the elements at size.
func newHeader(d description, base, size int64) (*header, error) {
	unsupported := func(hint, message string, values ...any) error {
		return fault.New(fault.Unsupported, message, values...).At(base).WithHint("%s", hint)
	}
	const hintCast = "convert it with astype first"
	kind := strings.TrimLeft(d.descr, "|<>=")
	order := d.descr[:len(d.descr)-len(kind)]
	h := &header{size: size, shape: d.shape, number: numberOf[kind]}
	h.big = order == ">" && h.number.Size() > 1
	switch {
	case strings.HasPrefix(kind, "O"):
		return nil, unsupported("convert it to numbers first; a pickle is never loaded",
			"found the type %q, pickled Python objects, expected numbers", d.descr)
	case h.number == source.NoNumber || len(order) > 1:
		return nil, unsupported(hintCast,
			"found the type %q, expected integers or floats, such as |u1 or <f4", d.descr)
	case order == "|" && h.number.Size() > 1:
		return nil, unsupported(hintCast, "found the type %q, expected its byte order to be < or >", d.descr)
	case len(h.shape) == 0:
		return nil, unsupported("save it with a first dimension: a[None]",
			"found a single number, expected an array of records")
	case len(h.shape) > idx.MaxRank:
		return nil, unsupported("", "found %d dimensions, expected at most %d", len(h.shape), idx.MaxRank)
	}
	record, ok := idx.Product(int64(h.number.Size()), h.shape[1:])
	if ok {
		_, ok = idx.Product(record, h.shape[:1])
	}
	if !ok {
		return nil, fault.New(fault.Malformed, "the shape %s needs more than 2^62 bytes", display.Shape(h.shape)).
			At(base).WithHint(hintDamaged)
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

// The syntax of the header's text, no more than NumPy writes. An entry of the dictionary is a
// string, and a string without escapes, which types of numbers do not need, a truth value, or a
// tuple of integers, after which Python 2 wrote an L.
var (
	entry = regexp.MustCompile(`^\s*['"](\w+)['"]\s*:\s*('[^'\\\n]*'|"[^"\\\n]*"|True|False|` +
		`\(\s*(?:\d+L?\s*(?:,\s*\d+L?\s*)+,?|\d+L?\s*,)?\s*\))\s*,?\s*`)
	// structure is an entry whose value is the type of a structured array.
	structure = regexp.MustCompile(`^\s*['"]descr['"]\s*:\s*[\[(]`)
	digits    = regexp.MustCompile(`\d+`)
)

// parseText reads the header's text, which begins at base.
func parseText(text string, base int64) (d description, err error) {
	rest := strings.TrimSpace(text)
	fail := func(format string, args ...any) error {
		return fault.New(fault.Malformed, "the header cannot be read: "+format, args...).
			At(base + int64(strings.LastIndex(text, rest))).WithHint(hintDamaged)
	}
	rest, ok := strings.CutPrefix(rest, "{")
	if !ok {
		return d, fail("found %.16q, expected a dictionary", rest)
	}
	values := map[string]string{}
	for m := entry.FindStringSubmatch(rest); m != nil; m = entry.FindStringSubmatch(rest) {
		if values[m[1]] != "" {
			return d, fail("found the key %s again", m[1])
		}
		values[m[1]] = m[2]
		rest = rest[len(m[0]):]
	}
	switch {
	case structure.MatchString(rest):
		return d, fault.New(fault.Unsupported, "found records of several fields, expected an array of numbers").
			At(base).WithHint("save each field as an array of its own: numpy.save(path, a[\"field\"])")
	case rest != "}":
		return d, fail("found %.16q, expected a key and its value, or the end of the dictionary", rest)
	}
	order, shape := values["fortran_order"], values["shape"]
	d = description{descr: strings.Trim(values["descr"], `'"`), fortran: order == "True"}
	isTruth := order == "True" || order == "False"
	if len(values) != 3 || d.descr == values["descr"] || !isTruth || !strings.HasPrefix(shape, "(") {
		return d, fail("found %q, expected a type, an order and a shape", text[:min(len(text), 160)])
	}
	for _, number := range digits.FindAllString(shape, -1) {
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n > maxDimension {
			return d, fail("found the dimension %s, expected at most %d", number, int64(maxDimension))
		}
		d.shape = append(d.shape, n)
	}
	return d, nil
}
