package parquet

import (
	"bytes"
	"encoding/base64"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/arrow"
	"github.com/idxport/idxport/source/columnar"
)

const (
	magic       = "PAR1"
	maxFooter   = 32 << 20 // bytes, of which it takes three times the memory
	minPage     = 16       // minimum size of a page with its header, in bytes
	hintDecrypt = "decrypt the file first"
)

// A file is the columnar.File of a Parquet file, and the columnar.Sample of its first row.
type file struct {
	r         io.ReaderAt
	closer    io.Closer
	end       int64 // offset of the footer
	maxRecord int64 // bytes

	footer  format.FileMetaData
	root    *node     // of the schema
	leaves  []*leaf   // of all fields
	streams []*stream // of the leaves of the table
	held    int64     // bytes of the current pages and dictionaries of all streams after decompression
	limit   int64     // for held

	unopened sync.Map // the pages of batches that are not decoded yet
}

// Open opens a Parquet file. o.DType applies to bytes and to foreign integers, o.Shape to bytes.
func Open(path string, o source.ReadOptions) (source.Table, error) {
	return source.OpenFile(o.Files, path, "a Parquet file", func(f source.File, i fs.FileInfo) (source.Table, error) {
		return newTable(f, f, i.Size(), path, o)
	})
}

// newTable opens the Parquet file in r, which has size bytes. Errors contain name.
func newTable(r io.ReaderAt, c io.Closer, size int64, name string, o source.ReadOptions) (t source.Table, err error) {
	defer func() { err = fault.In(name, err) }()
	defer fault.Recovered(&err)
	f := &file{r: r, closer: c, maxRecord: o.MaxRecord()}
	if err := f.readFooter(size); err != nil {
		return nil, err
	}
	in := columnar.Input{Path: name, Rows: f.footer.NumRows, Meta: map[string]string{}, Options: o}
	for _, pair := range f.footer.KeyValueMetadata {
		in.Meta[pair.Key] = pair.Value
	}
	// Arrow's writers and idxport keep metadata of columns in an Arrow schema. It may be damaged.
	message, _ := base64.StdEncoding.DecodeString(in.Meta[source.KeyArrowSchema])
	known, _ := arrow.Describe(message)
	delete(in.Meta, source.KeyArrowSchema) // not the user's
	for _, n := range f.root.children {
		field := n.describe()
		field.Metadata = known[n.Name].Metadata
		copy(field.Lengths, known[n.Name].Lengths) // for a file without rows
		in.Fields = append(in.Fields, field)
		if field.Kind == columnar.Struct {
			n = n.children[slices.IndexFunc(n.children, func(m *node) bool { return m.Name == source.HubBytes })]
		}
		n = n.innermost()
		f.leaves = append(f.leaves, &leaf{node: n, file: f, perRow: 1, definition: n.maxDefinition, shape: "one value"})
	}
	if f.footer.NumRows > 0 {
		in.First = f
	}
	found, err := columnar.Resolve(in)
	if err != nil {
		return nil, err
	}
	for _, c := range found.Columns {
		for _, i := range c.Fields {
			l := f.leaves[i]
			if c.Bytes {
				l.limit = c.MaxValue()
			} else {
				l.dtype = c.DType
			}
			f.streams = append(f.streams, &stream{leaf: l, group: -1})
		}
	}
	return columnar.NewTable(name, f, found), nil
}

// Close closes the file, after reading the pages of batches that may be decoded later.
func (f *file) Close() error {
	for p := range f.unopened.Range {
		_, _ = p.(*page).content() // keeps an error for these batches
	}
	return f.closer.Close()
}

// readFooter reads the footer of the file, which has size bytes, and checks its structure.
func (f *file) readFooter(size int64) error {
	head := make([]byte, min(size, int64(len(magic))))
	if _, err := columnar.ReadAt(f.r, head, 0); err != nil {
		return err
	}
	switch {
	case string(head) == "PARE":
		return columnar.Unsupported(hintDecrypt, "the file is encrypted")
	case !strings.HasPrefix(magic, string(head)):
		return columnar.Damaged("found %q, expected %q: not a Parquet file", head, magic).At(0).
			WithHint("if it is a web page or a Git LFS pointer, download the file itself")
	}
	data, at, err := columnar.Footer(f.r, size, magic, int64(len(magic)), maxFooter)
	if f.end = at; err != nil {
		return err
	}
	switch _, err := unmarshal(data, &f.footer); {
	case f.footer.EncryptionAlgorithm.Value != nil: // the signature of the footer follows it
		return columnar.Unsupported(hintDecrypt, "columns of the file are encrypted")
	case err != nil:
		return columnar.Damaged("the footer is damaged: %v", err).At(f.end)
	}
	var leaves []*node
	if f.root, leaves, err = newTree(f.footer.Schema); err != nil {
		return fault.Place(err, "", -1, f.end)
	}
	rows, end := int64(0), int64(0) // end: of all but the footer
	for i := range f.footer.RowGroups {
		g := &f.footer.RowGroups[i]
		if g.NumRows < 0 || rows > 1<<62-g.NumRows || len(g.Columns) != len(leaves) {
			return columnar.Damaged("found row group %d with %d rows and %d columns, expected %d columns",
				i, g.NumRows, len(g.Columns), len(leaves)).At(f.end)
		}
		packed := int64(0)
		for k, n := range leaves {
			if err := f.checkChunk(&g.Columns[k], n, g.NumRows); err != nil {
				return fault.Place(err, n.column(), -1, f.end)
			}
			c, m := &g.Columns[k], &g.Columns[k].MetaData
			packed = min(packed+m.TotalCompressedSize, f.end)
			end = max(end, chunkStart(m)+m.TotalCompressedSize, m.BloomFilterOffset+int64(m.BloomFilterLength),
				c.OffsetIndexOffset+int64(c.OffsetIndexLength), c.ColumnIndexOffset+int64(c.ColumnIndexLength))
		}
		f.limit = max(f.limit, freeSize+maxRatio*packed)
		rows += g.NumRows
	}
	if rows != f.footer.NumRows {
		return columnar.Damaged("found %d rows in row groups, expected %d in all", rows, f.footer.NumRows).At(f.end)
	}
	return source.CheckAlone(f.r, magic, magic, f.end-end)
}

// checkChunk checks the chunk of leaf n in a row group, which must end before the footer.
func (f *file) checkChunk(c *format.ColumnChunk, n *node, rows int64) error {
	m, start := &c.MetaData, chunkStart(&c.MetaData)
	size := m.TotalCompressedSize
	switch {
	case c.FilePath != "" || len(m.PathInSchema) == 0:
		return columnar.Unsupported(hintDecrypt, "the column is encrypted, or in another file (%q)", c.FilePath)
	case m.Type != n.Type.V || start < 0 || size < 0 || start > f.end || size > f.end-start ||
		m.NumValues < rows || m.NumValues>>31 > size/minPage: // the number of entries of a page has 31 bits
		return columnar.Damaged("found a column of %d entries of %s in %d bytes at byte %d, expected %s, an entry for "+
			"each of %d rows, and an end before the footer", m.NumValues, m.Type, size, start, n.Type.V, rows)
	}
	return nil
}

// chunkStart returns the offset of the first page of a chunk.
func chunkStart(m *format.ColumnMetaData) int64 {
	if d := m.DictionaryPageOffset; d > 0 && d < m.DataPageOffset {
		return d
	}
	return m.DataPageOffset
}

// Values returns the bytes of a column in up to limit rows of the first page.
func (f *file) Values(i, limit int) (values [][]byte, err error) {
	l := f.leaves[i]
	l.limit = int(2*f.maxRecord) + 16<<20 // an image file has more than its pixels
	s := &stream{leaf: l, group: -1}
	defer s.hold(0)
	p, err := s.nextPage(0)
	if err != nil {
		return nil, err
	}
	n := min(p.entries, limit)
	err = p.use(nil, 0, n, func(v columnar.Values) error {
		for k := range n {
			values = append(values, bytes.Clone(v.At(k, n)))
		}
		return nil
	})
	return values, err
}
