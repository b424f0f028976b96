package layout

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
)

// A Feature is the type of a column as Hugging Face's datasets know it.
type Feature struct {
	Column string   `json:"-"`
	DType  string   `json:"dtype,omitempty"` // of a Value
	Names  []string `json:"names,omitempty"` // of a ClassLabel, by label
	Type   string   `json:"_type"`           // Image, Value or ClassLabel
}

// Features are the features of the columns of s, in their order.
func Features(s *schema.Schema) []Feature {
	var all []Feature
	for _, c := range s.Columns {
		f := featureOf(c)
		f.Column = c.Name
		all = append(all, f)
	}
	return all
}

// features is the metadata with the features of s, in the order of the columns:
//
//	{"info":{"features":{"image":{"_type":"Image"},"label":{"names":["0","1"],"_type":"ClassLabel"}}}}
func features(s *schema.Schema) []schema.Pair {
	var b bytes.Buffer
	b.WriteString(`{"info":{"features":{`)
	for i, f := range Features(s) {
		if i > 0 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(f.Column) // strings cannot fail
		value, _ := json.Marshal(f)
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteString(`}}}`)
	return []schema.Pair{{Key: source.HubKey, Value: b.String()}}
}

func featureOf(c source.Column) Feature {
	switch {
	case !c.Scalar():
		return Feature{Type: "Image"}
	case !isLabel(c):
		return Feature{Type: "Value", DType: c.DType.String()}
	case len(c.Classes) == 0:
		return Feature{Type: "Value", DType: "int64"}
	}
	return Feature{Type: "ClassLabel", Names: uniqueNames(c.Classes)}
}

// uniqueNames is classes with a name for every label: datasets refuse a name twice. The first label without a name is N/A; further ones, and
// those of a class whose name was there before, get their label appended.
func uniqueNames(classes []string) []string {
	given := map[string]bool{}
	for _, name := range classes {
		given[name] = true
	}
	taken := map[string]bool{}
	names := make([]string, len(classes))
	for label, class := range classes {
		name := cmp.Or(class, source.NoName)
		for taken[name] || name != class && given[name] { // a name made here must not be another class's
			name += "-" + strconv.Itoa(label)
		}
		taken[name] = true
		names[label] = name
	}
	return names
}
