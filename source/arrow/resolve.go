package arrow

import (
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"regexp"
	"slices"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/flat"
	"github.com/idxport/idxport/source/idx"
)

// A resolver finds out which columns of IDX files the fields of a schema are.
type resolver struct {
	schema  *fileSchema
	first   *batch // the first record batch that has rows, or nil
	options source.ReadOptions
	origin  string

	columns []*column
	names   map[string]bool // of the columns
	classes map[string][]string
	notes   []string
	omitted []source.Omission
}

func (r *resolver) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// omit leaves a column of the file out of the table.
func (r *resolver) omit(name, kind, why string) {
	r.omitted = append(r.omitted, source.Omission{Column: name, Type: kind, Why: why})
	r.note("passed over column %s: %s", name, why)
}

// resolve makes the columns.
func (r *resolver) resolve() error {
	r.names, r.classes = map[string]bool{}, source.HubClasses(r.schema.metadata)
	names := make([]string, len(r.schema.fields))
	for i, f := range r.schema.fields {
		names[i] = f.name
	}
	found, bad := flat.Group(names, len(names), func(i int) bool {
		f := &r.schema.fields[i]
		return !isNumber(f) || knownScalar(f)
	})
	if bad != nil {
		return unsupported("", bad.Hint, "found %s", bad.Msg)
	}
	for _, g := range found {
		if err := r.group(g); err != nil {
			return err
		}
	}
	if len(r.columns) == 0 {
		return unsupported("", "", "found no column of numbers or pictures, expected at least one")
	}
	return nil
}

// indexName is what pandas calls the columns of an index that has no name.
var indexName = regexp.MustCompile(`^__index_level_\d+__$`)

func pandasIndex(f *field) bool { return indexName.MatchString(f.name) }

// passedOver tells whether f is no data: the names of the classes beside their labels, or an index of pandas.
func (r *resolver) passedOver(f *field) bool {
	switch {
	case pandasIndex(f):
		r.omit(f.name, "index", "the row numbers of a pandas frame")
	case f.name == schema.ClassName && f.text() && len(r.schema.fields) > 1:
		r.omit(f.name, "text", "names of classes")
	default:
		return false
	}
	return true
}

// add is the last look at c.
func (r *resolver) add(c *column) error {
	c.Origin = r.origin
	size, ok := product(int64(c.DType.Size()), c.Shape)
	if limit := r.options.MaxRecord(); !ok || size > limit {
		return unsupported(c.Name, "allow larger records with --max-record-bytes", "a record has %d bytes, expected at most %d", size, limit)
	}
	if len(c.Shape) >= idx.MaxRank {
		return unsupported(c.Name, "", "found %d dimensions, expected at most %d", len(c.Shape)+1, idx.MaxRank)
	}
	if r.names[c.Name] {
		return unsupported(c.Name, "name the columns differently", "found two columns of this name")
	}
	r.names[c.Name] = true
	r.columns = append(r.columns, c)
	return nil
}

// product is size times all of shape; false if it is too large to tell.
func product(size int64, shape []int) (int64, bool) {
	n := uint64(size)
	if slices.Contains(shape, 0) {
		return 0, true
	}
	for _, d := range shape {
		hi, lo := bits.Mul64(n, uint64(d))
		if hi != 0 || lo > math.MaxInt64/8 {
			return math.MaxInt64, false
		}
		n = lo
	}
	return int64(n), true
}

// dtype is the type of the elements that stand as s in f's column: the one that it was, if its metadata tells and both are integers; the one that was
// asked for, if s is no type of IDX; else the usual one.
func (r *resolver) dtype(f *field, s source.Number) idx.DType {
	usual := s.DType()
	if !s.Integer() {
		return usual
	}
	for _, d := range idx.DTypes() {
		if d.String() == f.metadata[schema.KeyDType] && !d.Float() {
			return d
		}
	}
	if s.Is(usual) {
		return usual
	}
	if d := r.options.DType; d.Valid() && !d.Float() {
		return d
	}
	if s != source.NumberBool {
		r.note("the column %s is of the type %s, which IDX does not have: read as %v, and every value is checked", f.name, s, usual)
	}
	return usual
}

// shapeOf is the shape that f's metadata tells, if n elements have it; false if it tells none.
func shapeOf(f *field, n int64) ([]int, bool) {
	shape, ok := metadataShape(f)
	if !ok {
		return nil, false
	}
	found, ok := product(1, shape)
	return shape, ok && found == n
}

// metadataShape is the shape that f's metadata tells, if it is one.
func metadataShape(f *field) ([]int, bool) {
	var shape []int
	text, ok := f.metadata[schema.KeyShape]
	if !ok || json.Unmarshal([]byte(text), &shape) != nil || shape == nil {
		return nil, false
	}
	return shape, valid(shape)
}

// valid tells whether all of shape are dimensions of IDX.
func valid(shape []int) bool {
	for _, d := range shape {
		if d < 0 || int64(d) > math.MaxUint32 {
			return false
		}
	}
	return true
}
