package png

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/source/picture"
)

// A Table is a folder of images. It is a source.Table and a source.Seeker.
type Table struct {
	path    string // as given by the user, for errors
	root    *os.Root
	folders []*os.Root // the class folders; nil if there are too many to hold open
	list    list
	format  picture.Format
	limit   int64 // maximum size of a file in bytes
	columns []source.Column
	numbers [][]byte // the values of the columns after the images, for all rows
	info    source.Info
	next    int64 // row
}

const (
	// maxOpen is the largest number of class folders that are held open. A process may have 1024
	// descriptors, and several tables may be open.
	maxOpen = 256
	// maxExamined is the maximum number of files that are examined to find out whether images with
	// palettes of greys are grey or RGB.
	maxExamined = 1000
)

// Open opens the folder at path: it lists all files and reads the first one. The package comment
// describes what it assumes about the folder. Errors name the folder or the file in it.
func Open(path string, o source.ReadOptions) (source.Table, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	t := &Table{path: path, root: root}
	if err := t.begin(o); err != nil {
		return nil, errors.Join(fault.In(path, err), t.Close())
	}
	return t, nil
}

// begin finds the files, their order, the labels and the format of the images.
func (t *Table) begin(o source.ReadOptions) error {
	if err := t.readFolder(); err != nil {
		return err
	}
	t.sort()
	t.columns = []source.Column{{Name: "image", Origin: filepath.Base(t.path)}}
	if err := t.findLabels(o); err != nil {
		return err
	}
	if err := t.openFolders(); err != nil {
		return err
	}
	t.limit = picture.Format{}.MaxFile() + 2*o.MaxRecord()
	first := t.list.files[0]
	data, err := t.readFile(nil, first)
	if err == nil {
		err = t.findFormat(data, o)
	}
	if err != nil {
		return t.inFile(t.list.path(first), err)
	}
	t.limit = t.format.MaxFile()
	t.columns[0].Shape = t.format.Shape()
	return t.chooseType(o)
}

// chooseType gives the images their type.
func (t *Table) chooseType(o source.ReadOptions) error {
	own := t.format.DType()
	wanted := cmp.Or(o.DType, own)
	if wanted == idx.Int8 || wanted == idx.Uint8 && own != idx.Uint8 {
		return fault.New(fault.Unsupported, "the samples are %s, which %s cannot hold", own, wanted).
			WithHint("leave out --dtype, or choose a wider type")
	}
	if size := t.format.Size() / int64(own.Size()) * int64(wanted.Size()); size > o.MaxRecord() {
		return t.inFile(t.list.path(t.list.files[0]), fault.New(fault.Unsupported,
			"the image is %v, a record of %d bytes, expected at most %d", t.format, size, o.MaxRecord()).
			WithHint("allow larger records with --max-record-bytes %d", size))
	}
	t.columns[0].DType = wanted
	return nil
}

// findFormat finds the format of the images; data is the first file. If that has a palette of
// greys, the images may be grey or RGB: the next file without such a palette decides.
func (t *Table) findFormat(data []byte, o source.ReadOptions) (err error) {
	options := picture.Options{Width: o.Resize[0], Height: o.Resize[1], Grey: o.Grey}
	if options != (picture.Options{}) {
		options.Limit = o.MaxRecord()
	}
	t.info.Decoders = options.Decoders(append(t.list.kinds, picture.KindOf(data))...)
	if t.format, err = options.Describe(data); err != nil || !picture.HasGreyPalette(data) {
		return err
	}
	for _, f := range t.list.files[1:min(maxExamined, len(t.list.files))] {
		if data, err = t.readFile(data, f); err != nil {
			return nil // Decode reports the error
		}
		if picture.HasGreyPalette(data) {
			continue
		}
		if next, err := options.Describe(data); err != nil || next.Channels != 1 {
			return nil
		}
		break
	}
	t.format.Channels = 1
	return nil
}

// openFolders opens the class folders, so that opening a file does not walk its whole path.
func (t *Table) openFolders() error {
	if len(t.list.folders) > maxOpen {
		return nil
	}
	for _, name := range t.list.folders {
		if name == "" {
			t.folders = append(t.folders, t.root)
			continue
		}
		root, err := t.root.OpenRoot(name)
		if err != nil {
			return t.inFile(name, err)
		}
		t.folders = append(t.folders, root)
	}
	return nil
}

// readFile reads f into buf, which grows as needed.
func (t *Table) readFile(buf []byte, f file) ([]byte, error) {
	var opened *os.File
	var err error
	if t.folders != nil {
		opened, err = t.folders[f.folder].Open(string(t.list.name(f)))
	} else {
		opened, err = t.root.Open(filepath.FromSlash(t.list.path(f)))
	}
	if err != nil {
		return buf, bare(err)
	}
	defer opened.Close() // read-only: an error does not matter
	if cap(buf) == 0 {
		buf = make([]byte, 0, 64<<10)
	}
	buf = buf[:0]
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := opened.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return buf, bare(err)
		}
		if int64(len(buf)) > t.limit {
			return buf, fault.New(fault.Unsupported, "found more than %d bytes, more than an image of this size needs",
				t.limit)
		}
	}
}

// inFile adds the path of a file in the folder to err.
func (t *Table) inFile(name string, err error) error {
	return fault.In(filepath.Join(t.path, filepath.FromSlash(name)), err)
}

// bare returns err without its path, which is relative to the class folder.
func bare(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

func (t *Table) note(format string, args ...any) {
	t.info.Notes = append(t.info.Notes, t.path+": "+fmt.Sprintf(format, args...))
}

// Columns returns the images and, if they are known, the labels and other numbers.
func (t *Table) Columns() []source.Column { return t.columns }

// Rows returns the number of images.
func (t *Table) Rows() int64 { return int64(len(t.list.files)) }

// Info returns what was assumed about the folder.
func (t *Table) Info() source.Info { return t.info }

// Read only chooses the rows of b: Decode opens their files.
func (t *Table) Read(ctx context.Context, b *source.Raw) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b.First, b.Rows = t.next, int(min(int64(b.Cap), t.Rows()-t.next))
	if b.Rows == 0 {
		return io.EOF
	}
	t.next += int64(b.Rows)
	return nil
}

// Skip skips n rows.
func (t *Table) Skip(n int64) error {
	if n < 0 || n > t.Rows()-t.next {
		return fault.New(fault.Usage, "no such rows: skip %d of %d", n, t.Rows()-t.next)
	}
	t.next += n
	return nil
}

// Decode reads and decodes the files of b. Errors name the file and its row.
func (t *Table) Decode(b *source.Raw) error {
	if len(b.Columns) != len(t.columns) {
		b.Columns = make([][]byte, len(t.columns))
	}
	for i, c := range t.columns {
		b.Columns[i] = source.Grow(b.Columns[i], b.Rows*c.RecordSize())
	}
	images := b.Columns[0][:0]
	for i := range b.Rows {
		row := b.First + int64(i)
		f := t.list.files[row]
		var err error
		if b.Scratch, err = t.readFile(b.Scratch, f); err == nil {
			images, err = t.append(images, b.Scratch)
		}
		if err != nil {
			return t.inFile(t.list.path(f), fault.Wrap(0, err).InRow(row))
		}
	}
	for i, data := range t.numbers {
		size := t.columns[i+1].DType.Size()
		copy(b.Columns[i+1], data[b.First*int64(size):])
	}
	return nil
}

// append appends the record of a file to dst, with its samples converted to the type of the column.
func (t *Table) append(dst, file []byte) ([]byte, error) {
	own, image := t.format.DType(), t.columns[0]
	if own == image.DType {
		return t.format.Append(dst, file)
	}
	samples, err := t.format.Append(nil, file)
	if err != nil {
		return dst, err
	}
	number := source.NumberUint8
	if own == idx.Int16 {
		number = source.NumberInt16
	}
	start := len(dst)
	dst = slices.Grow(dst, image.RecordSize())[:start+image.RecordSize()]
	number.Convert(dst[start:], image.DType, samples, image.Elements()) // cannot fail, see begin
	return dst, nil
}

// Close closes the folders.
func (t *Table) Close() error {
	var all []error
	for _, f := range t.folders {
		if f != t.root {
			all = append(all, f.Close())
		}
	}
	return errors.Join(append(all, t.root.Close())...)
}
