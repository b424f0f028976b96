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
	classes map[int64]classFolder // by label: those that this writer has met; {0} if there are no labels
	file    []byte
	name    []byte
}

// A classFolder is where the images of a class go, and its name in the folder: empty for the folder itself.
type classFolder struct {
	*publish.Class
	name string
}

func (s *Sink) newWriter() (*writer, error) {
	encoder, err := s.image.NewEncoder()
	if err != nil {
		return nil, err
	}
	return &writer{sink: s, encoder: encoder, classes: map[int64]classFolder{}}, nil
}

// write writes the file of row i of b, and appends its line of metadata.csv to lines, if that is wanted.
func (w *writer) write(lines []byte, b schema.Batch, i int) ([]byte, error) {
	s := w.sink
	row := b.First + int64(i)
	class, err := w.class(b, i)
	if err != nil {
		return lines, err
	}
	if w.file, err = w.encoder.Append(w.file[:0], b.Columns[s.columns.Image], i, row); err != nil {
		return lines, err
	}
	w.name = append(images.AppendPadded(w.name[:0], row, s.digits), ".png"...)
	if s.metadata != nil {
		lines = s.metadata.append(lines, class.name, w.name, b, i)
	}
	return lines, class.WriteFile(string(w.name), w.file)
}

// class returns the class folder of row i of b, or the folder itself.
func (w *writer) class(b schema.Batch, i int) (classFolder, error) {
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
		return classFolder{}, err
	}
	c, err := s.folder.Class(name)
	if err != nil {
		return classFolder{}, err
	}
	w.classes[label] = classFolder{Class: c, name: name}
	if s.labels.given {
		s.met.add(label)
	}
	return w.classes[label], nil
}
