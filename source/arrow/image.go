package arrow

import (
	"encoding/binary"

	"github.com/idxport/idxport/source/picture"
)

// pictures reads PNG files, of one format each.
type pictures struct {
	column *column
	files  *field // bytes
	format picture.Format
	planar bool // the record has the channels first
}

// The most bytes of the files of rows, for each row beside twice its record, and for all: so much of other things may be in a file.
const (
	fileExtra  = 64 << 10
	filesExtra = 16 << 20
)

func (p *pictures) fetch(b *batch, from, n int64, w *work, dst []byte) error {
	if n == 0 {
		return nil
	}
	if err := p.column.ends(b, p.files, from, n, w); err != nil {
		return err
	}
	size := w.ends[n-1]
	if size < 0 || size > 2*int64(len(dst))+n*fileExtra+filesExtra {
		return wrong(b, p.column.Name, from, "the pictures of %d rows from here on have %d bytes, far more than %v", n, size, p.format).
			WithHint("write the pictures without what is not the picture")
	}
	w.raw = grow(w.raw, int(size))
	return p.column.contents(b, p.files, from, w, w.raw)
}

func (p *pictures) finish(b *batch, from, n int64, w *work, dst []byte) error {
	size := p.column.RecordSize()
	for i := range int(n) {
		end := w.ends[i]
		file := w.raw[end-valueSize(w.ends, i) : end]
		record := dst[i*size : (i+1)*size : (i+1)*size]
		if p.planar {
			w.extra = grow(w.extra, size)
			made, err := p.format.Append(w.extra[:0], file)
			if err != nil {
				return pictureError(b, p.column.Name, from+int64(i), err)
			}
			toPlanes(record, made, p.format.Channels, p.format.Depth/8)
			continue
		}
		made, err := p.format.Append(record[:0], file)
		if err != nil {
			return pictureError(b, p.column.Name, from+int64(i), err)
		}
		copy(record, made) // the same memory, unless Append needed more room on its way
	}
	return nil
}

// pictureError is an error of package picture about a row.
func pictureError(b *batch, column string, row int64, err error) error {
	return wrong(b, column, row, "%v", err).Because(err)
}

// toPlanes makes src, whose channels stand beside each other, one plane for each channel.
func toPlanes(dst, src []byte, channels, size int) {
	pixels := len(src) / channels / size
	for c := range channels {
		for i := range pixels {
			copy(dst[(c*pixels+i)*size:(c*pixels+i+1)*size], src[(i*channels+c)*size:])
		}
	}
}

// spark reads Spark's image structs: raw pixels of 1, 3 or 4 bytes, whose blue comes first.
type spark struct {
	column   *column
	sizes    [4]*field // height, width, nChannels, mode
	expected [4]int32
	data     *field
	planar   bool
}

// Names of the fields of Spark's ImageSchema (org.apache.spark.ml.image).
var sparkSizes = [4]string{"height", "width", "nChannels", "mode"}

func (s *spark) fetch(b *batch, from, n int64, w *work, dst []byte) (err error) {
	for k, f := range s.sizes {
		if w.raw, err = b.bytes(w.raw, f, 1, 4*from, 4*n); err != nil {
			return err
		}
		for i := range int(n) {
			if v := int32(binary.LittleEndian.Uint32(w.raw[4*i:])); v != s.expected[k] {
				return wrong(b, s.column.Name, from+int64(i), "found an image whose %s is %d, expected %d as in the first row", sparkSizes[k], v, s.expected[k]).
					WithHint("records of IDX are all of one shape")
			}
		}
	}
	w.raw = grow(w.raw, len(dst))
	return s.column.equalValues(b, s.data, from, n, w, w.raw)
}

func (s *spark) finish(_ *batch, _, _ int64, w *work, dst []byte) error {
	channels := int(s.expected[2])
	if channels > 1 {
		for i := 0; i+2 < len(dst); i += channels {
			w.raw[i], w.raw[i+2] = w.raw[i+2], w.raw[i]
		}
	}
	if !s.planar {
		copy(dst, w.raw)
		return nil
	}
	for size, i := s.column.RecordSize(), 0; i < len(dst); i += size {
		toPlanes(dst[i:i+size], w.raw[i:i+size], channels, 1)
	}
	return nil
}
