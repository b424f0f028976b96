package parquet

import (
	"bytes"
	"cmp"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/source/picture"
)

// pngSignature is what PNG files start with.
const pngSignature = "\x89PNG\r\n\x1a\n"

// addFixed adds a column whose records are values of one number of bytes, little-endian.
func (r *resolver) addFixed(n *node) error {
	size := int(n.TypeLength.V)
	if size <= 0 || int64(size) > r.options.MaxRecord() {
		return unsupported(n.path, adviceLarge, "found records of %d bytes, expected 1 to %d", size, r.options.MaxRecord())
	}
	l := r.file.newLeaf(n)
	l.element = bytesElement(size)
	c := &column{Column: source.Column{Name: n.Name}, leaves: []*leaf{l}, decode: decodeNumbers}
	if err := r.shape(c, size); err != nil {
		return err
	}
	r.push(c)
	return nil
}

// addBytes adds a column whose records are bytes: PNG files, or elements, little-endian.
func (r *resolver) addBytes(n *node) error {
	l := r.file.newLeaf(n)
	first, err := firstValue(l)
	if err != nil {
		return err
	}
	h := r.hints[n.Name]
	if h.dtype == 0 && bytes.HasPrefix(first, []byte(pngSignature)) {
		return r.addPicture(n, n)
	}
	c := &column{Column: source.Column{Name: n.Name}, leaves: []*leaf{l}, decode: decodeBytes}
	if r.file.rows == 0 {
		if h.dtype == 0 || !h.found {
			return untold(n.Name, "bytes")
		}
		c.DType, c.Shape = h.dtype, h.shape
	} else if err := r.shape(c, len(first)); err != nil {
		return err
	}
	l.largest = c.RecordSize()
	r.push(c)
	return nil
}

// shape sets the type and the shape of c, whose records are of size bytes: those that the metadata tells if they fit, else those of the options. What nothing
// tells is refused: it may be numbers that Parquet has no type for.
func (r *resolver) shape(c *column, size int) error {
	h := r.hints[c.Name]
	if told, _ := product(h.shape); h.dtype != 0 && h.found && told*h.dtype.Size() == size {
		c.DType, c.Shape = h.dtype, h.shape
		return nil
	}
	c.DType, c.Shape = cmp.Or(r.options.DType, h.dtype), r.options.Shape
	switch {
	case h.wide != "":
		return unsupported(c.Name, source.AdviceCast("parquet", c.Name, "Int32"), "found values of the type %s, expected integers of at most 64 bits", h.wide)
	case h.extension != "":
		return unsupported(c.Name, adviceColumns, "found values of the extension type %s, expected numbers, or bytes that are no more than that", h.extension)
	case c.DType == 0 && c.Shape == nil:
		return unsupported(c.Name, source.AdviceBytes(size), "found values of %d bytes and nothing that tells what they are, expected idx.dtype in the metadata, or PNG files", size)
	}
	c.DType = cmp.Or(c.DType, idx.Uint8)
	if c.Shape == nil {
		if size%c.DType.Size() != 0 {
			return r.misshapen(c, size)
		}
		c.Shape = []int{size / c.DType.Size()}
	}
	if n, ok := product(c.Shape); !ok || n*c.DType.Size() != size {
		return r.misshapen(c, size)
	}
	if r.options.DType == 0 || r.options.Shape == nil {
		r.note("column %s: records of %d bytes are taken for %s of shape %v; if they are others, say so with --dtype and --shape", c.Name, size, c.DType, c.Shape)
	}
	return nil
}

func (r *resolver) misshapen(c *column, size int) error {
	return fault.New(fault.Usage, "found records of %d bytes, which are not of shape %v of %s", size, c.Shape, c.DType).InColumn(c.Name).
		WithHint("give another --dtype or --shape")
}

// addPicture adds the column n whose images are PNG files, the values of data.
func (r *resolver) addPicture(n, data *node) error {
	if data.maxRepetition > 0 {
		return unsupported(n.Name, adviceColumns, "found a list of images, expected one a row")
	}
	l := r.file.newLeaf(data)
	first, err := firstValue(l)
	if err != nil {
		return err
	}
	h := r.hints[n.Name]
	c := &column{Column: source.Column{Name: n.Name}, leaves: []*leaf{l}}
	if r.file.rows == 0 {
		if h.dtype == 0 || !h.found {
			return untold(n.Name, "images")
		}
		c.DType, c.Shape, c.decode = h.dtype, h.shape, decodeNumbers
		r.push(c)
		return nil
	}
	f, err := picture.Describe(first)
	if err != nil {
		return badPicture(err, l.path, 0)
	}
	if f.Size() > r.options.MaxRecord() {
		return unsupported(n.Name, adviceLarge, "found an image of %s, %d bytes, expected at most %d", f, f.Size(), r.options.MaxRecord()).InRow(0)
	}
	c.DType, c.Shape = f.DType(), f.Shape()
	l.largest = 2*int(f.Size()) + fileExtra
	turn := c.imageShape(h, f.Channels)
	c.decode = func(d *decoding) error { return decodePictures(d, f, turn) }
	r.push(c)
	return nil
}

// fileExtra is how many bytes a PNG file may have beside twice its picture's samples: for what is not the picture.
const fileExtra = 64 << 10

// badPicture is err about the picture of row.
func badPicture(err error, column string, row int64) error {
	return fault.Wrap(fault.Malformed, err).InColumn(column).InRow(row)
}

// imageShape gives c, whose shape is that of its images, the shape that the metadata tells if that fits. turn is the number of channels if they
// must be turned to be the first dimension, else 0.
func (c *column) imageShape(h hint, channels int) (turn int) {
	told, _ := product(h.shape)
	if !h.found || len(h.shape) == 0 || told != c.Elements() {
		return 0
	}
	same := len(c.Shape) == len(h.shape)
	for i := range c.Shape {
		same = same && c.Shape[i] == h.shape[i]
	}
	if same {
		return 0
	}
	if len(h.shape) == 3 && channels > 1 && h.shape[0] == channels && h.shape[1] == c.Shape[0] && h.shape[2] == c.Shape[1] {
		turn = channels
	}
	if channels == 1 || turn > 0 {
		c.Shape = h.shape
	}
	return turn
}

// turnChannels writes record, the samples of each pixel together, to dst, each channel together. Samples have size bytes.
func turnChannels(dst, record []byte, channels, size int) {
	pixels := len(record) / channels / size
	for i := range pixels {
		for k := range channels {
			copy(dst[(k*pixels+i)*size:][:size], record[(i*channels+k)*size:])
		}
	}
}

// isSparkImage tells whether n is the struct of Spark's ImageSchema.
func (n *node) isSparkImage() bool {
	for _, name := range sparkSizes {
		m := n.child(name)
		if m == nil || m.leaf < 0 || m.kind() != format.Int32 || m.repeated() {
			return false
		}
	}
	data := n.child("data")
	return data != nil && data.isBytes() && !n.repeated() && !data.repeated()
}

// sparkSizes are the members of Spark's ImageSchema that are the same in all rows of a column of IDX.
var sparkSizes = [...]string{"height", "width", "nChannels", "mode"}

// addSpark adds the column n of Spark's images.
func (r *resolver) addSpark(n *node) error {
	c := &column{Column: source.Column{Name: n.Name, DType: idx.Uint8}}
	var sizes [len(sparkSizes)][]byte
	for i, name := range sparkSizes {
		l := r.file.newLeaf(n.child(name))
		l.element = floatElement(idx.Float32) // any 4 bytes
		first, err := firstValue(l)
		if err != nil {
			return err
		}
		sizes[i] = first
		c.leaves = append(c.leaves, l)
	}
	data := r.file.newLeaf(n.child("data"))
	c.leaves = append(c.leaves, data)
	h := r.hints[n.Name]
	if r.file.rows == 0 {
		if h.dtype != idx.Uint8 || !h.found {
			return untold(n.Name, "images")
		}
		c.Shape, c.decode = h.shape, decodeNumbers
		r.push(c)
		return nil
	}
	var v [len(sizes)]int
	for i, s := range sizes {
		v[i] = int(int32(word(s)))
	}
	height, width, channels, mode := v[0], v[1], v[2], v[3]
	if depth := map[int]int{1: 0, 3: 16, 4: 24}; channels != 1 && channels != 3 && channels != 4 || mode != depth[channels] {
		return unsupported(n.Name, "convert the images to 8 bits", "found images of %d channels and OpenCV's mode %d, expected 1, 3 or 4 channels of unsigned bytes: mode 0, 16 or 24", channels, mode)
	}
	c.Shape = []int{height, width}
	if channels > 1 {
		c.Shape = append(c.Shape, channels)
	}
	if size, ok := product(c.Shape); !ok || int64(size) > r.options.MaxRecord() {
		return unsupported(n.Name, adviceLarge, "found an image of shape %v, expected at most %d bytes", c.Shape, r.options.MaxRecord()).InRow(0)
	}
	data.largest = c.RecordSize()
	turn := c.imageShape(h, channels)
	c.decode = func(d *decoding) error { return decodeSpark(d, sizes, channels, turn) }
	r.push(c)
	return nil
}
