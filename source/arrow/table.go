package arrow

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
)

// Open opens the Arrow file or stream at path. Errors have one of the kinds of package fault, and
// the path.
func Open(path string, o source.ReadOptions) (source.Table, error) {
	f, info, err := source.OpenFile(o.Files, path, "an Arrow file")
	if err != nil {
		return nil, err
	}
	t, err := open(&messages{file: f, end: info.Size()}, path, source.Base(path), o)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return t, nil
}

// New reads an Arrow stream from r. Errors call it name, which is "-" for standard input.
// The caller closes r after the table.
func New(r io.Reader, name string, o source.ReadOptions) (source.Table, error) {
	origin := source.Stdin
	if name != source.Stdin {
		origin = source.Base(name)
	}
	return open(&messages{r: r}, name, origin, o)
}

// Metadata returns the metadata of the columns of an Arrow schema, by their names. Other formats
// keep it in their own metadata, as an encapsulated message. The error is that of the message, or
// of a column whose values cannot be read in any format.
func Metadata(encapsulated []byte) (all map[string]map[string]string, err error) {
	defer columnar.Recovered(&err)
	m, err := readMessage(bytes.NewReader(encapsulated), 0, nil)
	if err != nil {
		return nil, err
	}
	r, err := ipc.NewReaderFromMessageReader(&replay{all: []message{m}})
	if err != nil {
		return nil, err
	}
	all = map[string]map[string]string{}
	for _, f := range r.Schema().Fields() {
		all[f.Name] = describe(f).Metadata
	}
	return all, nil
}

// A file is the columnar.File of an Arrow file or stream. All leaves share its record batches.
type file struct {
	*messages
	found   *columnar.Resolved
	leaves  []leaf
	batches []*batch // those that some leaf has not reached, from the first one on
	dropped int      // number of batches that all leaves have passed
}

// open resolves the columns from the schema and the first record batch that has rows.
func open(m *messages, path, origin string, o source.ReadOptions) (t source.Table, err error) {
	defer func() { err = fault.In(path, err) }()
	defer columnar.Recovered(&err)
	var notes []string // until there is a table
	m.note = func(note string) { notes = append(notes, note) }
	f := &file{messages: m}
	schema, err := m.open()
	if err != nil {
		return nil, err
	}
	in := columnar.Input{Origin: origin, Meta: schema.Metadata().ToMap(), Options: o}
	for _, field := range schema.Fields() {
		in.Fields = append(in.Fields, describe(field))
	}
	m.direct(schema, in.Fields)
	sample := &firstRow{fields: in.Fields, maxRecord: o.MaxRecord()}
	first, err := f.batch(0, 0)
	if err == nil {
		in.First = sample
	}
	if err == nil && first.window == 0 {
		sample.RecordBatch, err = first.record()
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	if f.found, err = columnar.Resolve(in); err != nil {
		return nil, err
	}
	if err := f.found.CheckEmpty(m.rows); err != nil {
		return nil, err
	}
	for i := range f.found.Columns {
		c := &f.found.Columns[i]
		for _, l := range c.Leaves() {
			lengths, err := sample.Lengths(l.Field)
			if err != nil {
				return nil, err
			}
			f.leaves = append(f.leaves, leaf{l, c.Name, lengths, c.Entries(), 0, 0})
		}
	}
	table := columnar.NewTable(path, f, f.found, in.Meta)
	for _, note := range notes {
		table.AddNote(note)
	}
	m.note = table.AddNote
	return table, nil
}

// Rows returns the number of rows, or −1 if the input is not a regular file.
func (f *file) Rows() int64 { return f.rows }

// Close closes the file that Open opened.
func (f *file) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// batch returns record batch i that has rows. Those before f.dropped are gone. If it has at most
// skip rows, it will not be decoded.
func (f *file) batch(i int, skip int64) (*batch, error) {
	for i-f.dropped >= len(f.batches) {
		b, err := f.next(skip)
		if err == nil && f.found != nil {
			err = f.found.CheckEmpty(f.first)
		}
		if err != nil {
			return nil, err
		}
		if b.rows > 0 {
			f.batches = append(f.batches, b)
		}
	}
	return f.batches[i-f.dropped], nil
}

// Next returns the entries of a leaf in the next record batch.
func (f *file) Next(i int, skip int64) (*columnar.Chunk, error) {
	l := &f.leaves[i]
	b, err := f.batch(l.passed, skip/l.entries)
	if err == io.EOF && f.rows >= 0 && f.first != f.rows {
		err = damaged("found %d rows, expected the %d that were counted: the file changed while it was read", f.first, f.rows)
	}
	if err != nil {
		return nil, err
	}
	from, rows := l.row, b.rows-l.row
	if b.window > 0 {
		rows = min(rows, b.window)
	}
	if l.row += rows; l.row == b.rows {
		l.passed, l.row = l.passed+1, 0
		if i == len(f.leaves)-1 { // the last leaf is read last
			f.batches, f.dropped = f.batches[1:], f.dropped+1
		}
	}
	switch {
	case rows*l.entries <= skip:
		return &columnar.Chunk{Entries: rows * l.entries}, nil
	case b.window > 0:
		return f.chunk(l, b, from, rows)
	}
	entries := sync.OnceValues(func() (arrow.Array, error) { return l.entriesOf(b) })
	use := func(_ []byte, from, n int, f func(columnar.Values) error) error {
		a, err := entries()
		var v columnar.Values
		if err == nil && a.Len() > 0 { // not lists that are all empty
			v, err = values(array.NewSlice(a, int64(from), int64(from+n)))
		}
		if err != nil {
			return fault.Place(err, l.name, -1, -1)
		}
		return f(v)
	}
	return &columnar.Chunk{Entries: b.rows * l.entries, Use: use}, nil
}

// A firstRow is the columnar.Sample of a record batch.
type firstRow struct {
	fields            []columnar.Field
	arrow.RecordBatch       // nil if there are no rows, or all columns have values of a fixed size
	maxRecord         int64 // bytes
}

// Values returns the bytes of field i, or of its member if given, in up to limit rows.
func (r *firstRow) Values(i int, member string, limit int) (all [][]byte, err error) {
	defer columnar.Recovered(&err)
	l := leaf{columnar.Leaf{Field: i, Member: member}, r.ColumnName(i), nil, 1, 0, 0}
	n := min(int64(limit), r.NumRows())
	a, err := l.entriesOf(&batch{rows: n, record: func() (arrow.RecordBatch, error) { return r.NewSlice(0, n), nil }})
	if err != nil {
		return nil, err
	}
	v, err := values(a)
	if err != nil {
		return nil, err
	}
	for k := range int(n) {
		value := v.At(k, int(n))
		if int64(len(value)) > 2*r.maxRecord+16<<20 { // an image file has more than its pixels
			return nil, fault.New(fault.Unsupported, "found a record of %d bytes, expected at most %d", len(value), r.maxRecord).
				InColumn(l.name).WithHint("allow larger records with --max-record-bytes %d", len(value))
		}
		all = append(all, value)
	}
	return all, nil
}
