package npy

import (
	"cmp"
	"context"
	"encoding/binary"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

const magic = "\x93NUMPY"
const maxHeader = 1 << 20 // bytes of text; 255 dimensions need less than 4 KiB
const hintAgain = "the file is damaged or incomplete; write it again, or download it again"

type table struct {
	*header
	path   string // as given by the user, for errors
	column source.Column
	r      io.Reader // an io.Seeker, too, if rows can be skipped by seeking
	file   io.Closer // closed by Close
	next   int64     // row
}

// Open opens the .npy file at path.
func Open(path string, o source.ReadOptions) (source.Table, error) {
	return source.OpenFile(o.Files, path, "a .npy file", func(f source.File, info fs.FileInfo) (source.Table, error) {
		return newTable(f, path, "", f, info.Size(), o)
	})
}

// newTable reads the header of an array from r, which has size bytes, and compares the size with
// the header before it reads on. r is the file at path, or the given part of it, f.
func newTable(f io.Closer, path, part string, r io.Reader, size int64, o source.ReadOptions) (source.Table, error) {
	h, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	c := source.Column{
		Name: cmp.Or(o.Name, "data"), DType: h.number.DType(), Shape: h.shape[1:], Origin: source.Base(path)}
	if h.number.Integer() && !h.number.Is(c.DType) && o.DType.Valid() && !o.DType.Float() {
		c.DType = o.DType
	}
	record := h.record / int64(h.number.Size()) * int64(max(h.number.Size(), c.DType.Size()))
	switch {
	case record > o.MaxRecord():
		return nil, fault.New(fault.Unsupported, "a record has %d bytes, expected at most %d", record, o.MaxRecord()).
			At(h.start).WithHint("allow larger records with --max-record-bytes %d", record)
	case record == 0 && h.shape[0] > idx.MaxEmptyRecords:
		return nil, fault.New(fault.Malformed, "found %d records without elements, expected at most %d",
			h.shape[0], idx.MaxEmptyRecords).At(h.start).WithHint(hintAgain)
	case size > h.end:
		return nil, fault.New(fault.Malformed, "found %d bytes, expected %d", size, h.end).At(h.end).
			WithHint("save each of several arrays in a file of its own; or else, " + hintAgain)
	case size < h.end:
		return nil, fault.New(fault.Truncated, "found %d bytes, expected %d", size, h.end).At(size).WithHint(hintAgain)
	}
	return &table{header: h, path: path + part, column: c, r: r, file: f}, nil
}

func (t *table) Columns() []source.Column { return []source.Column{t.column} }
func (t *table) Rows() int64              { return int64(t.shape[0]) }
func (t *table) Close() error             { return t.file.Close() }

func (t *table) Read(ctx context.Context, b *source.Raw) error {
	b.First, b.Rows = t.next, 0
	if err := ctx.Err(); err != nil {
		return err
	}
	rows := min(int64(b.Cap), t.Rows()-t.next)
	if rows == 0 {
		if _, err := io.ReadFull(t.r, make([]byte, 1)); err != io.EOF {
			return fault.In(t.path, cmp.Or[error](err, fault.ChangedIn("")))
		}
		return io.EOF
	}
	b.Input = source.Grow(b.Input, int(rows*t.record))
	if _, err := readFull(t.r, b.Input, t.start+t.next*t.record, t.end); err != nil {
		return fault.In(t.path, err)
	}
	b.Rows = int(rows)
	t.next += rows
	return nil
}

// Decode makes the elements little-endian, and converts those of types that IDX does not have.
func (t *table) Decode(b *source.Raw) error {
	number, c := t.number, t.column
	if t.big {
		idx.SwapBytes(b.Input, b.Input, number.Size())
	}
	if number.Is(c.DType) {
		b.Columns = slices.Grow(b.Columns[:0], 1)[:1]
		b.Columns[0], b.Input = b.Input, b.Columns[0]
		return nil
	}
	b.Allocate(t.Columns())
	bad := number.Convert(b.Columns[0], c.DType, b.Input, b.Rows*c.Elements())
	if bad < 0 {
		return nil
	}
	element := b.First*int64(c.Elements()) + int64(bad)
	return fault.New(fault.Malformed, "found %s, expected a value of the type %v that fits %v",
		number.Text(b.Input[bad*number.Size():]), number, c.DType).
		At(t.start + element*int64(number.Size())).InRow(element / int64(c.Elements())).In(t.path).
		WithHint("save a.astype('float64') if all are below 2^53, a.view('uint8') of truth values; or choose a --dtype")
}

// Skip skips n records. It seeks in a file that is not in an archive.
func (t *table) Skip(n int64) error {
	s, ok := t.r.(io.Seeker)
	if !ok {
		return source.Skip(struct{ source.Table }{t}, n)
	}
	t.next += n
	_, err := s.Seek(n*t.record, io.SeekCurrent)
	return fault.In(t.path, err)
}

// A header describes the elements of an array. Sizes are in bytes.
type header struct {
	number source.NumberKind
	big    bool // big-endian
	shape  []int
	start  int64 // of the elements: the size of the header
	record int64 // size of a record
	end    int64 // of the elements: the size of the file
}

// readHeader reads the header and nothing after it.
func readHeader(r io.Reader) (*header, error) {
	var begin [12]byte
	n, err := readFull(r, begin[:10], 0, 10)
	if !strings.HasPrefix(magic, string(begin[:min(n, len(magic))])) {
		return nil, fault.New(fault.Unsupported, "found %q, expected %q, with which a .npy file begins",
			begin[:n], magic).At(0).WithHint("if it is a web page or a Git LFS pointer, download the file itself; " +
			"if it has another format, rename it to the extension of that format, such as .npz")
	}
	length, start := int64(binary.LittleEndian.Uint16(begin[8:])), int64(10)
	if err == nil && begin[6] != 1 {
		_, err = readFull(r, begin[10:], 10, 12)
		length, start = int64(binary.LittleEndian.Uint32(begin[8:])), 12
	}
	if err != nil {
		return nil, err
	} else if major, minor := begin[6], begin[7]; major < 1 || major > 3 || minor > 0 || length > maxHeader {
		return nil, fault.New(fault.Unsupported, "found a header of version %d.%d and %d bytes, expected version "+
			"1.0 to 3.0 and at most %d bytes", major, minor, length, maxHeader).At(6).WithHint(hintAgain)
	}
	text := make([]byte, length)
	if _, err := readFull(r, text, start, start+length); err != nil {
		return nil, err
	}
	return parseText(string(text), start)
}

// readFull fills p with the bytes at offset of r, which should have end bytes.
func readFull(r io.Reader, p []byte, offset, end int64) (int, error) {
	n, err := io.ReadFull(r, p)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		offset += int64(n)
		err = fault.New(fault.Truncated, "found %d bytes, expected %d", offset, end).At(offset).WithHint(hintAgain)
	}
	return n, err
}

// dictionary matches the header's text: three entries, in any order. Its groups are the byte order,
// the type, whether the order is Fortran's, and the dimensions; a repeated key leaves some empty.
var dictionary = text.Pattern(`^\s*\{(?:\s*(?:` +
	`['"]descr['"]\s*:\s*['"]([<>=|]?)([\w?]+)['"]|` +
	`['"]fortran_order['"]\s*:\s*(True|False)|` +
	`['"]shape['"]\s*:\s*\(((?:\s*\d+L?\s*,)*\s*(?:\d+L?)?)\s*\))\s*,?){3}\s*\}\s*$`)

// numberOf has the kind of number for a type of NumPy, without the byte order; ? is the type b1.
var numberOf = map[string]source.NumberKind{
	"b1": source.NumberBool, "?": source.NumberBool,
	"u1": source.NumberUint8, "u2": source.NumberUint16, "u4": source.NumberUint32, "u8": source.NumberUint64,
	"i1": source.NumberInt8, "i2": source.NumberInt16, "i4": source.NumberInt32, "i8": source.NumberInt64,
	"f2": source.NumberFloat16, "f4": source.NumberFloat32, "f8": source.NumberFloat64,
}

// parseText parses the header's text, which begins at offset.
func parseText(s string, offset int64) (*header, error) {
	h := &header{start: offset + int64(len(s))}
	m := dictionary().FindStringSubmatch(s)
	if m != nil && m[3] != "" {
		h.number = numberOf[m[2]]
	}
	size := int64(h.number.Size())
	if h.number == source.NoNumber || m[1] == "|" && size > 1 {
		how := "save a.astype('float64') or, of elements of several numbers, each alone: a['NAME'], a.real, a.imag"
		if m != nil && strings.IndexAny(m[2], "USO") == 0 {
			how = "of whole numbers as texts, save a.astype(int); of names, save numpy.searchsorted(names, " +
				"a.astype(str)), where names is numpy.unique(a.astype(str)) of all splits, and with " +
				"numpy.savetxt('class-order.txt', names, '%s', encoding='utf-8') a file for --classes"
		}
		return nil, fault.New(fault.Unsupported, "found the header %.120q, expected an array of numbers, of a type "+
			"such as '|u1' or '<f4'", strings.TrimSpace(s)).At(offset).
			WithHint("%s; or choose other arrays with --split or --columns; pickles are not loaded", how)
	}
	h.big = m[1] == ">" && size > 1
	tooLarge := fault.New(fault.Malformed, "found the shape (%s), expected sizes below 2^32 and at most 2^62 bytes",
		m[4]).At(offset).WithHint(hintAgain)
	for _, digits := range strings.FieldsFunc(m[4], func(r rune) bool { return r < '0' || r > '9' }) {
		n, err := strconv.ParseInt(digits, 10, min(33, strconv.IntSize)) // IDX has 32 bits without a sign
		if err != nil {
			return nil, tooLarge
		}
		h.shape = append(h.shape, int(n))
	}
	if len(h.shape) == 0 || len(h.shape) > idx.MaxRank {
		return nil, fault.New(fault.Unsupported, "found %s, expected 1 to %d", text.Count(len(h.shape), "dimension"),
			idx.MaxRank).At(offset).WithHint("save a[None], or leave it out with --columns or --split")
	}
	record, ok := idx.Product(8, h.shape[1:]) // for any type
	total, fits := idx.Product(record, h.shape[:1])
	if !ok || !fits {
		return nil, tooLarge
	} else if m[3] == "True" && total/8 > int64(slices.Max(h.shape)) { // else the order does not matter
		return nil, fault.New(fault.Unsupported, "found an array in Fortran order, expected C order").At(offset).
			WithHint("save the array again: numpy.save(path, numpy.ascontiguousarray(a))")
	}
	h.record, h.end = record/8*size, h.start+total/8*size
	return h, nil
}
