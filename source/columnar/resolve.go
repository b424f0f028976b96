package columnar

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/flat"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/source/picture"
)

// An Input describes a file for Resolve.
type Input struct {
	Origin  string // of its columns: see source.Column
	Fields  []Field
	Meta    map[string]string
	First   Sample // nil if the file has no rows
	Options source.ReadOptions
}

// Resolved is the result of Resolve.
type Resolved struct {
	Columns  []Column
	Notes    []string
	Decoders []string // see source.Info
	Omitted  []source.Omission
}

// A resolver resolves an Input.
type resolver struct {
	Input
	Resolved
	classes map[string][]string
	labeled bool // there is a column of labels, of which class names say nothing new
}

// Resolve returns the columns of f. Options.DType is the type of bytes, and of integers whose type
// IDX does not have. Options.Shape is used for records with as many elements, unless the metadata
// has a shape. Errors have the kind fault.Unsupported, or fault.Malformed for an image that cannot
// be read, or are those of f.First.
func Resolve(f Input) (*Resolved, error) {
	r := &resolver{Input: f, classes: source.HubClasses(f.Meta)}
	var names, columns []string
	for _, field := range f.Fields {
		names = append(names, field.Name)
	}
	groups, bad := flat.Group(names, len(names), func(i int) bool {
		shape, _, known := f.Fields[i].shape()
		return f.Fields[i].Kind != Number || isIndex(names[i]) || known && len(shape) == 0
	})
	if bad != nil {
		return nil, unsupported("", bad.Hint, "found %s", bad.Msg)
	}
	for _, g := range groups {
		columns = append(columns, g.Name)
		first := f.Fields[g.Columns[0]]
		ours := first.Metadata[schema.KeyDType] != ""
		isLabel := ours || strings.EqualFold(first.Name, "label") || r.classes[first.Name] != nil
		r.labeled = r.labeled || g.Shape == nil && first.Kind == Number && first.Number.Integer() && isLabel
	}
	wants := r.Options.Wants(columns)
	for _, g := range groups {
		if !wants(g.Name) {
			continue
		}
		if err := r.group(g); err != nil {
			if err = r.leave(&r.Fields[g.Columns[0]], err); err != nil {
				return nil, err
			}
		}
	}
	if len(r.Columns) == 0 {
		for _, left := range r.Omitted {
			if left.Err != nil {
				return nil, left.Err
			}
		}
		return nil, unsupported("", "", "found no column of numbers, lists of numbers or images")
	}
	images := slices.ContainsFunc(r.Columns, func(c Column) bool { return c.Form == Images })
	if (r.Options.Grey || r.Options.Resize[0] > 0) && !images {
		return nil, fault.New(fault.Usage, "no column holds images in files, which --grey and --resize need").
			WithHint("leave the flags out, or write the images first: --to png")
	}
	return &r.Resolved, nil
}

// add adds c to the table. It fails if the records are too large, have too many dimensions, or if
// there is a column of this name already.
func (r *resolver) add(c Column) error {
	n, ok := product(c.Shape)
	size := n * int64(c.DType.Size())
	switch same := func(other Column) bool { return other.Name == c.Name }; {
	case !ok:
		return unsupported(c.Name, hintColumn, "found records of %s with the shape %s, which is too large",
			c.DType, display.Shape(c.Shape))
	case size > r.Options.MaxRecord():
		return tooLarge(c.Name, size, r.Options.MaxRecord())
	case len(c.Shape) >= idx.MaxRank:
		return unsupported(c.Name, "", "found %d dimensions, expected at most %d", len(c.Shape)+1, idx.MaxRank)
	case slices.ContainsFunc(r.Columns, same):
		return unsupported(c.Name, "name the columns differently", "found two columns of this name")
	}
	f := &r.Fields[c.Fields[0]]
	if f.Number > source.NumberBool && !f.dtype().Valid() && !r.Options.DType.Valid() {
		r.note("column %s: %s becomes %s, because idxport uses the types of IDX", c.Name, f.Number, c.DType)
	}
	c.Origin = r.Origin
	r.Columns = append(r.Columns, c)
	return nil
}

func (r *resolver) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// leave leaves out f, which IDX cannot hold: this matters only if the column is wanted. It returns
// other errors, such as those of damage.
func (r *resolver) leave(f *Field, err error) error {
	var bad *fault.Error
	refused := errors.Is(err, fault.Unsupported) || errors.Is(err, fault.Usage) || errors.Is(err, ErrNull)
	if !refused || !errors.As(err, &bad) || bad.Column == "" || errors.Is(err, ErrNoRows) {
		return err
	}
	r.Omitted = append(r.Omitted, source.Omission{Column: f.Name, Type: f.Type, Why: bad.Msg, Err: err})
	return nil
}

// omit notes that f is not in the table. typeName is the Type of the source.Omission.
func (r *resolver) omit(f *Field, typeName, why string) error {
	r.Omitted = append(r.Omitted, source.Omission{Column: f.Name, Type: typeName, Why: why})
	r.note("column %s is not read: %s", f.Name, why)
	return nil
}

// isIndex reports whether name is one that pandas gives to an index without a name.
func isIndex(name string) bool {
	level, ok := strings.CutPrefix(name, "__index_level_")
	level, end := strings.CutSuffix(level, "__")
	_, err := strconv.Atoi(level)
	return ok && end && err == nil
}

// group adds the columns that the fields of g become: one tensor, a scalar for each field, or a
// single column.
func (r *resolver) group(g flat.Field) error {
	first := &r.Fields[g.Columns[0]]
	shape, _, known := first.shape()
	n, _ := product(shape)
	switch {
	case isIndex(first.Name):
		return r.omit(first, "index", "it holds the row numbers of a pandas frame")
	case first.Name == schema.ClassName && first.Kind == Text && r.labeled:
		return r.omit(first, "text", "it holds class names")
	case first.Kind != Number:
		c := Column{Column: source.Column{Name: first.Name}, Fields: g.Columns}
		if err := r.single(&c, first); err != nil {
			return err
		}
		return r.add(c)
	case len(g.Columns) == 1 && known && len(shape) > 0 && n == 1: // one element, as --layout columns writes it
		if g.Name = strings.TrimRight(strings.TrimSuffix(first.Name, "0"), "_"); g.Name == "pixel" {
			g.Name = flat.Image
		}
		g.Shape = shape
	}
	if g.Shape != nil {
		if d, ok := r.commonType(g); ok {
			c := Column{Column: source.Column{Name: g.Name, DType: d, Shape: g.Shape}, Fields: g.Columns}
			if !r.setShape(&c, first, int64(len(g.Columns))) && g.Guess != "" {
				r.note("column %s: %s", c.Name, g.Guess)
			}
			return r.add(c)
		}
	}
	for _, i := range g.Columns {
		f := &r.Fields[i]
		c := Column{Column: source.Column{Name: f.Name, DType: r.dtype(f)}, Fields: []int{i}}
		if f.Number.Integer() {
			c.Classes = r.classes[f.Name]
		}
		if err := r.add(c); err != nil {
			return err
		}
	}
	return nil
}

// commonType returns the type of a tensor of the fields of g: the one that all have, or one of
// integers if all are integers.
func (r *resolver) commonType(g flat.Field) (d idx.DType, ok bool) {
	d = r.dtype(&r.Fields[g.Columns[0]])
	one, integers := true, true
	for _, i := range g.Columns {
		other := r.dtype(&r.Fields[i])
		one, integers = one && other == d, integers && isInteger(other)
	}
	if one || !integers {
		return d, one
	}
	if d = idx.Int32; isInteger(r.Options.DType) {
		d = r.Options.DType
	}
	r.note("column %s: integers of several types become %s, and every value is checked", g.Name, d)
	return d, true
}

func isInteger(d idx.DType) bool { return d.Valid() && !d.Float() }

// dtype returns the type of IDX that the numbers of f become. For integers it is the first of these
// that exists: the type in the metadata, the type of f if IDX has it, the type in the options, and
// the default.
func (r *resolver) dtype(f *Field) idx.DType {
	usual := f.Number.DType()
	switch known := f.dtype(); {
	case !f.Number.Integer():
		return usual
	case isInteger(known):
		return known
	case !f.Number.Is(usual) && isInteger(r.Options.DType):
		return r.Options.DType
	}
	return usual
}

// setShape reports whether the metadata of f or the options have a shape of n elements, and sets
// it.
func (r *resolver) setShape(c *Column, f *Field, n int64) bool {
	known, _, _ := f.shape()
	for _, shape := range [][]int{known, r.Options.Shape} {
		if found, ok := product(shape); ok && len(shape) > 0 && found == n {
			c.Shape = slices.Clone(shape)
			return true
		}
	}
	return false
}

// single resolves c, which is made of f alone. The kind of f is not Number.
func (r *resolver) single(c *Column, f *Field) error {
	hub := func(m Field) bool { return m.Name == HubBytes && m.Kind == Bytes }
	switch {
	case f.Kind == List:
		return r.list(c, f)
	case f.Kind == Bytes || f.Kind == FixedBytes || f.Kind == Struct && slices.ContainsFunc(f.Members, hub):
		return r.bytes(c, f)
	case f.Kind == Text:
		return r.text(c, f)
	}
	return Refused(f.Name, f.Type, cmp.Or(f.Hint, hintColumn))
}

// sampledTexts is how many rows decide whether texts are numbers or names.
const sampledTexts = 1 << 14

// text makes c a column of the integers that texts stand for, plain or in a dictionary. The order
// of a dictionary is no numbering of classes: it differs between the splits of a data set.
func (r *resolver) text(c *Column, f *Field) error {
	if r.First == nil {
		return noRows(f)
	}
	values, err := r.First.Values(c.Fields[0], "", sampledTexts)
	if err != nil {
		return err
	}
	var sample []string
	for _, v := range values {
		sample = append(sample, string(v))
	}
	texts, unknown := source.NewTexts(sample, r.Options)
	if unknown != nil {
		return unknown.InColumn(f.Name)
	}
	c.Form, c.DType, c.Classes, c.texts = Texts, texts.DType, texts.Names, texts
	return nil
}

// list makes c a column of the numbers in the lists of f.
func (r *resolver) list(c *Column, f *Field) (err error) {
	shape, permutation, known := f.shape()
	known = known && len(shape) > 0
	c.DType, c.Shape = r.dtype(f), f.Lengths
	switch {
	case permutation != nil:
		return unsupported(f.Name, "write it in C order, without a permutation",
			"found tensors whose dimensions are permuted: %v", permutation)
	case r.First != nil:
		if c.Shape, err = r.First.Lengths(c.Fields[0]); err != nil {
			return err
		}
	case slices.Contains(f.Lengths, -1) && known:
		c.Shape = shape
	case slices.Contains(f.Lengths, -1):
		return noRows(f)
	}
	lengths := c.Shape
	c.perRow = 1
	for _, n := range lengths {
		if n == 0 {
			break // an empty list is one entry
		}
		c.perRow *= int64(n)
	}
	if n, ok := product(lengths); ok {
		r.setShape(c, f, n)
	}
	c.Listed = len(c.Shape) == 1 && !known
	return nil
}

// bytes makes c a column of the bytes in f, or in its member for images, which are records or image
// files.
func (r *resolver) bytes(c *Column, f *Field) error {
	shape, _, known := f.shape()
	known = known && f.dtype().Valid()
	size := int64(f.Size)
	if c.Form = Records; f.Kind == Struct {
		c.Form, c.member = Images, HubBytes
	}
	if f.Kind != FixedBytes {
		size = -1 // unknown
	}
	if r.First != nil && f.Kind != FixedBytes {
		first, err := r.First.Values(c.Fields[0], c.member, 1)
		if e := (*fault.Error)(nil); f.Kind == Struct && errors.Is(err, ErrNull) && errors.As(err, &e) {
			return e.WithHint("write the bytes of the images, not their paths, into the table")
		}
		if err != nil {
			return err
		}
		if size = int64(len(first[0])); f.Kind == Struct || !known && picture.Is(first[0]) {
			return r.image(c, f, first[0])
		}
	}
	fits := func(d idx.DType, shape []int) bool {
		n, ok := product(shape)
		c.DType, c.Shape = d, slices.Clone(shape)
		return ok && (size < 0 || n*int64(d.Size()) == size)
	}
	d, asked := cmp.Or(r.Options.DType, f.dtype(), idx.Uint8), r.Options.Shape
	if asked == nil && r.Options.DType.Valid() && size >= 0 {
		asked = []int{int(size) / d.Size()}
	}
	switch extension := f.Metadata[keyExtension]; {
	case known && fits(f.dtype(), shape):
		return nil
	case extension != "":
		return unsupported(f.Name, hintColumn,
			"found values of the extension type %s, expected numbers, or bytes without an extension type", extension)
	case asked != nil && fits(d, asked):
		if size >= 0 && (r.Options.Shape == nil || !r.Options.DType.Valid()) {
			r.note("column %s: records of %d bytes are read as %s of shape %s; if that is wrong, give --dtype and --shape",
				c.Name, size, c.DType, display.Shape(c.Shape))
		}
		return nil
	case size < 0:
		return noRows(f)
	}
	return unsupported(f.Name, fmt.Sprintf("if they are uint8, add --shape %s; if they have another element type, "+
		"such as float32, add --dtype too; if they are 128-bit integers, bfloat16 or the like, cast the column in "+
		"the program that wrote it", source.ExampleShape(int(size))),
		"found values of %d bytes without a type, expected a column with a type, or the bytes of PNG images", size)
}

const hintColumn = "leave it out with --columns, or convert it to numbers"
