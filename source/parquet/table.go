package parquet

import (
	"context"
	"errors"
	"io"

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
	streams []*stream // of the leaves of all columns, in order
	next    int64     // the next row
	closer  io.Closer // nil if the caller owns the file
}

// Open opens the Parquet file at path. o.DType applies to bytes and to integers of a type that IDX
// does not have, o.Shape to bytes.
func Open(path string, o source.ReadOptions) (source.Table, error) {
	t, err := open(path, o)
	if err != nil {
		return nil, err // a nil *table would not be a nil Table
	}
	return t, nil
}

// OpenFiles opens the files at paths, whose columns must be equal, as one table with the given
// name.
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
	if err == nil && info.IsDir() {
		err = unsupported("", "give one of its files", "found a folder, expected a file").In(path)
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

// newTable opens the Parquet file in r, which has size bytes. Errors contain name. The caller must
// close r after the table.
func newTable(r io.ReaderAt, size int64, name string, o source.ReadOptions) (t *table, err error) {
	defer func() {
		err = fault.In(name, err)
	}()
	defer recovered(&err)
	f, err := openFile(r, size, name)
	if err != nil {
		return nil, err
	}
	columns, found, err := resolve(f, source.Base(name), o)
	if err != nil {
		return nil, err
	}
	delete(f.meta, arrowSchemaKey) // not the user's metadata
	t = &table{Base: columnar.NewBase(name, found, f.meta), path: name, file: f, columns: columns}
	for _, c := range t.columns {
		for _, l := range c.leaves {
			t.streams = append(t.streams, newStream(l))
		}
	}
	return t, nil
}

// Rows returns the number of rows according to the footer.
func (t *table) Rows() int64 { return t.file.rows }

// A batch is the state that Read leaves for Decode.
type batch struct {
	data []leafData // by stream
	page []byte     // buffer for decompressed pages
}

// Read decodes pages that extend beyond the batch, and stores the bodies of the others for Decode.
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
	if !ok || len(state.data) != len(t.streams) {
		state = &batch{data: make([]leafData, len(t.streams))}
		b.State = state
	}
	if len(b.Columns) != len(t.columns) {
		b.Columns = make([][]byte, len(t.columns))
	}
	for i, c := range t.columns {
		b.Columns[i] = source.Grow(b.Columns[i], n*c.RecordSize())
		for k, l := range c.leaves {
			data := &state.data[c.first+k]
			switch {
			case l.isByteArray():
			case len(c.leaves) == 1:
				data.dst = b.Columns[i]
			default:
				data.dst = source.Grow(data.dst, n*l.element.size)
			}
			if err := t.streams[c.first+k].read(ctx, data, n); err != nil {
				return fault.In(t.path, err)
			}
		}
	}
	t.next += int64(n)
	return nil
}

// end checks that no column has entries after the last row.
func (t *table) end() error {
	for _, s := range t.streams {
		if err := s.finish(); err != nil {
			return fault.In(t.path, err)
		}
	}
	return io.EOF
}

// Decode decodes the pages that Read has deferred, and images.
func (t *table) Decode(b *source.Raw) (err error) {
	defer func() { err = fault.In(t.path, err) }()
	defer recovered(&err)
	state, ok := b.State.(*batch)
	if !ok || b.Rows == 0 {
		return nil
	}
	for i, c := range t.columns {
		d := &decoding{column: c, data: state.data[c.first : c.first+len(c.leaves)], first: b.First, rows: b.Rows, dst: b.Columns[i], scratch: &state.page}
		if err := d.decode(); err != nil {
			return err
		}
	}
	return nil
}

// Skip skips n rows, by whole row groups and pages where possible.
func (t *table) Skip(n int64) error {
	for _, s := range t.streams {
		if err := s.skip(n); err != nil {
			return fault.In(t.path, err)
		}
	}
	t.next += n
	return nil
}

// Close closes the file if Open opened it.
func (t *table) Close() error {
	if t.closer == nil {
		return nil
	}
	return t.closer.Close()
}
