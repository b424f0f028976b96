package png

import (
	"slices"
	"strings"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/images"
	"github.com/idxport/idxport/sink/publish"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// metadataName is the file that Hugging Face's imagefolder looks for.
const metadataName = "metadata.csv"

// maxPath is the most bytes of a file's name in its folder, and of the end of a line: see schema.FolderNames; a row has up to 19 digits.
const maxPath = 128

// infinity is what readers of CSV take for a float.
const infinity = "inf"

// A metadata makes the lines of metadata.csv, on many goroutines; the steps write them.
type metadata struct {
	stream  *publish.Stream
	columns []metadataColumn
	header  []byte
	most    int // bytes of a line
}

// A metadataColumn is a column behind the file's name.
type metadataColumn struct {
	index int // of the column in the schema
	dtype idx.DType
	texts []string // by value: those of a column of class names; nil for numbers
}

// newMetadata decides the columns of metadata.csv: the label, the names of its classes if they are known, and the other scalars, which it takes from rest.
func newMetadata(s *schema.Schema, found *images.Columns) (*metadata, error) {
	m := &metadata{header: []byte("file_name"), most: maxPath}
	taken := []string{"file_name", "image"} // readers put the images under this name
	add := func(name string, c metadataColumn, size int) {
		m.header = append(append(m.header, ','), quoted(name)...)
		m.columns = append(m.columns, c)
		m.most += 1 + size
	}
	indices := slices.Clone(found.Rest)
	if found.Label >= 0 {
		indices = slices.Insert(indices, 0, found.Label)
		if len(s.Columns[found.Label].Classes) > 0 {
			taken = append(taken, schema.ClassName)
		}
	}
	found.Rest = nil
	for _, i := range indices {
		c := s.Columns[i]
		if !c.Scalar() {
			found.Rest = append(found.Rest, i)
			continue
		}
		if slices.ContainsFunc(taken, func(name string) bool { return strings.EqualFold(name, c.Name) }) {
			return nil, unsupported("give the column another name: category=FILE", "%s has a column %s already, so column %q cannot be in it",
				metadataName, strings.ToLower(c.Name), c.Name)
		}
		add(c.Name, metadataColumn{index: i, dtype: c.DType}, images.MaxNumber)
		if i == found.Label && len(c.Classes) > 0 {
			texts, widest := quotedAll(c.Classes)
			add(schema.ClassName, metadataColumn{index: i, dtype: c.DType, texts: texts}, widest)
		}
	}
	m.header = append(m.header, '\n')
	return m, nil
}

// open begins the file.
func (m *metadata) open(folder *publish.Folder) error {
	root, err := folder.Class("")
	if err != nil {
		return err
	}
	if m.stream, err = root.Create(metadataName); err != nil {
		return err
	}
	_, err = m.stream.Write(m.header)
	return err
}

// append appends the line of row i of b, whose file is name in the class folder folder. Both are plain names that need no quotes.
func (m *metadata) append(dst []byte, folder string, name []byte, b schema.Batch, i int) []byte {
	if folder != "" {
		dst = append(append(dst, folder...), '/')
	}
	dst = append(dst, name...)
	for _, c := range m.columns {
		dst = append(dst, ',')
		data := b.Columns[c.index]
		if c.texts == nil {
			dst = images.AppendNumber(dst, c.dtype, data, i, infinity)
		} else if v := source.Int(c.dtype, data, i); v >= 0 && v < int64(len(c.texts)) { // others have no name
			dst = append(dst, c.texts[v]...)
		}
	}
	return append(dst, '\n')
}

// quotedAll is names as fields of CSV, and the most bytes that one has.
func quotedAll(names []string) (texts []string, widest int) {
	for _, name := range names {
		texts = append(texts, quoted(name))
		widest = max(widest, len(texts[len(texts)-1]))
	}
	return texts, widest
}

// quoted is text as a field of CSV, in quotes only where it needs them (RFC 4180, section 2), or where a reader would trim it.
func quoted(text string) string {
	if !strings.ContainsAny(text, ",\"\r\n") && !strings.HasPrefix(text, " ") {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}
