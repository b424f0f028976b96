package npy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A Table is a source.Table of one column: a .npy file.
type Table struct {
	path   string // as given by the user, for errors
	header *header
	column source.Column
	notes  []string

	r      io.Reader
	random source.File // r, if its size has been checked; nil if it can be read only once
	file   source.File // closed by Close; nil if the caller owns the reader
	next   int64       // row
	window window      // of an array in Fortran order
}

// Open opens the .npy file at path. For a regular file, it compares the size with the header before
// it reads on.
func Open(path string, o source.ReadOptions) (source.Table, error) {
	f, info, err := source.OpenFile(o.Files, path, "a .npy file")
	if err != nil {
		return nil, err
	}
	t, err := openFile(f, info, path, o)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	t.file = f
	return t, nil
}

func openFile(f source.File, info fs.FileInfo, path string, o source.ReadOptions) (*Table, error) {
	t, err := begin(f, path, o)
	if err != nil {
		return nil, err
	}
	t.random = f
	return t, fault.In(path, t.checkSize(info.Size()))
}

// newTable reads a .npy file from r, which can be read only once. Errors call it path ("-" for
// standard input). The caller closes r after the table.
func newTable(r io.Reader, path string, o source.ReadOptions) (*Table, error) {
	t, err := begin(r, path, o)
	if err == nil && t.large() {
		err = fault.New(fault.Unsupported, "found an array of %d bytes in Fortran order, expected at most %d in an input that can be read only once",
			t.header.payload(), maxWindow).WithHint("read it from an uncompressed .npy file, or save it in C order: numpy.save(path, numpy.ascontiguousarray(a))").In(path)
	}
	return t, err
}

// begin reads the header of a .npy file.
func begin(r io.Reader, path string, o source.ReadOptions) (*Table, error) {
	h, err := readHeader(r)
	if err != nil {
		return nil, fault.In(path, err)
	}
	t := &Table{path: path, header: h, r: r, window: window{limit: maxWindow}, column: source.Column{
		Name: cmp.Or(o.Name, "data"), DType: h.number.DType(), Shape: h.recordShape(),
		Origin: source.Base(path)}}
	if !h.number.Is(t.column.DType) && h.number.Integer() {
		if d := o.DType; d.Valid() && !d.Float() {
			t.column.DType = d
		} else if h.number != source.NumberBool8 {
			t.notes = append(t.notes, fmt.Sprintf("%s: the type %v is read as %v, with every value checked, because idxport uses the types of IDX", path, h.number, t.column.DType))
		}
	}
	size, _ := idx.Product(int64(max(h.number.Size(), t.column.DType.Size())), h.shape[1:])
	if limit := o.MaxRecord(); size > limit {
		return nil, fault.New(fault.Unsupported, "a record has %d bytes, expected at most %d", size, limit).At(h.size).
			WithHint("allow larger records with --max-record-bytes %d", size).In(path)
	}
	if size == 0 && h.rows() > idx.MaxEmptyRecords {
		return nil, fault.New(fault.Malformed, "found %d records without elements, expected at most %d", h.rows(), idx.MaxEmptyRecords).At(h.size).
			WithHint(hintDamaged).In(path)
	}
	if tooLong := func(d int64) bool { return int64(int(d)) != d }; slices.ContainsFunc(h.shape[1:], tooLong) {
		return nil, fault.New(fault.Malformed, "a record of shape %s has a dimension of more than %d", display.Shape(h.shape[1:]), math.MaxInt).At(h.size).
			WithHint(hintDamaged).In(path)
	}
	return t, nil
}

// checkSize requires a file of the given size to end after the elements.
func (t *Table) checkSize(size int64) error {
	payload, found := t.header.payload(), size-t.header.size
	switch {
	case found < payload:
		return t.truncated(found)
	case found > payload:
		return t.trailing(display.Count(found-payload, "extra byte"))
	}
	return nil
}

// truncated returns the error for an input that has only found bytes of elements.
func (t *Table) truncated(found int64) error {
	h := t.header
	return fault.New(fault.Truncated, "truncated: found %d bytes, expected %d for %v %s (%s)",
		h.size+found, h.size+h.payload(), h.number, display.Shape(h.shape), display.Count(found/max(1, h.recordSize()), "complete record")).At(h.size + found).WithHint(hintDamaged)
}

// trailing returns the error for more bytes than the header says.
func (t *Table) trailing(found string) error {
	h := t.header
	end := h.size + h.payload()
	return fault.New(fault.Malformed, "found %s after the end: the header says %d bytes, for %v %s",
		found, end, h.number, display.Shape(h.shape)).At(end).WithHint("if the file holds several arrays, save each in a file of its own")
}

// Columns returns the one column.
func (t *Table) Columns() []source.Column { return []source.Column{t.column} }

// Rows returns the first dimension.
func (t *Table) Rows() int64 { return t.header.rows() }

// Info returns what was assumed.
func (t *Table) Info() source.Info { return source.Info{Notes: t.notes} }

// converted reports whether elements are converted to another type.
func (t *Table) converted() bool { return !t.header.number.Is(t.column.DType) }

// Read reads the next records, as they are in the file.
func (t *Table) Read(ctx context.Context, b *source.Raw) error {
	b.Rows = 0
	if err := ctx.Err(); err != nil {
		return err
	}
	b.First = t.next
	rows := min(int64(b.Cap), t.Rows()-t.next)
	if rows == 0 {
		return t.finish()
	}
	if len(b.Columns) != 1 {
		b.Columns = make([][]byte, 1)
	}
	b.Columns[0] = source.Grow(b.Columns[0], int(rows)*t.column.RecordSize())
	p := b.Columns[0]
	if t.converted() || t.header.fortran {
		b.Input = source.Grow(b.Input, int(rows*t.header.recordSize()))
		p = b.Input
	}
	var err error
	if t.header.fortran {
		err = t.gather(ctx, p, rows)
	} else {
		err = t.readFull(p, t.next*t.header.recordSize())
	}
	if err != nil {
		return fault.In(t.path, err)
	}
	b.Rows = int(rows)
	t.next += rows
	return nil
}

// readFull fills p with the next bytes of the input, which are at offset within the elements.
func (t *Table) readFull(p []byte, offset int64) error {
	n, err := io.ReadFull(t.r, p)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = t.truncated(offset + int64(n))
	}
	return err
}

// finish requires the input to end here.
func (t *Table) finish() error {
	if t.header.fortran {
		if err := t.closeWindow(); err != nil {
			return fault.In(t.path, err)
		}
	}
	var one [1]byte
	if _, err := io.ReadFull(t.r, one[:]); err == io.EOF {
		return err
	} else if err != nil {
		return fault.In(t.path, err)
	}
	return fault.In(t.path, t.trailing("extra data"))
}

// Decode makes the elements little-endian and in C order, and converts those of types that IDX does
// not have.
func (t *Table) Decode(b *source.Raw) error {
	h := t.header
	p := b.Columns[0]
	if t.converted() {
		p = b.Input
	}
	if h.fortran {
		if t.converted() {
			b.Scratch = source.Grow(b.Scratch, len(b.Input))
			p = b.Scratch
		}
		h.transpose(p, b.Input)
	}
	if h.big {
		idx.SwapBytes(p, p, h.number.Size())
	}
	if !t.converted() {
		return nil
	}
	elements := t.column.Elements()
	bad, value := h.number.Convert(b.Columns[0], t.column.DType, p, 0, b.Rows*elements)
	if bad < 0 {
		return nil
	}
	row := b.First + int64(bad/elements)
	hint := source.HintDType
	if t.column.DType == h.number.DType() { // chosen for the user
		hint = "idxport uses the types of IDX, whose widest integer is int32: convert the array with astype first, to float64 if that is exact"
	}
	e := fault.New(fault.Malformed, "found %s, expected a value of the type %v", h.number.Text(p[bad*h.number.Size():]), t.column.DType).WithHint("%s", hint)
	if h.number == source.NumberBool8 {
		e = fault.New(fault.Malformed, "found the byte %d in an array of the type bool, expected 0 or 1", value).
			WithHint("if the bytes are numbers, save the array again with a.view('uint8'), else with a.view('uint8') != 0")
	}
	return e.At(h.offset(row, bad%elements)).InRow(row).In(t.path)
}

// Skip skips n records. It seeks in a regular file.
func (t *Table) Skip(n int64) error {
	if n < 0 || n > t.Rows()-t.next {
		return fault.New(fault.Usage, "no such rows: skip %d of %d", n, t.Rows()-t.next)
	}
	var err error
	size := n * t.header.recordSize()
	switch {
	case t.header.fortran: // gather finds the rows
	case t.random != nil:
		_, err = t.random.Seek(size, io.SeekCurrent)
	default:
		var skipped int64
		if skipped, err = io.CopyN(io.Discard, t.r, size); err == io.EOF {
			err = t.truncated(t.next*t.header.recordSize() + skipped)
		}
	}
	if err != nil {
		return fault.In(t.path, err)
	}
	t.next += n
	return nil
}

// Close closes the file if Open opened it.
func (t *Table) Close() error {
	t.window.rows, t.window.data = 0, nil
	if t.file == nil {
		return nil
	}
	f := t.file
	t.file = nil
	return f.Close()
}
