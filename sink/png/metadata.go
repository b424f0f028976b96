package png

import (
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/images"
	"github.com/idxport/idxport/internal/publish"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A metadata makes the lines of metadata.csv, on many goroutines. The steps write them.
type metadata struct {
	stream  *publish.Stream
	columns []metadataColumn
	maxLine int // in bytes
}

// A metadataColumn is a column after file_name.
type metadataColumn struct {
	index int // of the column in the schema
	dtype idx.DType
	texts []string // class names by label, quoted; nil for a column of numbers
}

// newMetadata creates metadata.csv in folder and writes its header. Its columns are the label, its
// class names if they are known, and the other scalars, which newMetadata removes from found.Rest.
func newMetadata(folder *publish.Folder, s *schema.Schema, found *images.Columns) (*metadata, error) {
	const maxPath = 128 // bytes of a class folder (see schema.FolderNames), a file of a row, and the newline
	m, header := &metadata{maxLine: maxPath}, []byte("file_name")
	taken := []string{"file_name", "image"} // readers name the column of images "image"
	add := func(name string, c metadataColumn, size int) {
		header = csv.AppendQuoted(append(header, ','), []byte(name), ',')
		m.columns = append(m.columns, c)
		m.maxLine += 1 + size
	}
	indices := slices.Clone(found.Rest)
	if found.Label >= 0 {
		indices = slices.Insert(indices, 0, found.Label)
		taken = append(taken, schema.ClassName)
	}
	found.Rest = nil
	for _, i := range indices {
		c := s.Columns[i]
		if !c.Scalar() {
			found.Rest = append(found.Rest, i)
			continue
		}
		if slices.ContainsFunc(taken, func(name string) bool { return strings.EqualFold(name, c.Name) }) {
			return nil, images.Unsupported(format, schema.HintName, "%s already has a column %s, so it cannot hold "+
				"column %q", schema.MetadataFile, strings.ToLower(c.Name), c.Name)
		}
		column, size := metadataColumn{index: i, dtype: c.DType}, 0
		add(c.Name, column, schema.MaxNumber)
		if i == found.Label && len(c.Classes) > 0 {
			for _, class := range c.Classes {
				if class != "" {
					class = string(csv.AppendQuoted(nil, []byte(class), ','))
				}
				column.texts, size = append(column.texts, class), max(size, len(class))
			}
			add(schema.ClassName, column, size)
		}
	}
	var err error
	if m.stream, err = folder.Create(schema.MetadataFile); err == nil {
		_, err = m.stream.Write(append(header, '\n'))
	}
	return m, err
}

// append appends the line of row i of b. Its label is not negative, and path needs no quotes.
func (m *metadata) append(dst []byte, path string, b schema.Batch, i int) []byte {
	dst = append(dst, path...)
	for _, c := range m.columns {
		dst = append(dst, ',')
		data := b.Columns[c.index]
		if c.texts == nil {
			dst = schema.AppendNumber(dst, c.dtype, data, i, "inf") // which readers of CSV take for a float
		} else if v := source.Int(c.dtype, data, i); v < int64(len(c.texts)) { // others have no name
			dst = append(dst, c.texts[v]...)
		}
	}
	return append(dst, '\n')
}
