package layout

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/endian"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/images"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// Default is the name of the layout that is used where none is named.
const Default = "list"

// A Layout is one way to represent tensor columns. Its zero value is no layout: see Get.
type Layout struct {
	Name  string
	Title string // what it is, for help texts
	// Readers are those that it is made for, for help texts.
	Readers string
	// tensor represents one column of rank 2 or more. A layout that cannot returns fault.Usage. Column.Source is set by the caller.
	tensor func(c source.Column) ([]Column, error)
	// picture does the same, in place of tensor, for a layout of images whose samples are of one of dtypes.
	picture func(c source.Column, m images.Image) ([]Column, error)
	dtypes  []idx.DType
	// elements does the same, in place of tensor, for a layout that has a column for each element. alone says that no other column is a tensor.
	elements func(c source.Column, alone bool) ([]Column, error)
	// scalar represents a column of single elements; nil for a primitive column.
	scalar func(c source.Column) Column
	// metadata is what an output tells beside the schema's own metadata, or nil.
	metadata func(s *schema.Schema) []schema.Pair
	// labelled says that the layout tells the names of classes itself: it has no column of them.
	labelled bool
	// Channels says which dimension of three are the channels of images: "last", which empty means too, or "first". Layouts of other things ignore it.
	Channels string
	// Compresses tells that records are compressed by the layout itself: an output may be smaller than its table.
	Compresses bool
}

// layouts is the table of all layouts, in the order in which they are listed.
func layouts() []Layout {
	return []Layout{
		{Name: "list", Title: "fixed-size lists over the whole record",
			Readers: "pyarrow, pandas, polars, DuckDB, Spark, datasets", tensor: list},
		{Name: "nested", Title: "a fixed-size list for each dimension of the record",
			Readers: "polars, DuckDB, pyarrow", tensor: nested},
		{Name: "tensor", Title: "list, as Arrow's extension type fixed_shape_tensor",
			Readers: "pyarrow", tensor: tensor},
		{Name: "fixed-binary", Title: "records as fixed-size bytes, little-endian",
			Readers: "pyarrow, Spark 3.4 and newer", tensor: fixedBinary},
		{Name: "binary", Title: "records as bytes of variable size, little-endian",
			Readers: "Ray, TensorFlow I/O, older Spark", tensor: variableBinary},
		{Name: "spark-image", Title: "Spark ML's image struct; uint8 images only",
			Readers: "Spark ML", picture: sparkImage, dtypes: []idx.DType{idx.Uint8}},
		{Name: "huggingface", Title: "PNG files and named labels, for load_dataset; images only",
			Readers: "datasets", picture: huggingFace, dtypes: []idx.DType{idx.Uint8, idx.Int16}, scalar: huggingFaceScalar, metadata: features, labelled: true, Compresses: true},
		{Name: "columns", Title: "a column for each element, up to 4,096: pixel0, pixel1, …",
			Readers: "SQL; tools for flat tables", elements: columns},
	}
}

// Names lists the layouts.
func Names() []string {
	var names []string
	for _, l := range layouts() {
		names = append(names, l.Name)
	}
	return names
}

// Get finds a layout by its name; the empty name is Default's. The error for an unknown name lists the known ones.
func Get(name string) (Layout, error) {
	if name == "" {
		name = Default
	}
	for _, l := range layouts() {
		if l.Name == name {
			return l, nil
		}
	}
	return Layout{}, fmt.Errorf("unknown layout %q, expected one of %s", name, strings.Join(Names(), ", "))
}

// A Column is one column of an output.
type Column struct {
	Source int // index in the schema's columns of the one it is made of
	Field  arrow.Field
	// Prepare makes what Data and Values take in place of the source column's data: see Prepared. It is the same for all columns of a source, and
	// nil if they take the data as they are.
	Prepare func(data []byte, rows int) []byte
	// Names is the dictionary that Data makes indices of, where Field's type is dictionary<string>; it is the same for the whole output.
	Names []string
	// Data wraps data, rows records of the source column, as an array of Field's type.
	Data func(data []byte, rows int) arrow.ArrayData
	// Made is about the most bytes of a row that Data makes, beside the batch's own; a few for a whole batch do not count.
	Made int
	// Check refuses data, records of the source column from row first of the table on, if the layout cannot hold their values, with a fault. It is
	// called before Data and Values. Nil: it can hold all.
	Check func(data []byte, first int64) error
	// Elements are the nodes of the column in a Parquet schema, depth first; Leaves are those of them that hold values, in the same order.
	Elements []format.SchemaElement
	Leaves   []Leaf
}

// NameIndexSize is the number of bytes of an index into Leaf.Names.
const NameIndexSize = 2

// A Leaf is one Parquet column: what its pages hold, which is the same for every row but for the values.
type Leaf struct {
	Path []string    // names of the nodes that lead to it, the root's left out
	Type format.Type // physical type of the values

	// Element is the data type of what Values returns. Those narrower than Type are widened by the page writer, or serve it as indices
	// of a dictionary. It is 0 where Values returns what PLAIN pages of Type hold.
	Element idx.DType
	// Names is the dictionary of the leaf's chunks, for text: Values returns indices into it of NameIndexSize bytes. Element is 0 then, and Scalar is set.
	Names []string
	// Scalar tells that a row is one value of a few bytes. Page writers gather them over many batches and tell their minimum and maximum.
	Scalar bool
	// Size is the most bytes of a value in PLAIN pages, with its length, where Element is 0.
	Size int
	// Made tells that Values makes memory of its own.
	Made bool
	// Compressed tells that values are compressed already: no codec gains on them.
	Compressed bool

	Entries       int  // level entries of a row, at least 1
	Count         int  // values of a row: Entries, or 0 where nothing is defined
	MaxRepetition byte // if 0, pages have no repetition levels
	MaxDefinition byte // if 0, pages have no definition levels

	Repetition []byte // repetition levels of a row: whole runs of the run-length and bit-packing hybrid
	Definition byte   // definition level of every entry

	// Values returns the values of rows records of the source column, packed and little-endian: data itself, wherever that is what they are.
	Values func(data []byte, rows int) []byte
}

// Columns represents all columns of s, in their order. The error is fault.Usage if the layout cannot hold one of them.
func (l Layout) Columns(s *schema.Schema) ([]Column, error) {
	var all []Column
	if s.Classes != nil {
		if err := l.checkClasses(s.Classes); err != nil {
			return nil, err
		}
	}
	tensors := 0
	for _, c := range s.Columns {
		if !c.Scalar() && c.Elements() > 0 {
			tensors++
		}
	}
	for i, c := range s.Columns {
		columns, err := l.column(c, tensors == 1)
		if err != nil {
			return nil, err
		}
		for _, column := range columns {
			column.Source = i
			all = append(all, column)
		}
		if s.Classes != nil && s.Classes.Label == i {
			all = append(all, classes(s.Classes))
		}
	}
	if l.elements != nil {
		return all, checkNames(all)
	}
	return all, nil
}

func (l Layout) column(c source.Column, alone bool) ([]Column, error) {
	if c.Scalar() {
		if l.scalar != nil {
			return []Column{l.scalar(c)}, nil
		}
		return []Column{scalar(c)}, nil
	}
	if l.elements != nil {
		return l.elements(c, alone)
	}
	if l.picture == nil {
		return l.tensor(c)
	}
	m, err := images.New(images.Rules{Format: "layout " + l.Name, Channels: l.Channels, DTypes: l.dtypes, Advice: adviceOther}, c)
	if err != nil {
		return nil, err
	}
	return l.picture(c, m)
}

// adviceOther is the way out for what is no image.
const adviceOther = "use --layout list, which holds every type and shape"

// refuse is the error of a layout that cannot hold a column.
func refuse(layout, advice, message string, values ...any) error {
	return images.Unsupported("layout "+layout, advice, message, values...)
}

// Images tells whether the layout is one of images: Channels says where their channels are.
func (l Layout) Images() bool { return l.picture != nil }

// Check is the error of the first of columns that cannot hold the values of b.
func Check(columns []Column, b schema.Batch) error {
	for _, c := range columns {
		if c.Check == nil {
			continue
		}
		if err := c.Check(b.Columns[c.Source], b.First); err != nil {
			return err
		}
	}
	return nil
}

// Describe is s with what the layout adds to its metadata.
func (l Layout) Describe(s *schema.Schema) *schema.Schema {
	if l.metadata == nil {
		return s
	}
	described := *s
	described.Meta = append(slices.Clone(s.Meta), l.metadata(s)...)
	return &described
}

// Schema is the Arrow schema of columns, which represent s, with the metadata of s. It is little-endian on every machine, as the arrays of columns are.
func Schema(s *schema.Schema, columns []Column) *arrow.Schema {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = c.Field
	}
	metadata := s.Metadata()
	return arrow.NewSchemaWithEndian(fields, &metadata, endian.LittleEndian)
}

// tooLarge is the error for a record with more elements or bytes than a layout can count.
func tooLarge(layout string, c source.Column, n int, unit string) error {
	return refuse(layout, "", "a record of column %s has %d %s, expected at most 2147483647", c.Name, n, unit)
}

// identity is Leaf.Values where a batch's bytes are the values.
func identity(data []byte, _ int) []byte { return data }
