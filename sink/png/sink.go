package png

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/idxport/idxport/internal/images"
	"github.com/idxport/idxport/internal/publish"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
)

// format names this sink in errors and notes.
const format = "png"

// A Sink writes a folder of PNG files. It implements sink.Sink and sink.Sizer.
type Sink struct {
	folder   *publish.Folder
	images   images.Table
	labels   labels
	metadata *metadata // or nil
	writers  sync.Pool // of *writer
	folders  sync.Map  // the class folders so far, by label, an int64
}

// New returns a sink that fills folder with the images of a table of the schema s. It fails with
// fault.Usage for unknown options, an unknown number of rows, and columns that are no images.
func New(folder *publish.Folder, s *schema.Schema, o sink.Options) (*Sink, error) {
	found, err := images.NewTable(format, s)
	if err != nil {
		return nil, err
	}
	p := &Sink{folder: folder, images: found}
	if p.labels, err = newLabels(s, found.Label, o); err != nil {
		return nil, err
	}
	if o.Layout == huggingFace {
		if p.metadata, err = newMetadata(folder, s, &found.Columns); err != nil {
			return nil, err
		}
	}
	if err := refuseRest(s, found.Columns, o); err != nil {
		return nil, err
	}
	if err := p.labels.writeClasses(folder); err != nil {
		return nil, err
	}
	p.writers.New = func() any { return &writer{sink: p} }
	return p, nil
}

// refuseRest returns an error if there are columns of s that the folder cannot hold: found.Rest.
func refuseRest(s *schema.Schema, found images.Columns, o sink.Options) error {
	if len(found.Rest) == 0 {
		return nil
	}
	what, advice := "one label", "choose the columns with --columns, and the label with --label-column; "+
		"or write other numbers beside the images with --layout huggingface"
	if o.Layout == huggingFace {
		what, advice = "scalars", "choose the columns with --columns"
	}
	if i := source.Index(s.Columns, "label"); found.Label < 0 && slices.Contains(found.Rest, i) {
		advice = schema.HintLabel
	}
	return images.Unsupported(format, advice, "a folder holds the images and %s, not the columns %s", what,
		images.Names(s, found.Rest))
}

// Notes reports why readers that number the class folders may number the classes differently. The
// notes are complete once the sink is closed.
func (s *Sink) Notes() (notes []string) {
	names := slices.DeleteFunc(slices.Clone(s.labels.names), func(name string) bool { return name == "" })
	if !slices.IsSorted(names) {
		notes = append(notes, format+": sorted by name, the class folders are not in the order of the labels; "+
			"readers that number the folders will number the classes differently")
	}
	var present []int64
	for label := range s.folders.Range {
		present = append(present, label.(int64))
	}
	if missing := gaps(present); missing != "" {
		notes = append(notes, fmt.Sprintf("%s: no folder is made for labels without images: %s; "+
			"readers that number the folders will number the later classes differently", format, missing))
	}
	return notes
}

// BatchSize implements sink.Sizer: it counts one image at a time and the lines of metadata.csv.
func (s *Sink) BatchSize(rows int) int64 {
	size := s.images.Pixels.Memory()
	if s.metadata != nil {
		size += int64(rows) * int64(s.metadata.maxLine)
	}
	return size
}

// Encode implements sink.Sink. The files of b are complete when it returns; the step only writes
// their lines of metadata.csv. The error is fault.Unsupported for a value or a label that the
// format does not support, and fault.Malformed for a label without a name.
func (s *Sink) Encode(ctx context.Context, b schema.Batch) (func() error, error) {
	w, write := s.writers.Get().(*writer), io.Discard.Write
	defer s.writers.Put(w)
	if s.metadata != nil {
		write = s.metadata.stream.Write
	}
	add := func(lines []byte, i int) ([]byte, error) { return w.write(lines, b, i) }
	return s.images.Encode(ctx, b, add, write)
}

// Close completes metadata.csv. It does not publish the folder.
func (s *Sink) Close() error {
	if s.metadata == nil {
		return nil
	}
	return s.metadata.stream.Close()
}

// A writer writes one file after another. It is not safe for concurrent use.
type writer struct {
	sink *Sink
	file []byte
	path []byte
}

// write writes the file of row i of b, and appends its line of metadata.csv, if any, to lines.
func (w *writer) write(lines []byte, b schema.Batch, i int) ([]byte, error) {
	s := w.sink
	row := b.First + int64(i)
	folder, err := s.classFolder(b, i)
	if err != nil {
		return lines, err
	}
	if w.file, err = s.images.Pixels.Append(w.file[:0], b.Columns[s.images.Image], i, row); err != nil {
		return lines, err
	}
	w.path = append(images.AppendPadded(append(w.path[:0], folder...), row, s.images.Digits), ".png"...)
	path := string(w.path)
	if s.metadata != nil {
		lines = s.metadata.append(lines, path, b, i)
	}
	return lines, s.folder.WriteFile(path, w.file)
}

// classFolder returns the class folder of row i of b, with a slash; "" is the folder itself.
func (s *Sink) classFolder(b schema.Batch, i int) (string, error) {
	if !s.labels.given {
		return "", nil
	}
	label := source.Int(s.labels.column.DType, b.Columns[s.images.Label], i)
	if folder, ok := s.folders.Load(label); ok {
		return folder.(string), nil
	}
	folder, err := s.labels.folder(label, b.First+int64(i))
	if err == nil {
		s.folders.Store(label, folder)
	}
	return folder, err
}
