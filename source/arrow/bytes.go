package arrow

import (
	"cmp"
	"slices"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// pngSignature is what a PNG file begins with.
const pngSignature = "\x89PNG\r\n\x1a\n"

// bytes makes f a column of records that are bytes, or of PNG files.
func (r *resolver) bytes(f *field) (*column, error) {
	c := &column{Column: source.Column{Name: f.name, DType: idx.Uint8}, filled: []filled{{f, 1}}}
	size := int64(unknown)
	if f.kind == typeFixedSizeBinary {
		size = int64(max(f.width, 0))
	} else if r.first != nil {
		first, err := c.firstValue(r.first, f, r.options.MaxRecord())
		if err != nil {
			return nil, err
		}
		if _, told := f.metadata[schema.KeyShape]; !told && len(first) >= len(pngSignature) && string(first[:len(pngSignature)]) == pngSignature {
			return c, r.files(c, f, f, first)
		}
		size = int64(len(first))
	}
	if err := r.byteShape(c, f, size); err != nil {
		return nil, err
	}
	c.reader = &bytesReader{c, f}
	return c, nil
}

// byteShape finds the type and the shape of records of size bytes, or of an unknown size if it is −1. What nothing tells is refused: it may be numbers that
// Arrow has no type for.
func (r *resolver) byteShape(c *column, f *field, size int64) error {
	fits := func(d idx.DType, shape []int) bool {
		n, ok := product(int64(d.Size()), shape)
		if ok = ok && d.Valid() && (n == size || size == unknown); ok {
			c.DType, c.Shape = d, shape
		}
		return ok
	}
	shape, told := metadataShape(f)
	for _, d := range idx.DTypes() {
		if told && d.String() == f.metadata[schema.KeyDType] && fits(d, shape) {
			return nil
		}
	}
	if name := f.metadata[extensionNameKey]; name != "" {
		return unsupported(c.Name, "leave the column out, or convert it to numbers", "found values of the extension type %s, expected numbers, or bytes that are no more than that", name)
	}
	d := r.options.DType
	for _, own := range idx.DTypes() {
		if !d.Valid() && own.String() == f.metadata[schema.KeyDType] {
			d = own
		}
	}
	if !d.Valid() && r.options.Shape == nil && size != unknown {
		return unsupported(c.Name, source.AdviceBytes(int(size)), "found values of %d bytes and nothing that tells what they are, expected idx.dtype in the metadata, or PNG files", size)
	}
	d = cmp.Or(d, idx.Uint8)
	if r.options.Shape != nil && fits(d, slices.Clone(r.options.Shape)) {
		return nil
	}
	if size == unknown {
		return unsupported(c.Name, "give the shape with --shape", "found bytes without rows, so that their number is unknown")
	}
	if size%int64(d.Size()) != 0 {
		return unsupported(c.Name, "give the type and the shape with --dtype and --shape", "a record has %d bytes, which are no elements of %v", size, d)
	}
	fits(d, []int{int(size / int64(d.Size()))})
	r.note("the column %s holds bytes: read as %v of shape %v; other types and shapes with --dtype and --shape", c.Name, d, c.Shape)
	return nil
}

// firstValue is the value of the first row of b, of up to most bytes, or a few more for what a picture has beside its pixels.
func (c *column) firstValue(b *batch, f *field, most int64) ([]byte, error) {
	if err := c.check(b); err != nil {
		return nil, err
	}
	w := new(work)
	if err := c.ends(b, f, 0, 1, w); err != nil {
		return nil, err
	}
	if size := w.ends[0]; size > 2*most+filesExtra {
		return nil, unsupported(c.Name, "allow larger records with --max-record-bytes", "a record has %d bytes, expected at most %d", size, most)
	}
	value := make([]byte, w.ends[0])
	return value, c.contents(b, f, 0, w, value)
}
