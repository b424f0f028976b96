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

// A Column is a column of IDX, and how it is made of fields.
type Column struct {
	source.Column
	Fields []int // indices in Input.Fields: one, or one of the kind Number for each element of a record
	Form   Form

	format   picture.Format // of the image files of the form Images
	member   string         // of the field, a struct, that has the files of Images; "" for the field itself
	perRow   int64          // entries of a List in a row; 0 for other kinds
	planar   bool           // records of images have the shape C×H×W
	texts    *source.Texts  // of the form Texts
	replaced string         // the type in the file, if IDX lacks it and DType is used instead; else ""
}

// A Form is how the records of a column are stored.
type Form byte

// The forms of columns.
const (
	Numbers Form = iota // in fields of the kinds Number and List
	Records             // as the bytes in a field of the kind Bytes or FixedBytes
	Images              // as image files in a field of the kind Bytes, or in a member of a Struct
	Texts               // as texts in a field of the kind Text
)

// A resolver resolves an Input.
type resolver struct {
	Input
	Resolved
	classes map[string][]string
	names   map[string]bool // of the columns so far
	labeled bool            // there is a column of labels, of which class names say nothing new
}

// Resolve returns the columns of f. Options.DType is the type of bytes, and of integers whose type
// IDX does not have. Options.Shape is used for records with as many elements, unless the metadata
// has a shape. Errors have the kind fault.Unsupported, or fault.Malformed for an image that cannot
// be read, or are those of f.First.
func Resolve(f Input) (*Resolved, error) {
	r := &resolver{Input: f, classes: source.HubClasses(f.Meta), names: map[string]bool{}}
	names := make([]string, len(f.Fields))
	for i, field := range f.Fields {
		names[i] = field.Name
	}
	groups, bad := flat.Group(names, len(names), func(i int) bool {
		shape, known := f.Fields[i].shape()
		return f.Fields[i].Kind != Number || isIndex(names[i]) || known && len(shape) == 0
	})
	if bad != nil {
		return nil, unsupported("", bad.Hint, "found %s", bad.Msg)
	}
	r.labeled = slices.ContainsFunc(groups, func(g flat.Field) bool {
		first := f.Fields[g.Columns[0]]
		ours := first.Metadata[schema.KeyDType] != ""
		isLabel := ours || strings.EqualFold(first.Name, "label") || r.classes[first.Name] != nil
		return g.Shape == nil && first.Kind == Number && first.Number.Integer() && isLabel
	})
	columns := make([]string, len(groups))
	for i, g := range groups {
		columns[i] = g.Name
	}
	wants := r.Options.Wants(columns)
	for i, g := range groups {
		if !wants(columns[i]) {
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

// add adds c to the table, with a note if its type was replaced. It fails if the records are too
// large, have too many dimensions, or if there is a column of this name already.
func (r *resolver) add(c Column) error {
	c.Origin = r.Origin
	switch n, ok := product(c.Shape); {
	case !ok:
		return unsupported(c.Name, hintColumn, "found records of %s with the shape %s, which is too large",
			c.DType, display.Shape(c.Shape))
	case n*int64(c.DType.Size()) > r.Options.MaxRecord():
		size := n * int64(c.DType.Size())
		return unsupported(c.Name, adviseLarge(size), "found records of %d bytes (%s, shape %s), expected at most %d",
			size, c.DType, display.Shape(c.Shape), r.Options.MaxRecord())
	}
	if len(c.Shape) >= idx.MaxRank {
		return unsupported(c.Name, "", "found %d dimensions, expected at most %d", len(c.Shape)+1, idx.MaxRank)
	}
	if r.names[c.Name] {
		return unsupported(c.Name, "name the columns differently", "found two columns of this name")
	}
	r.names[c.Name] = true
	if c.replaced != "" {
		r.note("column %s: %s becomes %s, because idxport uses the types of IDX", c.Name, c.replaced, c.DType)
	}
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
	canHold := !errors.Is(err, fault.Unsupported) && !errors.Is(err, fault.Usage) && !errors.Is(err, ErrNull)
	if canHold || !errors.As(err, &bad) || bad.Column == "" || errors.Is(err, ErrNoRows) {
		return err
	}
	r.Omitted = append(r.Omitted, source.Omission{Column: f.Name, Type: f.Type, Why: bad.Msg, Err: err})
	return nil
}

// omit notes that f is not in the table. typeName is the Type of the source.Omission.
func (r *resolver) omit(f *Field, typeName, why string) {
	r.Omitted = append(r.Omitted, source.Omission{Column: f.Name, Type: typeName, Why: why})
	r.note("column %s is not read: %s", f.Name, why)
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
	shape, known := first.shape()
	n, _ := product(shape)
	switch {
	case isIndex(first.Name):
		r.omit(first, "index", "it holds the row numbers of a pandas frame")
		return nil
	case first.Name == schema.ClassName && first.Kind == Text && r.labeled:
		r.omit(first, "text", "it holds class names")
		return nil
	case first.Kind != Number:
		c := Column{Column: source.Column{Name: first.Name}, Fields: g.Columns}
		if err := r.single(&c, first); err != nil {
			return err
		}
		return r.add(c)
	case len(g.Columns) == 1 && known && len(shape) > 0 && n == 1: // one element, as --layout columns writes it
		if g.Name = strings.TrimSuffix(first.Name, "0"); g.Name == "pixel" {
			g.Name = flat.Image
		}
	case g.Shape == nil || !r.fitOneType(g):
		for _, i := range g.Columns {
			f := &r.Fields[i]
			c := Column{Column: source.Column{Name: f.Name}, Fields: []int{i}}
			if c.DType, c.replaced = r.dtype(f); f.Number.Integer() {
				c.Classes = r.classes[f.Name]
			}
			if err := r.add(c); err != nil {
				return err
			}
		}
		return nil
	}
	return r.elements(g)
}

// fitOneType reports whether the fields of g have one type or are all integers, as a tensor needs.
func (r *resolver) fitOneType(g flat.Field) bool {
	d, _ := r.dtype(&r.Fields[g.Columns[0]])
	return !slices.ContainsFunc(g.Columns, func(i int) bool {
		other, _ := r.dtype(&r.Fields[i])
		return d != other && (d.Float() || other.Float())
	})
}

// elements adds the tensor g, which has a field for each element.
func (r *resolver) elements(g flat.Field) error {
	c := Column{Column: source.Column{Name: g.Name, Shape: g.Shape}, Fields: g.Columns}
	first := &r.Fields[g.Columns[0]]
	c.DType, c.replaced = r.dtype(first)
	for _, i := range g.Columns {
		f := &r.Fields[i]
		if f.Number == first.Number {
			continue
		}
		if d, replaced := r.dtype(f); d != c.DType {
			c.DType, c.replaced = idx.Int32, ""
			if o := r.Options.DType; o.Valid() && !o.Float() {
				c.DType = o
			}
			r.note("column %s: integers of several types become %s, and every value is checked", c.Name, c.DType)
			break
		} else {
			c.replaced = cmp.Or(c.replaced, replaced)
		}
	}
	if !r.setShape(&c, first, int64(len(g.Columns))) && g.Guess != "" {
		r.note("column %s: %s", c.Name, g.Guess)
	}
	return r.add(c)
}

// dtype returns the type of IDX that the numbers of f become. For integers it is the first of these
// that exists: the type in the metadata, the type of f if IDX has it, the type in the options, and
// the default. replaced is the type that the default replaces, or "".
func (r *resolver) dtype(f *Field) (d idx.DType, replaced string) {
	usual, known, asked := f.Number.DType(), f.dtype(), r.Options.DType
	switch {
	case f.Number == source.NumberFloat16:
		return usual, f.Number.String()
	case !f.Number.Integer():
		return usual, ""
	case known.Valid() && !known.Float():
		return known, ""
	case f.Number.Is(usual):
		return usual, ""
	case asked.Valid() && !asked.Float():
		return asked, ""
	case f.Number == source.NumberBool:
		return usual, ""
	}
	return usual, f.Number.String()
}

// setShape reports whether the metadata of f or the options have a shape of n elements, and sets
// it.
func (r *resolver) setShape(c *Column, f *Field, n int64) bool {
	known, ok := f.shape()
	if found, _ := product(known); ok && len(known) > 0 && found == n {
		c.Shape = known
		return true
	}
	asked, ok := product(r.Options.Shape)
	if ok = ok && len(r.Options.Shape) > 0 && asked == n; ok {
		c.Shape = slices.Clone(r.Options.Shape)
	}
	return ok
}

// single resolves c, which is made of f alone. The kind of f is not Number.
func (r *resolver) single(c *Column, f *Field) error {
	switch f.Kind {
	case List:
		return r.list(c, f)
	case Bytes, FixedBytes:
		return r.bytes(c, f)
	case Struct:
		return r.images(c, f)
	case Text:
		return r.text(c, f)
	}
	return unsupported(f.Name, cmp.Or(f.Hint, hintColumn),
		"found %s, expected integers of up to 64 bits, floats, lists of them, bytes, or images", f.Type)
}

// sampledTexts is how many rows decide whether texts are numbers or names.
const sampledTexts = 1 << 14

// text makes c a column of the integers that texts stand for, plain or in a dictionary. The order
// of a dictionary is no numbering of classes: it differs between the splits of a data set.
func (r *resolver) text(c *Column, f *Field) error {
	if r.First == nil {
		return noRows(f, "texts", "leave the file out, or the column with --columns")
	}
	values, err := r.First.Values(c.Fields[0], "", sampledTexts)
	if err != nil {
		return err
	}
	sample := make([]string, len(values))
	for i, v := range values {
		sample[i] = string(v)
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
	if p := f.permutation(); p != nil {
		return unsupported(f.Name, "write it in C order, without a permutation",
			"found tensors whose dimensions are permuted: %v", p)
	}
	c.DType, c.replaced = r.dtype(f)
	shape, known := f.shape()
	known = known && len(shape) > 0
	switch {
	case r.First != nil:
		if c.Shape, err = r.First.Lengths(c.Fields[0]); err != nil {
			return err
		}
	case !slices.Contains(f.Lengths, -1):
		c.Shape = f.Lengths
	case known:
		c.Shape = shape
	default:
		return noRows(f, "lists", "write fixed-size lists, or leave the file out")
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
	if known && !slices.Equal(c.Shape, shape) {
		r.note("column %s has lists of shape %s, not %s as its metadata says",
			f.Name, display.Shape(lengths), display.Shape(shape))
	}
	c.Listed = len(c.Shape) == 1 && !known
	return nil
}

// firstValue returns the bytes in the first row of c, or of a member of it.
func (r *resolver) firstValue(c *Column, member string) ([]byte, error) {
	values, err := r.First.Values(c.Fields[0], member, 1)
	if err != nil {
		return nil, err
	}
	return values[0], nil
}

// noRows returns the error for a field whose shape is that of the first row, in a file without
// rows.
func noRows(f *Field, what, hint string) error {
	return unsupported(f.Name, hint, "found %s and no rows, expected at least one row to take the shape from", what).
		Because(ErrNoRows)
}

// bytes makes c a column of the bytes in f, which are records or image files.
func (r *resolver) bytes(c *Column, f *Field) error {
	size := int64(-1) // unknown
	shape, known := f.shape()
	known = known && f.dtype().Valid()
	if f.Kind == FixedBytes {
		size = int64(f.Size)
	} else if r.First != nil {
		first, err := r.firstValue(c, "")
		if err != nil {
			return err
		}
		if !known && picture.Is(first) {
			return r.png(c, f, first)
		}
		size = int64(len(first))
	}
	c.Form = Records
	fits := func(d idx.DType, shape []int) bool {
		n, ok := product(shape)
		if ok = ok && (size < 0 || n*int64(d.Size()) == size); ok {
			c.DType, c.Shape = d, shape
		}
		return ok
	}
	if known && fits(f.dtype(), shape) {
		return nil
	}
	if name := f.Metadata[KeyExtension]; name != "" {
		return unsupported(f.Name, hintColumn,
			"found values of the extension type %s, expected numbers, or bytes without an extension type", name)
	}
	d, asked := cmp.Or(r.Options.DType, f.dtype()), r.Options.Shape
	if d == 0 && asked == nil && size >= 0 {
		return unsupported(f.Name, fmt.Sprintf("if they are uint8, add --shape %s; if they have another element type, "+
			"such as float32, add --dtype too; if they are 128-bit integers, bfloat16 or the like, cast the column in "+
			"the program that wrote it", source.ExampleShape(int(size))),
			"found values of %d bytes without a type, expected a column with a type, or the bytes of PNG images", size)
	}
	assumed := d == 0
	d = cmp.Or(d, idx.Uint8)
	switch {
	case asked != nil && fits(d, slices.Clone(asked)):
	case size < 0:
		return noRows(f, "bytes", hintShape)
	case size%int64(d.Size()) != 0:
		return unsupported(f.Name, "give the type and the shape with --dtype and --shape",
			"found records of %d bytes, which is not a multiple of the size of %v", size, d)
	default:
		fits(d, []int{int(size / int64(d.Size()))})
		assumed = true
	}
	if assumed && size >= 0 {
		r.note("column %s: records of %d bytes are read as %s of shape %s; if that is wrong, give --dtype and --shape",
			c.Name, size, c.DType, display.Shape(c.Shape))
	}
	return nil
}
