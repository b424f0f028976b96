package layout

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A Feature is the type of a column in Hugging Face's datasets library.
type Feature = source.HubFeature

// Features returns the features of the columns of s, in their order.
func Features(s *schema.Schema) (all []Feature) {
	for _, c := range s.Columns {
		f := Feature{Column: c.Name, Type: "Value"}
		switch {
		case !c.Scalar():
			f.Type = "Image"
		case !isLabel(c):
			f.DType = c.DType.String()
		case len(c.Classes) == 0:
			f.DType = "int64"
		default:
			f.Type, f.Names = "ClassLabel", uniqueNames(c.Classes)
		}
		all = append(all, f)
	}
	return all
}

// features returns the metadata with the features of s, in the order of the columns:
//
//	{"info":{"features":{"image":{"_type":"Image"},"label":{"names":["0","1"],"_type":"ClassLabel"}}}}
func features(s *schema.Schema) schema.Pair {
	var all []string
	for _, f := range Features(s) {
		name, _ := json.Marshal(f.Column) // strings cannot fail
		value, _ := json.Marshal(f)
		all = append(all, string(name)+":"+string(value))
	}
	return schema.Pair{Key: source.HubKey, Value: `{"info":{"features":{` + strings.Join(all, ",") + `}}}`}
}

// uniqueNames returns classes with a different name for every label, as datasets require. A label
// without a name is named N/A. To a name that occurred before, a hyphen and the label are appended:
// N/A-2.
func uniqueNames(classes []string) []string {
	given := map[string]bool{}
	for _, name := range classes {
		given[name] = true
	}
	taken := map[string]bool{}
	names := make([]string, len(classes))
	for label, class := range classes {
		name := cmp.Or(class, source.NoName)
		for taken[name] || name != class && given[name] { // a new name must not be another class's
			name += "-" + strconv.Itoa(label)
		}
		taken[name] = true
		names[label] = name
	}
	return names
}

// isLabel reports whether a column holds labels: scalar integers that are named "label", were
// chosen as the labels, or have class names.
func isLabel(c source.Column) bool {
	return c.Scalar() && c.Integer() && (c.Name == "label" || c.Label || len(c.Classes) > 0)
}

// hubLabel represents a label as an optional int64, the type in which datasets store a ClassLabel.
func hubLabel(c source.Column) Column {
	made := columnOf(arrow.Field{
		Name: c.Name, Type: arrow.PrimitiveTypes.Int64, Nullable: true, Metadata: fieldMetadata(c)})
	made.Allocates = 8
	made.Data = func(data []byte, rows int) Array { return flat(rows, Widened(c.DType, data, 8)) }
	leaf := &made.Leaves[0] // the page writer widens its values
	leaf.Element, leaf.Size, leaf.Scalar = c.DType, c.DType.Size(), true
	return made
}

// Widened returns packed integers of d as integers with sign of size bytes, at most 8.
func Widened(d idx.DType, data []byte, size int) []byte {
	n := len(data) / d.Size()
	wide := make([]byte, 0, n*size+8)
	for i := range n {
		wide = binary.LittleEndian.AppendUint64(wide, uint64(source.Int(d, data, i)))[:len(wide)+size]
	}
	return wide
}
