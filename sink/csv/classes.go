package csv

import (
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
)

// classField is the field of the class names of label, a column.
func (l *layout) classField(label source.Column) field {
	texts := make([][]byte, len(l.classes.Names))
	widest := 0
	for i, name := range l.classes.Names {
		texts[i] = append(l.appendQuoted(nil, []byte(name)), l.comma)
		widest = max(widest, len(texts[i]))
	}
	size := label.DType.Size()
	return field{
		column:   source.Column{Name: schema.ClassName, DType: label.DType},
		index:    l.classes.Label,
		elements: 1,
		size:     size,
		width:    widest,
		render: func(dst, src []byte) []byte {
			for i := range len(src) / size {
				dst = append(dst, texts[l.classes.Place(src, i)]...)
			}
			return dst
		},
	}
}
