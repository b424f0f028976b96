package parquet

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/idx"
)

const (
	magic          = "PAR1"
	magicEncrypted = "PARE"
	tailSize       = 8         // the footer's length and magic, at the end of the file
	maxFooter      = 128 << 20 // bytes
	minPage        = 16        // minimum size of a page with its header, in bytes
)

// A file is an open file with the content of its footer. After Open, only table.Read and table.Skip
// change it.
type file struct {
	name     string // for hints
	r        io.ReaderAt
	size     int64
	codecs   *codecs
	window   []byte // buffer for page headers
	reserved int64  // bytes of the decompressed pages and dictionaries that streams keep

	root      *node
	leafNodes []*node
	groups    []rowGroup
	rows      int64
	meta      map[string]string
}

// reserve adds n, which may be negative, to reserved, and fails if that exceeds maxReserved.
func (f *file) reserve(n int64) error {
	if f.reserved += n; f.reserved > maxReserved {
		return damaged("the current pages and dictionaries of the columns decompress to more than %d bytes", int64(maxReserved))
	}
	return nil
}

type rowGroup struct {
	rows   int64
	chunks []chunk // of each leaf
}

// A chunk is the part of a row group with the values of a leaf.
type chunk struct {
	offset, size, entries int64
	codec                 format.CompressionCodec
}

// openFile reads the footer of r, which has size bytes and is called name in hints.
func openFile(r io.ReaderAt, size int64, name string) (f *file, err error) {
	defer recovered(&err)
	f = &file{name: name, r: r, size: size, codecs: newCodecs()}
	data, offset, err := f.footer()
	if err != nil {
		return nil, err
	}
	var footer format.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), data, &footer); err != nil {
		return nil, damaged("the footer is damaged: %v", err).At(offset)
	}
	if f.root, f.leafNodes, err = newTree(footer.Schema); err != nil {
		return nil, located(err, "", -1, offset)
	}
	f.meta = make(map[string]string, len(footer.KeyValueMetadata))
	for _, pair := range footer.KeyValueMetadata {
		f.meta[pair.Key] = pair.Value
	}
	for i := range footer.RowGroups {
		if err := f.addGroup(i, &footer.RowGroups[i], offset); err != nil {
			return nil, err
		}
	}
	if f.rows != footer.NumRows {
		return nil, damaged("found %d rows in the row groups, expected the %d of the footer", f.rows, footer.NumRows).At(offset)
	}
	return f, nil
}

// footer returns the bytes of the footer, whose structure it has checked, and their offset.
func (f *file) footer() (data []byte, offset int64, err error) {
	if f.size < int64(len(magic)+tailSize) {
		return nil, 0, fault.New(fault.Truncated, "found a file of %s, too few for a Parquet file", display.Count(f.size, "byte"))
	}
	var head [len(magic)]byte
	var tail [tailSize]byte
	if _, err := f.r.ReadAt(head[:], 0); err != nil {
		return nil, 0, truncated(err, "the file became shorter")
	}
	if _, err := f.r.ReadAt(tail[:], f.size-tailSize); err != nil {
		return nil, 0, truncated(err, "the file became shorter")
	}
	switch end := string(tail[4:]); {
	case end == magicEncrypted || string(head[:]) == magicEncrypted:
		return nil, 0, unsupported("", "decrypt it first", "the file is encrypted")
	case string(head[:]) != magic:
		if message, advice := idx.WebPage(head[:], "a Parquet file"); message != "" {
			return nil, 0, damaged("%s", message).At(0).WithHint("%s", advice)
		}
		return nil, 0, damaged("found % x, expected %q: not a Parquet file", head, magic).At(0)
	case end != magic:
		return nil, 0, fault.New(fault.Truncated, "found % x, expected %q: the file is cut short", tail[4:], magic).At(f.size - 4).
			WithHint("the file is incomplete: download or write it again")
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > f.size-tailSize-int64(len(magic)) || n > maxFooter {
		return nil, 0, damaged("found a footer of %d bytes, expected at most %d", n, min(maxFooter, f.size-tailSize-int64(len(magic)))).At(f.size - tailSize)
	}
	data, offset = make([]byte, n), f.size-tailSize-n
	if _, err := f.r.ReadAt(data, offset); err != nil {
		return nil, 0, truncated(err, "the file became shorter")
	}
	walk, encrypted := compact{data: data}, false
	err = walk.fields(0, func(id int64, _ thrift.Type) (bool, error) {
		const encryption = 8 // FileMetaData.encryption_algorithm: what follows is the footer's signature
		encrypted = encrypted || id == encryption
		return false, nil
	})
	switch {
	case err != nil:
		return nil, 0, damaged("the footer is damaged: %v", err).At(offset + int64(walk.pos))
	case encrypted:
		return nil, 0, unsupported("", "decrypt it first", "columns of the file are encrypted")
	}
	return data, offset, nil
}

// addGroup adds row group i, after checking that its chunks end before the footer.
func (f *file) addGroup(i int, g *format.RowGroup, footerOffset int64) error {
	if g.NumRows < 0 || f.rows > 1<<62-g.NumRows {
		return damaged("found row group %d with %d rows", i, g.NumRows).At(footerOffset)
	}
	if len(g.Columns) != len(f.leafNodes) {
		return damaged("row group %d has %d columns, expected %d", i, len(g.Columns), len(f.leafNodes)).At(footerOffset)
	}
	group := rowGroup{rows: g.NumRows, chunks: make([]chunk, len(g.Columns))}
	for k := range g.Columns {
		c, err := f.newChunk(&g.Columns[k], f.leafNodes[k], footerOffset)
		if err != nil {
			return located(err, f.leafNodes[k].path, -1, footerOffset)
		}
		if g.NumRows > c.entries { // each row has at least one entry
			return damaged("row group %d has %d rows and %d entries, expected at least one per row", i, g.NumRows, c.entries).InColumn(f.leafNodes[k].path).At(footerOffset)
		}
		group.chunks[k] = c
	}
	f.rows += g.NumRows
	f.groups = append(f.groups, group)
	return nil
}

// newChunk returns the chunk of leaf n, after checking that it ends before the footer.
func (f *file) newChunk(c *format.ColumnChunk, n *node, footerOffset int64) (chunk, error) {
	m := &c.MetaData
	if c.FilePath != "" {
		return chunk{}, unsupported(n.path, "", "the column is in another file, %q", c.FilePath)
	}
	if len(m.PathInSchema) == 0 {
		return chunk{}, unsupported(n.path, "decrypt the file first", "the column is encrypted, or its description is missing")
	}
	if m.Type != n.kind() {
		return chunk{}, damaged("found a column of %s, expected %s as in the schema", m.Type, n.kind())
	}
	ch := chunk{offset: m.DataPageOffset, size: m.TotalCompressedSize, entries: m.NumValues, codec: m.Codec}
	if d := m.DictionaryPageOffset; d > 0 && d < ch.offset {
		ch.offset = d
	}
	if ch.offset < 0 || ch.size < 0 || ch.entries < 0 || ch.offset > footerOffset || ch.size > footerOffset-ch.offset {
		return chunk{}, damaged("found a column of %d bytes at byte %d, expected it to end before the footer", ch.size, ch.offset)
	}
	if ch.entries>>31 > ch.size/minPage { // the number of entries of a page has 31 bits
		return chunk{}, damaged("found a column of %d entries in %d bytes, expected fewer than 2³¹ entries per page", ch.entries, ch.size)
	}
	if !knownCodec(m.Codec) {
		return chunk{}, unsupported(n.path, hintCodec(f.name), "found the compression %s, expected zstd, snappy, gzip, lz4_raw or none", m.Codec)
	}
	return ch, nil
}

// A node is an element of the schema: a leaf or a group.
type node struct {
	*format.SchemaElement
	path     string // the names from the root to the node, with dots
	parent   *node
	children []*node
	index    int // of a leaf among all leaves, −1 for a group

	maxRepetition, maxDefinition int

	advice string // the hint for values that do not fit the column's type
}

// kind returns the physical type of a leaf.
func (n *node) kind() format.Type { return n.Type.V }

func (n *node) repeated() bool {
	return n.RepetitionType.V == format.Repeated && n.RepetitionType.Valid
}
func (n *node) optional() bool {
	return n.RepetitionType.V == format.Optional && n.RepetitionType.Valid
}

// child returns the child with a name, or nil.
func (n *node) child(name string) *node {
	for _, c := range n.children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// maxDepth limits the nesting of groups. Even 64 nested lists, more than any program writes, have
// fewer levels.
const maxDepth = 200

// newTree returns the tree of elements, which are in depth-first order, and its leaves.
func newTree(elements []format.SchemaElement) (root *node, leaves []*node, err error) {
	if len(elements) == 0 {
		return nil, nil, damaged("the schema is empty")
	}
	rest := elements[1:]
	root = &node{SchemaElement: &elements[0], index: -1}
	var add func(parent *node, depth int) error
	add = func(parent *node, depth int) error {
		for range parent.NumChildren.V {
			if len(rest) == 0 || depth > maxDepth {
				return damaged("the schema ends too early, after %d elements, or has more than %d levels", len(elements), maxDepth)
			}
			n := &node{SchemaElement: &rest[0], parent: parent, path: rest[0].Name, index: -1,
				maxRepetition: parent.maxRepetition, maxDefinition: parent.maxDefinition}
			rest = rest[1:]
			if parent != root {
				n.path = parent.path + "." + n.path
			}
			if n.repeated() {
				n.maxRepetition++
			}
			if n.repeated() || n.optional() {
				n.maxDefinition++
			}
			parent.children = append(parent.children, n)
			if !n.Type.Valid {
				if err := add(n, depth+1); err != nil {
					return err
				}
				continue
			}
			n.index = len(leaves)
			leaves = append(leaves, n)
		}
		return nil
	}
	if err := add(root, 0); err != nil {
		return nil, nil, err
	}
	if len(rest) > 0 {
		return nil, nil, damaged("the schema has %d elements outside its root", len(rest))
	}
	return root, leaves, nil
}

// newLeaf returns the leaf of node n, expecting one value per row until expect is called again.
func (f *file) newLeaf(n *node) *leaf {
	l := &leaf{node: n, file: f, empty: make([]bool, n.maxDefinition), shape: "one value", maxBytes: maxPage}
	for m := n; m.parent != nil; m = m.parent {
		if m.repeated() {
			l.empty[m.maxDefinition-1] = true
		}
	}
	l.expect([]byte{0}, l.maxDefinition)
	return l
}

// describe returns the type of n for messages.
func (n *node) describe() string {
	if n.index < 0 {
		var names []string
		for _, c := range n.children {
			names = append(names, c.Name)
		}
		return fmt.Sprintf("a struct of %q", names)
	}
	if n.LogicalType.Value != nil {
		return n.LogicalType.Value.String()
	}
	switch {
	case n.ConvertedType.Valid && n.ConvertedType.V == deprecated.Interval:
		return "INTERVAL"
	case n.ConvertedType.Valid:
		return fmt.Sprintf("%s (converted type %d)", n.kind(), n.ConvertedType.V)
	}
	return n.kind().String()
}
