package arrow

import (
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/columnar"
)

// images reads PNG files.
type images struct {
	column *column
	files  *field // bytes
}

func (p *images) fetch(b *batch, from, n int64, w *work, _ []byte) error {
	if n == 0 {
		return nil
	}
	if err := p.column.ends(b, p.files, from, n, w); err != nil {
		return err
	}
	size := w.ends[n-1]
	if size < 0 || size > n*int64(p.column.MaxFile())+filesExtra {
		return wrong(b, p.column.Name, from, "the images of %d rows from here on have %d bytes, far more than their pixels", n, size).
			WithHint("write the images without what is not the image")
	}
	w.raw = grow(w.raw, int(size))
	return p.column.contents(b, p.files, from, w, w.raw)
}

func (p *images) finish(b *batch, from, n int64, w *work, dst []byte) (err error) {
	size := p.column.RecordSize()
	for i := range int(n) {
		end := w.ends[i]
		if w.extra, err = p.column.Image(dst[i*size:(i+1)*size], w.raw[end-valueSize(w.ends, i):end], w.extra); err != nil {
			return fault.Wrap(fault.Malformed, err).InColumn(p.column.Name).InRow(b.first + from + int64(i))
		}
	}
	return nil
}

// spark reads Spark's image structs.
type spark struct {
	column *column
	sizes  [len(columnar.SparkSizes)]*field
	data   *field
}

func (s *spark) fetch(b *batch, from, n int64, w *work, dst []byte) (err error) {
	for k, f := range s.sizes {
		if w.raw, err = b.bytes(w.raw, f, 1, 4*from, 4*n); err != nil {
			return err
		}
		if bad, err := s.column.CheckSize(k, w.raw); err != nil {
			return err.InRow(b.first + from + int64(bad))
		}
	}
	w.raw = grow(w.raw, len(dst))
	return s.column.equalValues(b, s.data, from, n, w, w.raw)
}

func (s *spark) finish(_ *batch, _, _ int64, w *work, dst []byte) error {
	size := s.column.RecordSize()
	for i := 0; i < len(dst); i += size {
		s.column.SparkImage(dst[i:i+size], w.raw[i:i+size])
	}
	return nil
}
