package npy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

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
	seeker io.Seeker   // r, if rows can be skipped by seeking; else nil
	file   source.File // closed by Close; nil if the caller owns the reader
	next   int64       // row
	whole  []byte      // the elements of an array in Fortran order, once they have been read
}

// maxFortran is the maximum number of bytes of an array in Fortran order, which is held in memory:
// its rows lie scattered over the file. MNIST's 60,000 images take 45 MiB.
const maxFortran = 48 << 20

// Open opens the .npy file at path. It compares the size of the file with the header before it
// reads on.
func Open(path string, o source.ReadOptions) (source.Table, error) {
	f, info, err := source.OpenFile(o.Files, path, "a .npy file")
	if err != nil {
		return nil, err
	}
	t, err := newTable(f, path, o)
	if err == nil {
		t.seeker, t.file = f, f
		err = fault.In(path, t.checkSize(info.Size()))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return t, nil
}

// newTable reads the header of a .npy file from r. Errors call it path. The caller closes r after
// the table.
func newTable(r io.Reader, path string, o source.ReadOptions) (*Table, error) {
	h, err := readHeader(r)
	if err != nil {
		return nil, fault.In(path, err)
	}
	t := &Table{path: path, header: h, r: r, column: source.Column{
		Name: cmp.Or(o.Name, "data"), DType: h.number.DType(), Shape: h.recordShape(), Origin: source.Base(path)}}
	if t.converted() && h.number.Integer() {
		if d := o.DType; d.Valid() && !d.Float() {
			t.column.DType = d
		} else if h.number != source.NumberBool {
			t.notes = append(t.notes, fmt.Sprintf("%s: the type %v is read as %v, with every value checked, "+
				"because idxport uses the types of IDX", path, h.number, t.column.DType))
		}
	}
	size, _ := idx.Product(int64(max(h.number.Size(), t.column.DType.Size())), h.shape[1:])
	switch limit := o.MaxRecord(); {
	case size > limit:
		err = fault.New(fault.Unsupported, "a record has %d bytes, expected at most %d", size, limit).
			At(h.size).WithHint("allow larger records with --max-record-bytes %d", size)
	case size == 0 && h.rows() > idx.MaxEmptyRecords:
		err = fault.New(fault.Malformed, "found %d records without elements, expected at most %d",
			h.rows(), idx.MaxEmptyRecords).At(h.size).WithHint(hintDamaged)
	case h.fortran && h.payload() > maxFortran:
		err = fault.New(fault.Unsupported, "found an array of %d bytes in Fortran order, expected at most %d",
			h.payload(), maxFortran).At(h.size).
			WithHint("save it in C order: numpy.save(path, numpy.ascontiguousarray(a))")
	}
	return t, fault.In(path, err)
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
		h.size+found, h.size+h.payload(), h.number, display.Shape(h.shape),
		display.Count(found/max(1, h.recordSize()), "complete record")).At(h.size + found).WithHint(hintDamaged)
}

// trailing returns the error for more bytes than the header says.
func (t *Table) trailing(found string) error {
	h := t.header
	end := h.size + h.payload()
	return fault.New(fault.Malformed, "found %s after the end: the header says %d bytes, for %v %s",
		found, end, h.number, display.Shape(h.shape)).At(end).
		WithHint("if the file holds several arrays, save each in a file of its own")
}

// Columns returns the one column.
func (t *Table) Columns() []source.Column { return []source.Column{t.column} }

// Rows returns the first dimension.
func (t *Table) Rows() int64 { return t.header.rows() }

// Info returns what was assumed.
func (t *Table) Info() source.Info { return source.Info{Notes: t.notes} }

// converted reports whether elements are converted to another type.
func (t *Table) converted() bool { return !t.header.number.Is(t.column.DType) }

// Read reads the next records, as they are in the file. Those of an array in Fortran order are
// gathered by Decode.
func (t *Table) Read(ctx context.Context, b *source.Raw) error {
	b.Rows = 0
	if err := ctx.Err(); err != nil {
		return err
	}
	if t.header.fortran && t.whole == nil {
		whole := make([]byte, t.header.payload())
		if err := t.readFull(whole, 0); err != nil {
			return fault.In(t.path, err)
		}
		t.whole = whole
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
	if t.converted() {
		b.Input = source.Grow(b.Input, int(rows*t.header.recordSize()))
		p = b.Input
	}
	if !t.header.fortran {
		if err := t.readFull(p, t.next*t.header.recordSize()); err != nil {
			return fault.In(t.path, err)
		}
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
		t.gather(p, int(b.First), b.Rows)
	}
	if h.big {
		idx.SwapBytes(p, p, h.number.Size())
	}
	if !t.converted() {
		return nil
	}
	bad, value := h.number.Convert(b.Columns[0], t.column.DType, p, b.Rows*t.column.Elements())
	if bad < 0 {
		return nil
	}
	return t.badValue(b.First*int64(t.column.Elements())+int64(bad), p[bad*h.number.Size():], value)
}

// gather fills dst with rows of an array in Fortran order. It has the first elements of all
// records, then the second ones, and so on; the elements of a record are counted with its first
// dimension fastest.
func (t *Table) gather(dst []byte, first, rows int) {
	size, record, total := t.header.number.Size(), int(t.header.recordSize()), int(t.Rows())
	shape := t.column.Shape
	steps := make([]int, len(shape)) // between neighbours along each dimension, in bytes of dst
	step := size
	for axis := len(shape) - 1; axis >= 0; axis-- {
		steps[axis], step = step, step*shape[axis]
	}
	indices, place := make([]int, len(shape)), 0
	for from := first * size; from < len(t.whole); from += total * size {
		src := t.whole[from:][:rows*size]
		if size == 1 {
			for row, v := range src {
				dst[row*record+place] = v
			}
		} else {
			for row := range rows {
				copy(dst[row*record+place:][:size], src[row*size:])
			}
		}
		for axis := range shape {
			indices[axis], place = indices[axis]+1, place+steps[axis]
			if indices[axis] < shape[axis] {
				break
			}
			indices[axis], place = 0, place-shape[axis]*steps[axis]
		}
	}
}

// badValue returns the error for an element, counted in C order, that the type of the column cannot
// hold. It is value, and stored at the start of text.
func (t *Table) badValue(element int64, text []byte, value int64) error {
	h := t.header
	hint := source.HintDType
	if t.column.DType == h.number.DType() { // chosen for the user
		hint = "idxport uses the types of IDX, whose widest integer is int32: " +
			"convert the array with astype first, to float64 if that is exact"
	}
	e := fault.New(fault.Malformed, "found %s, expected a value of the type %v", h.number.Text(text), t.column.DType).
		WithHint("%s", hint)
	if h.number == source.NumberBool {
		e = fault.New(fault.Malformed, "found the byte %d in an array of the type bool, expected 0 or 1", value).
			WithHint("if the bytes are numbers, save the array again with a.view('uint8'), " +
				"else with a.view('uint8') != 0")
	}
	if !h.fortran {
		e = e.At(h.size + element*int64(h.number.Size()))
	}
	return e.InRow(element / int64(t.column.Elements())).In(t.path)
}

// Skip skips n records. It seeks in a regular file.
func (t *Table) Skip(n int64) error {
	if n < 0 || n > t.Rows()-t.next {
		return fault.New(fault.Usage, "no such rows: skip %d of %d", n, t.Rows()-t.next)
	}
	var err error
	size := n * t.header.recordSize()
	switch {
	case t.header.fortran: // the array is read as a whole
	case t.seeker != nil:
		_, err = t.seeker.Seek(size, io.SeekCurrent)
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
	if t.file == nil {
		return nil
	}
	f := t.file
	t.file = nil
	return f.Close()
}
