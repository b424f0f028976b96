package columnar

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/source/picture"
)

// SparkSizes are the members of Spark's ImageSchema (org.apache.spark.ml.image) that describe an
// image. These numbers must be the same in all rows.
var SparkSizes = [...]string{"height", "width", "nChannels", "mode"}

// The members with the bytes of images. The pixels of Spark's are in the order blue, green, red.
const (
	SparkData = "data"
	HubBytes  = "bytes" // of Hugging Face's datasets
)

// images makes c a column of the images in f, a struct.
func (r *resolver) images(c *Column, f *Field) error {
	hasMember := func(name string, k Kind) bool { m := f.member(name); return m != nil && m.Kind == k }
	switch {
	case hasMember(HubBytes, Bytes):
		if r.First == nil {
			c.Form = Images
			return r.imagesWithoutRows(c, f)
		}
		first, err := r.First.Value(c.Fields[0], HubBytes)
		if e := (*fault.Error)(nil); errors.Is(err, ErrNull) && errors.As(err, &e) {
			return e.WithHint("write the bytes of the images, not their paths, into the table")
		}
		if err != nil {
			return err
		}
		return r.png(c, f, first)
	case hasMember(SparkData, Bytes) && !slices.ContainsFunc(SparkSizes[:], func(name string) bool {
		return !hasMember(name, Number) || f.member(name).Number != source.NumberInt32
	}):
		return r.spark(c, f)
	}
	names := make([]string, len(f.Members))
	for i, m := range f.Members {
		names[i] = m.Name
	}
	return unsupported(f.Name, hintColumn, "found a struct of %q, expected numbers, or the images of Hugging Face (bytes, path) or of Spark (height, width, nChannels, mode, data)", names)
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

// png makes c a column of the PNG files in f; first is the file in the first row.
func (r *resolver) png(c *Column, f *Field, first []byte) error {
	format, err := picture.Describe(first)
	if err != nil {
		return fault.Wrap(fault.Malformed, err).InColumn(f.Name).InRow(0)
	}
	if format.Size() > r.Options.MaxRecord() {
		return unsupported(f.Name, adviseLarge(format.Size()), "found an image of %v, %d bytes, expected at most %d", format, format.Size(), r.Options.MaxRecord()).InRow(0)
	}
	c.Form, c.DType, c.format = Images, format.DType(), format
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
	c.planar = len(shape) == 3 && slices.Equal(given, []int{shape[2], shape[0], shape[1]}) && !slices.Equal(given, shape)
	c.Shape = given
}

// spark makes c a column of Spark's images in f, all of which have the shape of the first image.
func (r *resolver) spark(c *Column, f *Field) error {
	c.Form, c.DType = SparkImages, idx.Uint8
	if r.First == nil {
		return r.imagesWithoutRows(c, f)
	}
	for k, name := range SparkSizes {
		value, err := r.First.Value(c.Fields[0], name)
		if err != nil {
			return err
		}
		c.sizes[k] = int32(binary.LittleEndian.Uint32(value))
	}
	height, width, channels, mode := c.sizes[0], c.sizes[1], c.sizes[2], c.sizes[3]
	modes := map[int32]int32{1: 0, 3: 16, 4: 24} // OpenCV's CV_8UC1, CV_8UC3, CV_8UC4
	if known, ok := modes[channels]; !ok || known != mode || height < 0 || width < 0 {
		return unsupported(f.Name, "convert the images to 8 bits", "found images of %d×%d×%d, OpenCV's mode %d, expected 1, 3 or 4 channels of unsigned bytes (mode 0, 16 or 24)",
			height, width, channels, mode)
	}
	shape := []int{int(height), int(width), int(channels)}
	if channels == 1 {
		shape = shape[:2]
	}
	c.imageShape(f, shape)
	return nil
}

// fileExtra is the number of bytes that a PNG file may have in addition to its image.
const fileExtra = 64 << 10

// MaxFile returns the largest size in bytes that is expected of the PNG file of an image of c.
func (c *Column) MaxFile() int { return 2*int(c.format.Size()) + fileExtra }

// Image decodes a PNG file to a record of c, a column of the form Images. It uses scratch, and
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

// CheckSize compares the values of the member SparkSizes[k] in data, little-endian, with that of
// the first row. bad is the index of the first that differs, or −1.
func (c *Column) CheckSize(k int, data []byte) (bad int, err *fault.Error) {
	for i := 0; i+4 <= len(data); i += 4 {
		if found := int32(binary.LittleEndian.Uint32(data[i:])); found != c.sizes[k] {
			return i / 4, fault.New(fault.Malformed, "found an image whose %s is %d, expected %d as in the first row", SparkSizes[k], found, c.sizes[k]).
				WithHint("IDX records all have the same shape").InColumn(c.Name)
		}
	}
	return -1, nil
}

// SparkImage converts the pixels of an image of Spark to a record of c, a column of the form
// SparkImages. Both have the same number of bytes.
func (c *Column) SparkImage(record, pixels []byte) {
	channels := int(c.sizes[2])
	if channels == 1 {
		copy(record, pixels)
		return
	}
	next, plane := channels, 1 // steps in record: to the next pixel, and to the next channel
	if c.planar {
		next, plane = 1, len(record)/channels
	}
	for k := range channels {
		from := k
		if k < 3 { // blue, green, red
			from = 2 - k
		}
		for i, to := from, k*plane; i < len(pixels); i, to = i+channels, to+next {
			record[to] = pixels[i]
		}
	}
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
