package arrow

import (
	"bytes"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
)

// Open opens the Arrow file or stream at path. Errors have the path, and a kind of package fault.
func Open(path string, o source.ReadOptions) (source.Table, error) {
	return source.OpenFile(o.Files, path, "an Arrow file", func(f source.File, info fs.FileInfo) (source.Table, error) {
		return open(&messages{file: f, end: info.Size()}, path, o)
	})
}

// New reads an Arrow stream from r, which the caller closes after the table. Errors call it name.
func New(r io.Reader, name string, o source.ReadOptions) (source.Table, error) {
	return open(&messages{r: r}, name, o)
}

// Describe describes the columns of a schema, an encapsulated message as in Parquet files, by name.
func Describe(encapsulated []byte) (all map[string]columnar.Field, err error) {
	defer fault.Recovered(&err)
	m, err := readMessage(bytes.NewReader(encapsulated), -1, nil) // not at an offset of the file
	if err != nil {
		return nil, err
	}
	schema, err := decodeSchema(m)
	if err != nil {
		return nil, err
	}
	all = map[string]columnar.Field{}
	for _, f := range schema.Fields() {
		if all[f.Name] = describe(f); strings.Contains(f.Type.String(), "duration[") {
			all[f.Name].Metadata[source.KeyExtension] = "duration" // Parquet has integers
		}
	}
	return all, nil
}

// A file is the columnar.File of an Arrow file or stream, and the columnar.Sample of its first
// record batch that has rows. All leaves share its record batches.
type file struct {
	messages
	windows windows
	fields  []leaf   // all fields of the schema, for the sample
	leaves  []leaf   // of the table
	batches []*batch // those that some leaf has not reached, from the first one on
	dropped int      // number of batches that all leaves have passed
}

// open resolves the columns from the schema and the first record batch that has rows.
func open(m *messages, path string, o source.ReadOptions) (t source.Table, err error) {
	defer func() { err = fault.In(path, err) }()
	defer fault.Recovered(&err)
	f := &file{messages: *m}
	schema, err := f.open()
	if err != nil {
		return nil, err
	}
	in := columnar.Input{Path: path, Rows: f.rows, Meta: schema.Metadata().ToMap(), Options: o}
	for i, field := range schema.Fields() {
		d := describe(field)
		in.Fields = append(in.Fields, d)
		f.fields = append(f.fields, leaf{field: i, name: d.Name, lengths: slices.Clone(d.Lengths)})
	}
	f.windows = newWindows(schema, in.Fields)
	if _, err = f.batch(0, 0); err == nil {
		in.First = f
	} else if err != io.EOF {
		return nil, err
	}
	found, err := columnar.Resolve(in)
	if err != nil {
		return nil, err
	}
	for _, c := range found.Columns {
		for _, i := range c.Fields {
			l := f.fields[i]
			l.name, l.entries = c.Name, c.Entries
			f.leaves = append(f.leaves, l)
		}
	}
	return columnar.NewTable(path, f, found), nil
}

func (f *file) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// batch returns record batch i that has rows. If it has at most skip rows, it is not decoded.
func (f *file) batch(i int, skip int64) (*batch, error) {
	for i-f.dropped >= len(f.batches) {
		b, err := f.next(func(msg *message) bool { return msg.rows > skip && !f.hasWindows(msg) })
		if err != nil {
			return nil, err
		}
		if b.rows > 0 {
			f.batches = append(f.batches, b)
		}
	}
	return f.batches[i-f.dropped], nil
}

// Next returns the entries of a leaf in the next record batch, or in the next window of it.
func (f *file) Next(i int, skip int64) (*columnar.Chunk, error) {
	l := &f.leaves[i]
	b, err := f.batch(l.passed, skip/l.entries)
	if err != nil {
		return nil, err
	}
	chunk := &columnar.Chunk{Entries: (b.rows - l.row) * l.entries}
	switch windows := f.hasWindows(&b.message); {
	case chunk.Entries <= skip:
	case windows && skip >= l.entries:
		chunk.Entries = skip / l.entries * l.entries
	case windows:
		chunk, err = f.window(b, l.field, l.row)
	default:
		chunk.Use = l.use(b)
	}
	if err != nil {
		return nil, fault.Place(err, l.name, -1, -1)
	}
	if l.row += chunk.Entries / l.entries; l.row == b.rows {
		l.passed, l.row = l.passed+1, 0
		if b.passed++; b.passed == len(f.leaves) { // then b is the first one
			f.batches, f.dropped = f.batches[1:], f.dropped+1
		}
	}
	return chunk, nil
}

// use returns the function for a chunk of the entries that l has in b.
func (l *leaf) use(b *batch) func([]byte, int, int, func(columnar.Values) error) error {
	entries := sync.OnceValues(func() (arrow.Array, error) { return l.entriesOf(b, b.rows) })
	return func(_ []byte, from, n int, f func(columnar.Values) error) error {
		a, err := entries()
		switch {
		case err != nil:
			return err
		case a.Len() == 0: // the lists are all empty
			return f(columnar.Values{})
		}
		return f(values(array.NewSlice(a, int64(from), int64(from+n))))
	}
}

// Lengths returns the lengths of the first lists of field i, which are then expected of all.
func (f *file) Lengths(i int) (_ []int, err error) {
	l := &f.fields[i]
	if slices.Contains(l.lengths, -1) {
		_, err = l.entriesOf(f.batches[0], 1)
	}
	return l.lengths, err
}

// Values returns the bytes of field i in up to limit rows.
func (f *file) Values(i, limit int) (all [][]byte, err error) {
	defer fault.Recovered(&err)
	n := min(int64(limit), f.batches[0].rows)
	a, err := f.fields[i].entriesOf(f.batches[0], n)
	if err != nil {
		return nil, err
	}
	v := values(a)
	for k := range int(n) {
		all = append(all, v.At(k, int(n)))
	}
	return all, nil
}
