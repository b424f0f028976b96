package png

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/images"
	"github.com/idxport/idxport/sink/publish"
	"github.com/idxport/idxport/source"
)

// format names this sink in errors and notes.
const format = "png"

// unsupported is the error for what makes no folder of PNG files.
func unsupported(advice, message string, args ...any) error {
	return images.Unsupported(format, advice, message, args...)
}

// Options say what the images are and how class folders are named. The zero value is for channels last and folders named after labels.
type Options struct {
	// Channels says which dimension of records of three are the channels: "last", which empty means too, or "first".
	Channels string
	// ClassFolders says what class folders are named after: "labels", which empty means too, or "names", those of the classes.
	ClassFolders string
	// MaxLabel is the largest label of the whole source, and is needed only if its classes are not known; 0 or less if it is not
	// known either. A label with more digits is an error.
	MaxLabel int64
	// MetadataCSV asks for the file metadata.csv.
	MetadataCSV bool
}

// A Sink writes a folder of PNG files. It is a sink.Sink and a sink.Sizer.
type Sink struct {
	folder   *publish.Folder
	columns  images.Columns
	image    images.Image
	labels   labels
	metadata *metadata // nil: none is wanted
	rows     int64     // of the source
	digits   int       // of a file name
	writers  sync.Pool
	lines    sync.Pool // of *[]byte: what metadata.csv has of a batch
	met      labelSet
	notes    []string
}

// New returns a sink that fills folder with the images of a table of the schema s. It fails with fault.Usage if the source
// cannot tell its number of rows, for unknown options and for columns that make no images.
func New(folder *publish.Folder, s *schema.Schema, o Options) (*Sink, error) {
	digits, err := images.RowDigits(format, s)
	if err != nil {
		return nil, err
	}
	found, err := images.Find(format, s)
	if err != nil {
		return nil, err
	}
	p := &Sink{folder: folder, columns: found, rows: s.Source, digits: digits}
	if p.image, err = images.New(images.PNG(format, o.Channels), s.Columns[found.Image]); err != nil {
		return nil, err
	}
	if p.labels, err = newLabels(s, found.Label, o); err != nil {
		return nil, err
	}
	if o.MetadataCSV {
		if p.metadata, err = newMetadata(s, &found); err != nil {
			return nil, err
		}
		if err := p.metadata.open(folder); err != nil {
			return nil, err
		}
	}
	p.writers.New = func() any {
		return &writer{sink: p, encoder: p.image.NewEncoder(), classes: map[int64]classFolder{}}
	}
	p.lines.New = func() any { return new([]byte) }
	p.notes = leftOut(s, found.Rest, o)
	if p.labels.disordered() {
		p.notes = append(p.notes, format+": sorted by name, the class folders are not in the order of the labels; "+
			"readers that number the folders will number the classes differently")
	}
	return p, nil
}

// leftOut tells which columns of s have no place in the folder, if there are any.
func leftOut(s *schema.Schema, rest []int, o Options) []string {
	if len(rest) == 0 {
		return nil
	}
	what := "and one label"
	if o.MetadataCSV {
		what = "and scalars"
	} else if slices.ContainsFunc(rest, func(i int) bool { return s.Columns[i].Scalar() }) {
		what += ", and scalars with --metadata-csv"
	}
	return []string{fmt.Sprintf("%s: left out %s: a folder holds the images %s; Parquet, Arrow and CSV hold all columns", format, images.Names(s, rest), what)}
}

// Notes tell what of the table is not in the folder, and where readers that number the class folders will not find the labels: complete once the
// sink was closed. There may be none.
func (s *Sink) Notes() []string {
	if missing := s.met.gaps(); missing != "" {
		return append(slices.Clone(s.notes), fmt.Sprintf("%s: no image has the label %s, so there is no folder for it; "+
			"readers that number the folders will number the classes after it differently", format, missing))
	}
	return s.notes
}

// BatchSize is the memory that encoding takes: for one image at a time, and for the lines of metadata.csv.
func (s *Sink) BatchSize(rows int) int64 {
	size := s.image.Memory()
	if s.metadata != nil {
		size += int64(rows) * int64(s.metadata.most)
	}
	return size
}

// Encode writes the files of b. They are complete when it returns: the step has nothing to do but to write their lines of metadata.csv. A value or
// label that cannot be written is fault.Unsupported, a label without a name a *source.LabelError.
func (s *Sink) Encode(ctx context.Context, b schema.Batch) (func() error, error) {
	if last := b.First + int64(b.Rows) - 1; last >= s.rows {
		return nil, fmt.Errorf("%s: found row %d, expected %d rows", format, last, s.rows)
	}
	w := s.writers.Get().(*writer)
	defer s.writers.Put(w)
	lines := s.lines.Get().(*[]byte)
	*lines = (*lines)[:0]
	for i := range b.Rows {
		err := ctx.Err()
		if err == nil {
			*lines, err = w.write(*lines, b, i)
		}
		if err != nil {
			s.lines.Put(lines)
			return nil, err
		}
	}
	return func() error {
		defer s.lines.Put(lines)
		if s.metadata == nil {
			return nil
		}
		_, err := s.metadata.stream.Write(*lines)
		return err
	}, nil
}

// Close completes metadata.csv; the folder is its owner's.
func (s *Sink) Close() error {
	if s.metadata == nil {
		return nil
	}
	return s.metadata.stream.Close()
}

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
