package layout

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/endian"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/images"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
)

// A Layout is one way to represent tensor columns.
type Layout struct {
	Name  string
	Title string // one line for help texts: what it is, and the programs that it is made for

	// tensor represents one column of tensors; the caller sets Column.Source. The error is
	// fault.Usage if the layout cannot hold the column.
	tensor func(l Layout, c source.Column) ([]Column, error)
	// hub reports whether images, labels, class names and metadata are those of Hugging Face's
	// datasets.
	hub bool

	alone bool // there is only one column of tensors; set by Represent
}

// layouts returns the table of all layouts, in the order in which they are listed to users.
func layouts() []Layout {
	return []Layout{
		{Name: "list", tensor: Layout.list,
			Title: "one fixed-size list of all elements; for pyarrow, pandas, polars, DuckDB, Spark, Hugging Face"},
		{Name: "nested", tensor: Layout.nested,
			Title: "a fixed-size list for each dimension; for polars, DuckDB, pyarrow"},
		{Name: "tensor", tensor: Layout.extension,
			Title: "list, marked as Arrow's fixed_shape_tensor; for pyarrow"},
		{Name: "fixed-binary", tensor: Layout.fixedBinary,
			Title: "bytes of fixed size, little-endian; for pyarrow, Spark 3.4 and newer"},
		{Name: "binary", tensor: Layout.binary,
			Title: "bytes of variable size, little-endian; for Ray, TensorFlow I/O, older Spark"},
		{Name: "huggingface", tensor: Layout.huggingFace, hub: true,
			Title: "PNG bytes in each row, with named labels; only for images; for Hugging Face (load_dataset)"},
		{Name: "columns", tensor: Layout.columns,
			Title: "a column for each element, up to 4,096: pixel0, pixel1, …; for SQL; tools for flat tables"},
	}
}

// Layouts returns all layouts, the default first.
func Layouts() (all []sink.Layout) {
	for _, l := range layouts() {
		all = append(all, sink.Layout{Name: l.Name, Title: l.Title})
	}
	return all
}

// Represent returns the columns of an output of s in the named layout, or in the default layout if
// name is empty, and s with the metadata that the layout adds. The error is fault.Usage if there is
// no such layout, or if it cannot hold a column.
func Represent(s *schema.Schema, name string) ([]Column, *schema.Schema, error) {
	for _, l := range layouts() {
		if name == "" || l.Name == name {
			return l.represent(s)
		}
	}
	names := strings.Join(sink.Names(Layouts()), ", ")
	return nil, nil, fault.New(fault.Usage, "unknown layout %q, expected one of %s", name, names)
}

// represent returns the columns for all columns of s, in their order, and s with the metadata of l.
func (l Layout) represent(s *schema.Schema) ([]Column, *schema.Schema, error) {
	const maxNames = 1 << (8 * nameIndexSize)
	switch k := s.Classes; {
	case k != nil && l.hub:
		return nil, nil, l.refuse("leave out --class-column, or use another layout",
			"this layout already stores the class names, with the label column")
	case k != nil && len(k.Names) > maxNames:
		return nil, nil, l.refuse("", "found %d class names, expected at most %d", len(k.Names), maxNames)
	}
	l.alone = len(slices.DeleteFunc(slices.Clone(s.Columns), source.Column.Scalar)) == 1
	var all []Column
	for i, c := range s.Columns {
		columns, err := l.column(c)
		if err != nil {
			return nil, nil, err
		}
		for _, column := range columns {
			column.Source = i
			all = append(all, column)
		}
		if s.Classes != nil && s.Classes.Label == i {
			all = append(all, classes(s.Classes))
		}
	}
	described := *s
	if l.hub {
		described.Meta = append(slices.Clone(s.Meta), features(s))
	}
	return all, &described, l.checkNames(all)
}

// column represents c. Scalars are primitive columns in every layout, except for labels in one.
func (l Layout) column(c source.Column) ([]Column, error) {
	switch size := c.RecordSize(); {
	case size > math.MaxInt32: // the lengths of lists and of bytes have 32 bits
		return nil, l.refuse("", "a record of column %s has %d bytes, expected less than 2 GiB", c.Name, size)
	case !c.Scalar():
		return l.tensor(l, c)
	case l.hub && isLabel(c):
		return []Column{hubLabel(c)}, nil
	}
	return []Column{primitive(c.Name, c.DType, fieldMetadata(c), identity)}, nil
}

// checkNames returns an error if an output would have two columns with the same name, as it may in
// the layout columns.
func (l Layout) checkNames(all []Column) error {
	seen := make(map[string]bool, len(all))
	for _, column := range all {
		if seen[column.Field.Name] {
			return l.refuse(schema.HintName,
				"two columns would have the name %s, expected different names", column.Field.Name)
		}
		seen[column.Field.Name] = true
	}
	return nil
}

// refuse returns the error of a layout that cannot hold a column.
func (l Layout) refuse(advice, message string, values ...any) error {
	return images.Unsupported("layout "+l.Name, advice, message, values...)
}

// Prepared returns the data of b's columns for the functions Data and Values of columns: b's own
// data or, if there is a function Prepare, its result. Prepare is called once per column of b. The
// error is that of the first column that cannot hold its values.
func Prepared(columns []Column, b schema.Batch) ([][]byte, error) {
	data := b.Columns
	for i, c := range columns {
		if c.Check != nil {
			if err := c.Check(b.Columns[c.Source], b.First); err != nil {
				return nil, err
			}
		}
		if c.Prepare == nil || i > 0 && columns[i-1].Source == c.Source {
			continue
		}
		if &data[0] == &b.Columns[0] { // other sinks use the batch too
			data = slices.Clone(data)
		}
		data[c.Source] = c.Prepare(b.Columns[c.Source], b.Rows)
	}
	return data, nil
}

// SchemaMessage returns the Arrow schema of columns, with the metadata of s, as an encapsulated IPC
// message. It is little-endian on every machine, like the arrays of the columns.
func SchemaMessage(s *schema.Schema, columns []Column) []byte {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = c.Field
	}
	keys, values := make([]string, len(s.Meta)), make([]string, len(s.Meta))
	for i, p := range s.Meta {
		keys[i], values[i] = p.Key, p.Value
	}
	metadata := arrow.NewMetadata(keys, values)
	written := arrow.NewSchemaWithEndian(fields, &metadata, endian.LittleEndian)
	payload := ipc.GetSchemaPayload(written, memory.DefaultAllocator)
	defer payload.Release()
	var message bytes.Buffer
	_, _ = payload.WritePayload(&message) // into memory: cannot fail
	return message.Bytes()
}
