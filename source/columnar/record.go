package columnar

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/source/picture"
)

// HubBytes is the member with the bytes of an image in the structs of Hugging Face's datasets.
const HubBytes = "bytes"

// images makes c a column of the images in f, a struct.
func (r *resolver) images(c *Column, f *Field) error {
	if m := f.member(HubBytes); m == nil || m.Kind != Bytes {
		return unsupportedStruct(f)
	}
	c.Form, c.member = Images, HubBytes
	if r.First == nil {
		return r.imagesWithoutRows(c, f)
	}
	first, err := r.firstValue(c, HubBytes)
	if e := (*fault.Error)(nil); errors.Is(err, ErrNull) && errors.As(err, &e) {
		return e.WithHint("write the bytes of the images, not their paths, into the table")
	}
	if err != nil {
		return err
	}
	return r.png(c, f, first)
}

// unsupportedStruct returns the error for a struct that has no PNG files.
func unsupportedStruct(f *Field) error {
	var names []string
	for _, m := range f.Members {
		names = append(names, m.Name)
	}
	return unsupported(f.Name, hintColumn,
		"found a struct of %q, expected numbers, or the images of Hugging Face (bytes, path)", names)
}

// imagesWithoutRows takes the type and the shape of images from the metadata or the options.
func (r *resolver) imagesWithoutRows(c *Column, f *Field) error {
	shape, known := f.shape()
	switch d := f.dtype(); {
	case known && len(shape) > 0 && d.Valid():
		c.DType, c.Shape = d, shape
	case r.Options.Shape != nil:
		c.DType, c.Shape = idx.Uint8, slices.Clone(r.Options.Shape)
	default:
		return noRows(f, "images", hintShape)
	}
	return nil
}

// png makes c a column of the image files in f; first is the file in the first row.
func (r *resolver) png(c *Column, f *Field, first []byte) error {
	options := picture.Options{Width: r.Options.Resize[0], Height: r.Options.Resize[1], Grey: r.Options.Grey}
	if options != (picture.Options{}) {
		options.Limit = r.Options.MaxRecord()
	}
	format, err := options.Describe(first)
	if err != nil {
		return fault.Wrap(fault.Malformed, err).InColumn(f.Name).InRow(0)
	}
	if format.Size() > r.Options.MaxRecord() {
		return unsupported(f.Name, adviseLarge(format.Size()), "found an image of %v, %d bytes, expected at most %d",
			format, format.Size(), r.Options.MaxRecord()).InRow(0)
	}
	c.Form, c.DType, c.format = Images, format.DType(), format
	r.Decoders = options.Decoders(picture.KindOf(first))
	c.imageShape(f, format.Shape())
	return nil
}

// imageShape gives c the shape of its images, H×W or H×W×C, or the shape in the metadata of f if it
// has as many elements. If that is C×H×W, the records are planar.
func (c *Column) imageShape(f *Field, shape []int) {
	c.Shape = shape
	given, ok := f.shape()
	n, _ := product(given)
	if found, _ := product(shape); !ok || len(given) == 0 || n != found {
		return
	}
	c.planar = len(shape) == 3 && slices.Equal(given, []int{shape[2], shape[0], shape[1]}) &&
		!slices.Equal(given, shape)
	c.Shape = given
}

// maxText is the largest number of bytes of a text that stands for a number.
const maxText = 1 << 10

// MaxValue returns the largest number of bytes that a value of c may have: a record, the file of an
// image, or a text.
func (c *Column) MaxValue() int {
	switch c.Form {
	case Images:
		return int(c.format.MaxFile())
	case Texts:
		return maxText
	}
	return c.RecordSize()
}

// Image decodes an image file to a record of c, a column of the form Images. It uses scratch, and
// returns it or a larger one for the next call.
func (c *Column) Image(record, file, scratch []byte) ([]byte, error) {
	dst := record[:0:len(record)]
	if c.planar {
		dst = scratch[:0]
	}
	decoded, err := c.format.Append(dst, file)
	if err != nil {
		return scratch, err
	}
	if !c.planar {
		copy(record, decoded) // the same memory, unless Append had to allocate more
		return scratch, nil
	}
	channels, size := c.format.Channels, c.format.Depth/8
	pixels := len(decoded) / channels / size
	for k := range channels {
		for i := range pixels {
			copy(record[(k*pixels+i)*size:(k*pixels+i+1)*size], decoded[(i*channels+k)*size:])
		}
	}
	return decoded, nil
}

// tileRows is the number of rows that Interleave fills at a time, so that these rows stay in the
// cache.
const tileRows = 256

// Interleave fills dst with rows: the first element of every column, then the second of every
// column, and so on. Elements have size bytes: 1, 2, 4 or 8.
func Interleave(dst []byte, columns [][]byte, rows, size int) {
	stride := len(columns) * size
	for first := 0; first < rows; first += tileRows {
		last := min(first+tileRows, rows)
		for c, from := range columns {
			to := dst[c*size:]
			switch size {
			case 1:
				to = to[first*stride:]
				for r, v := range from[first:last] {
					to[r*stride] = v
				}
			case 2:
				for r := first; r < last; r++ {
					binary.LittleEndian.PutUint16(to[r*stride:], binary.LittleEndian.Uint16(from[2*r:]))
				}
			case 4:
				for r := first; r < last; r++ {
					binary.LittleEndian.PutUint32(to[r*stride:], binary.LittleEndian.Uint32(from[4*r:]))
				}
			default:
				for r := first; r < last; r++ {
					binary.LittleEndian.PutUint64(to[r*stride:], binary.LittleEndian.Uint64(from[8*r:]))
				}
			}
		}
	}
}
