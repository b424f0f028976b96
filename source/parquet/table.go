package parquet

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
)

// A table is a Parquet file.
type table struct {
	columnar.Base
	path    string
	file    *file
	columns []*column
	streams []*stream // of the leaves of all columns, one after another
	next    int64     // row
	closer  io.Closer // nil if the caller owns the file
}

// Open opens the Parquet file at path. Options.DType is for bytes, and for integers whose type IDX
// does not have; Options.Shape is for bytes.
func Open(path string, o source.ReadOptions) (source.Table, error) {
	t, err := open(path, o)
	if err != nil {
		return nil, err // not a nil *table, which is no nil Table
	}
	return t, nil
}

// OpenFiles opens the files at paths, whose columns must be the same, as one table called name.
func OpenFiles(paths []string, name string, o source.ReadOptions) (source.Table, error) {
	return columnar.OpenFiles(Open, paths, name, o)
}

// open opens the file at path.
func open(path string, o source.ReadOptions) (*table, error) {
	f, err := source.In(o.Files).Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = unsupported("", "copy it to a file first", "found no regular file; Parquet is read from its end").In(path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	t, err := newTable(f, info.Size(), path, o)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	t.closer = f
	return t, nil
}

// newTable reads the Parquet file that r has, of size bytes; name stands for it in errors. The caller closes r, after the table.
func newTable(r io.ReaderAt, size int64, name string, o source.ReadOptions) (t *table, err error) {
	defer func() {
		err = fault.In(name, err)
	}()
	defer recovered(&err)
	f, err := openFile(r, size)
	if err != nil {
		return nil, err
	}
	columns, found, err := resolve(f, filepath.Base(name), o)
	if err != nil {
		return nil, err
	}
	delete(f.meta, arrowSchemaKey) // is no metadata of the user
	t = &table{Base: columnar.NewBase(name, found, f.meta), path: name, file: f, columns: columns}
	for _, c := range t.columns {
		for _, l := range c.leaves {
			t.streams = append(t.streams, newStream(l))
		}
	}
	return t, nil
}

// Rows is the number of rows of the footer.
func (t *table) Rows() int64 { return t.file.rows }

// A batch is what Read tells Decode.
type batch struct {
	parts []part // of each stream
	page  []byte // memory to decompress pages in
}

// Read decodes pages that reach beyond the batch, and reads the others.
func (t *table) Read(ctx context.Context, b *source.Raw) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n := int(min(int64(max(b.Cap, 1)), t.file.rows-t.next))
	b.First, b.Rows = t.next, n
	if n == 0 {
		return t.end()
	}
	state, ok := b.State.(*batch)
	if !ok || len(state.parts) != len(t.streams) {
		state = &batch{parts: make([]part, len(t.streams))}
		b.State = state
	}
	if len(b.Columns) != len(t.columns) {
		b.Columns = make([][]byte, len(t.columns))
	}
	for i, c := range t.columns {
		b.Columns[i] = source.Grow(b.Columns[i], n*c.RecordSize())
		for k, l := range c.leaves {
			p := &state.parts[c.first+k]
			switch {
			case l.raw():
			case len(c.leaves) == 1:
				p.dst = b.Columns[i]
			default:
				p.dst = source.Grow(p.dst, n*l.element.size)
			}
			if err := t.streams[c.first+k].read(ctx, p, n); err != nil {
				return fault.In(t.path, err)
			}
		}
	}
	t.next += int64(n)
	return nil
}

// end checks that nothing is left where the last row was read.
func (t *table) end() error {
	for _, s := range t.streams {
		if err := s.finish(); err != nil {
			return fault.In(t.path, err)
		}
	}
	return io.EOF
}

// Decode decompresses and decodes the pages that Read has left, and images.
func (t *table) Decode(b *source.Raw) (err error) {
	defer func() { err = fault.In(t.path, err) }()
	defer recovered(&err)
	state, ok := b.State.(*batch)
	if !ok || b.Rows == 0 {
		return nil
	}
	for i, c := range t.columns {
		d := &decoding{column: c, parts: state.parts[c.first : c.first+len(c.leaves)], first: b.First, rows: b.Rows, dst: b.Columns[i], scratch: &state.page}
		if err := d.decode(); err != nil {
			return err
		}
	}
	return nil
}

// Skip passes over n rows, by whole row groups and pages where it can.
func (t *table) Skip(n int64) error {
	for _, s := range t.streams {
		if err := s.skip(n); err != nil {
			return fault.In(t.path, err)
		}
	}
	t.next += n
	return nil
}

// Close closes the file that Open opened.
func (t *table) Close() error {
	if t.closer == nil {
		return nil
	}
	return t.closer.Close()
}
