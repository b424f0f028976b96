package arrow

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/source/picture"
)

// picture makes f, a struct, a column of pictures: those of Hugging Face or of Spark.
func (r *resolver) picture(f *field) (*column, error) {
	child := func(name string) *field {
		if i := slices.IndexFunc(f.children, func(c field) bool { return c.name == name }); i >= 0 && !f.children[i].encoded {
			return &f.children[i]
		}
		return nil
	}
	refused := unsupported(f.name, "leave the column out, or convert it to numbers",
		"found a struct, expected the pictures of Hugging Face (bytes, path) or of Spark (height, width, nChannels, mode, data)")
	if data := child("data"); data != nil && bytesLike(data) {
		s := &spark{data: data}
		c := &column{Column: source.Column{Name: f.name, DType: idx.Uint8}, filled: []filled{{f, 1}, {data, 1}}, reader: s}
		s.column = c
		for k, name := range sparkSizes {
			if s.sizes[k] = child(name); s.sizes[k] == nil || storeOf(s.sizes[k]) != source.NumberInt32 {
				return nil, refused
			}
			c.filled = append(c.filled, filled{s.sizes[k], 1})
		}
		return c, r.sparkShape(s, f)
	}
	if files := child("bytes"); files != nil && bytesLike(files) {
		c := &column{Column: source.Column{Name: f.name}, filled: []filled{{f, 1}, {files, 1}}}
		if r.first == nil {
			return c, r.noRows(c, f, &pictures{column: c, files: files})
		}
		first, err := c.firstValue(r.first, files, r.options.MaxRecord())
		if errors.Is(err, errNull) {
			return nil, fault.Wrap(fault.Malformed, err).WithHint("the picture is not in this file, only its path; write the bytes into the table")
		}
		if err != nil {
			return nil, err
		}
		return c, r.files(c, f, files, first)
	}
	return nil, refused
}

// noRows tells what the pictures of f would be if there were any.
func (r *resolver) noRows(c *column, f *field, kind reader) error {
	shape, told := metadataShape(f)
	for _, d := range idx.DTypes() {
		if told && len(shape) > 0 && d.String() == f.metadata[schema.KeyDType] {
			c.DType, c.Shape, c.reader = d, shape, kind
			return nil
		}
	}
	if r.options.Shape != nil {
		c.DType, c.Shape, c.reader = idx.Uint8, slices.Clone(r.options.Shape), kind
		return nil
	}
	return unsupported(c.Name, "give the shape with --shape", "found pictures without rows, so that their size is unknown")
}

// files makes c, of the field outer, a column of PNG files, the first of which is given.
func (r *resolver) files(c *column, outer, files *field, first []byte) error {
	format, err := picture.Describe(first)
	if err != nil {
		return pictureError(r.first, c.Name, 0, err)
	}
	if format.Size() > r.options.MaxRecord() {
		return unsupported(c.Name, "allow larger records with --max-record-bytes", "found a picture of %v, %d bytes, expected at most %d", format, format.Size(), r.options.MaxRecord())
	}
	p := &pictures{column: c, files: files, format: format}
	c.DType, c.reader = format.DType(), p
	c.Shape, p.planar = pictureShape(outer, format.Shape())
	return nil
}

// pictureShape is the shape of a record of pictures of the shape H×W or H×W×C. If f's metadata says that it is C×H×W, the record is planar.
func pictureShape(f *field, shape []int) (recorded []int, planar bool) {
	n, _ := product(1, shape)
	told, ok := shapeOf(f, n)
	switch {
	case !ok || len(told) == 0:
		return shape, false
	case len(shape) == 3 && slices.Equal(told, []int{shape[2], shape[0], shape[1]}) && !slices.Equal(told, shape):
		return told, true
	}
	return told, false
}

// sparkShape finds the shape of Spark's images in the first row.
func (r *resolver) sparkShape(s *spark, f *field) error {
	if r.first == nil {
		return r.noRows(s.column, f, s)
	}
	if err := s.column.check(r.first); err != nil {
		return err
	}
	for k, size := range s.sizes {
		value, err := r.first.bytes(nil, size, 1, 0, 4)
		if err != nil {
			return err
		}
		s.expected[k] = int32(binary.LittleEndian.Uint32(value))
	}
	height, width, channels, mode := s.expected[0], s.expected[1], s.expected[2], s.expected[3]
	modes := map[int32]int32{1: 0, 3: 16, 4: 24} // OpenCV's CV_8UC1, CV_8UC3, CV_8UC4
	if known, ok := modes[channels]; !ok || known != mode || height < 0 || width < 0 {
		return unsupported(f.name, "", "found images of %d×%d×%d, mode %d, expected 1, 3 or 4 channels of bytes (mode 0, 16 or 24)",
			height, width, channels, mode)
	}
	shape := []int{int(height), int(width), int(channels)}
	if channels == 1 {
		shape = shape[:2]
	}
	s.column.Shape, s.planar = pictureShape(f, shape)
	return nil
}
