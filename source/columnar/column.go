package columnar

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/picture"
)

// A Column is a column of IDX, and how it is made of fields.
type Column struct {
	source.Column
	Fields  []int // indices in Input.Fields: one, or one of the kind Number for each element of a record
	Bytes   bool  // the fields have bytes or texts: a record, an image file or a text in each row
	Entries int64 // that a leaf of the column has in a row

	format picture.Format // of image files, or zero
	planar bool           // records of images have the shape C×H×W
	texts  *source.Texts  // what texts stand for, or nil
}

// images makes c a column of the image files in f; first is the file in the first row.
func (r *resolver) images(c *Column, f *Field, first []byte) error {
	o, mode := r.Options, r.hub[f.Name].Mode
	options := picture.Options{Width: o.Resize[0], Height: o.Resize[1], Limit: o.MaxRecord(),
		Shape: [3]int(slices.Concat(o.Shape, make([]int, 3))), Grey: o.Grey || mode == "L"} // both by ITU-R 601
	format, err := options.Describe(first)
	if err != nil {
		return fault.New(fault.Malformed, "").Because(err).InColumn(f.Name).InRow(0)
	}
	modes := map[[2]int]string{{1, 8}: "L", {1, 16}: "I;16", {3, 8}: "RGB", {4, 8}: "RGBA"}
	stored := modes[[2]int{format.Channels, format.Depth}] // --resize leaves out alpha
	if mode != "" && mode != stored && mode+";16" != stored && !o.Grey && (mode != "RGBA" || o.Resize[0] == 0) {
		held := map[string]string{"1": "L", "F": "L", "I": "L", "I;16": "I;16", "L": "L", "LA": "RGBA", "RGBA": "RGBA"}
		hint := fmt.Sprintf("store them as IDX can hold them, with datasets: ds.map(lambda row: {%q: row[%[1]q]."+
			"convert(%[2]q)}).cast_column(%[1]q, datasets.Image(mode=%[2]q))", f.Name, cmp.Or(held[mode], "RGB"))
		return Unsupported(hint, "found images of mode %s, which Hugging Face's datasets convert to %s", stored, mode)
	}
	c.DType, c.format, c.Shape = format.DType(), format, format.Shape() // H×W or H×W×C
	r.Decoders = options.Decoders(picture.KindOf(first))
	switch found := c.Shape; {
	case !r.setShape(c, f) || len(c.Shape) > len(found): // such as H×W×1
	case len(found) == 3 && slices.Equal(c.Shape, []int{found[2], found[0], found[1]}):
		c.planar = !slices.Equal(c.Shape, found)
	default: // the metadata is that of other images, which were turned
		c.Shape = found
	}
	return nil
}

func (c *Column) isImages() bool { return c.format.Width > 0 }

// MaxValue returns the most bytes that a value of c may have if c.Bytes is set.
func (c *Column) MaxValue() int {
	switch {
	case c.isImages():
		return int(c.format.MaxFile())
	case c.texts != nil:
		return 1 << 10 // those of numbers and class names are shorter
	}
	return c.RecordSize()
}

// fill makes the records of c for the rows of b; leaves are the pieces of the fields of c.
func (c *Column) fill(dst []byte, leaves [][]piece, b *source.Raw) error {
	switch {
	case c.Bytes:
		return c.records(dst, leaves[0], b)
	case len(leaves) == 1:
		return c.numbers(dst, leaves[0], b.First)
	}
	b.Scratch = source.Grow(b.Scratch, len(dst))
	n := b.Rows * c.DType.Size()
	for k := range leaves {
		if err := c.numbers(b.Scratch[k*n:][:n], leaves[k], b.First); err != nil {
			return err
		}
	}
	source.SwapAxes(dst, b.Scratch, len(leaves), b.Rows, c.DType.Size())
	return nil
}

// numbers fills dst with the elements of pieces, which begin at a row.
func (c *Column) numbers(dst []byte, pieces []piece, row int64) error {
	size, done := c.RecordSize()/max(1, c.Elements()), 0 // a size of 0: only the lengths of the lists are checked
	return use(pieces, dst, size, func(to []byte, n int, v Values) error {
		switch {
		case size == 0:
		case v.Number != source.NoNumber && !v.Number.Is(c.DType):
			if bad := v.Number.Convert(to, c.DType, v.Data, n); bad >= 0 {
				value := v.Number.Text(v.Data[bad*v.Number.Size():])
				return fault.New(fault.Malformed, "found %s, expected a value of the type %v", value, c.DType).
					InColumn(c.Name).InRow(row + int64(done+bad)/c.Entries).WithHint(source.HintType)
			}
		case &to[0] != &v.Data[0]:
			copy(to, v.Data)
		}
		done += n
		return nil
	})
}

// records makes records from the bytes, image files or texts in pieces.
func (c *Column) records(dst []byte, pieces []piece, b *source.Raw) error {
	size, row := c.RecordSize(), b.First
	return use(pieces, nil, 0, func(_ []byte, n int, v Values) error {
		for i := range n {
			if err := c.record(dst[:size:size], v.At(i, n), b); err != nil {
				return err.InColumn(c.Name).InRow(row)
			}
			dst, row = dst[size:], row+1
		}
		return nil
	})
}

func (c *Column) record(record, value []byte, b *source.Raw) *fault.Error {
	switch {
	case c.texts != nil:
		return c.texts.Put(record, string(value))
	case c.isImages():
		decoded, err := c.format.Append(b.Scratch[:0], value)
		if err != nil {
			return fault.New(fault.Malformed, "").Because(err)
		}
		if b.Scratch, value = decoded, decoded; c.planar {
			source.SwapAxes(record, decoded, c.Elements()/c.Shape[0], c.Shape[0], 1) // of 8 bits: 16 are refused
			return nil
		}
	case len(value) != len(record):
		return Unsupported(HintShape, "found %d bytes, expected the %d of shape %s of %s",
			len(value), len(record), text.Shape(c.Shape), c.DType)
	}
	copy(record, value)
	return nil
}
