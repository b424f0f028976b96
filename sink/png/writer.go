package png

import (
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/images"
	"github.com/idxport/idxport/sink/publish"
	"github.com/idxport/idxport/source"
)

// A writer writes one file after another. One goroutine has it at a time.
type writer struct {
	sink    *Sink
	encoder *images.Encoder
	classes map[int64]*publish.Class // by label: those that this writer has met; {0} if there are no labels
	file    []byte
	name    []byte
}

func (s *Sink) newWriter() (*writer, error) {
	encoder, err := s.image.NewEncoder()
	if err != nil {
		return nil, err
	}
	return &writer{sink: s, encoder: encoder, classes: map[int64]*publish.Class{}}, nil
}

// write writes the file of row i of b.
func (w *writer) write(b schema.Batch, i int) error {
	s := w.sink
	row := b.First + int64(i)
	class, err := w.class(b, i)
	if err != nil {
		return err
	}
	if w.file, err = w.encoder.Append(w.file[:0], b.Columns[s.columns.Image], i, row); err != nil {
		return err
	}
	w.name = append(images.AppendPadded(w.name[:0], row, s.digits), ".png"...)
	return class.WriteFile(string(w.name), w.file)
}

// class returns the class folder of row i of b, or the folder itself.
func (w *writer) class(b schema.Batch, i int) (*publish.Class, error) {
	s := w.sink
	label := int64(0)
	if s.labels.given {
		label = source.Int(s.labels.column.DType, b.Columns[s.columns.Label], i)
	}
	if c, ok := w.classes[label]; ok {
		return c, nil
	}
	name, err := s.labels.folder(label, b.First+int64(i))
	if err != nil {
		return nil, err
	}
	c, err := s.folder.Class(name)
	if err != nil {
		return nil, err
	}
	w.classes[label] = c
	if s.labels.given {
		s.met.add(label)
	}
	return c, nil
}
