package columnar

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/flat"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/source/picture"
)

// An Input describes a file for Resolve.
type Input struct {
	Path    string
	Rows    int64 // −1: unknown
	Fields  []Field
	Meta    map[string]string
	First   Sample // nil if the file has no rows
	Options source.ReadOptions
}

// Resolved is the result of Resolve.
type Resolved struct {
	Columns     []Column
	names       string // the column of which a column class has the names: the one before it, or else the first
	source.Info        // of the table
}

type resolver struct {
	Input
	Resolved
	hub map[string]source.HubFeature
}

// Resolve returns the columns of f. Errors are fault.Unsupported, for images Malformed, or First's.
func Resolve(f Input) (*Resolved, error) {
	names, most := 0, 2<<20 // bytes of the names of all columns, which may take fifteen times the memory
	for key, value := range f.Meta {
		if strings.HasPrefix(key, source.KeyClasses) {
			names += len(value)
		}
	}
	if names = max(names, len(f.Meta[source.HubKey])); names > most { // each may have the same names
		return nil, Unsupported("write the table without them: in pyarrow, table.replace_schema_metadata(None)",
			"found metadata with %d bytes of class names and features, expected at most %d", names, most)
	}
	r := &resolver{f, Resolved{Info: source.Info{Meta: f.Meta, SourceRows: f.Rows}}, source.HubFeatures(f.Meta)}
	var fields, columns []string
	for _, field := range f.Fields {
		fields = append(fields, field.Name)
	}
	groups, bad := flat.Group(fields, len(fields), func(i int) bool {
		one, shape, named := &f.Fields[i], f.Fields[i].shape(), r.hub[fields[i]].Names != nil
		return named || one.isExtension() || one.Kind != Number || shape != nil && len(shape) == 0
	}, func(i, n int) bool {
		one := &f.Fields[i]
		return (n > 1 || one.shape() != nil) && r.setShape(&Column{Column: source.Column{Shape: []int{n}}}, one)
	}, f.Options.Wants)
	if bad != nil {
		return nil, Unsupported(bad.Hint, "found %s", bad.Msg)
	}
	for _, g := range groups {
		columns = append(columns, g.Name)
		first := f.Fields[g.Columns[0]]
		named := f.Meta[source.ClassesKey(first.Name)] != "" && first.Metadata[schema.KeyDType] != "" && g.Shape == nil
		if named && (r.names == "" || !slices.Contains(columns, schema.ClassName)) {
			r.names = first.Name
		}
	}
	wants := r.Options.Wants(columns)
	for _, g := range slices.DeleteFunc(groups, func(g flat.Field) bool { return !wants(g.Name) }) {
		f := &r.Fields[g.Columns[0]]
		if err := fault.Place(r.group(g), f.Name, -1, -1); err != nil && !r.omit(f, err) {
			return nil, err
		}
	}
	expected := func(c Column) int { return source.Index(f.Options.Like, c.Name) } // −1: of one file alone
	slices.SortStableFunc(r.Columns, func(a, b Column) int { return expected(a) - expected(b) })
	if len(r.Columns) == 0 {
		if i := slices.IndexFunc(r.Omitted, func(left source.Omission) bool { return left.Err != nil }); i >= 0 {
			return nil, r.Omitted[i].Err
		}
		return nil, Unsupported("", "found no column of numbers, lists of numbers or images")
	}
	hasImages := func(c Column) bool { return c.isImages() || r.Fields[c.Fields[0]].Kind == Struct }
	if r.Options.Grey && !slices.ContainsFunc(r.Columns, hasImages) {
		return nil, fault.New(fault.Usage, "--grey: no column holds images in files").
			WithHint("leave it out, or write the images first: --to png")
	}
	return &r.Resolved, nil
}

// add adds c to the table, unless it is too large, has too many dimensions, or its name is there.
func (r *resolver) add(c Column) error {
	n, limit := product(c.Shape), r.Options.MaxRecord()
	switch same := func(other Column) bool { return other.Name == c.Name }; {
	case n < 0 || n*int64(c.DType.Size()) > limit || len(c.Shape) >= idx.MaxRank:
		hint := hintColumn
		if n > 0 {
			hint = fmt.Sprintf("allow larger records with --max-record-bytes %d", n*int64(c.DType.Size()))
		}
		return Unsupported(hint, "found records of the shape %s of %s, expected at most %d bytes and %d "+
			"dimensions", text.Shape(c.Shape), c.DType, limit, idx.MaxRank-1).InColumn(c.Name)
	case c.Name == "" || slices.ContainsFunc(r.Columns, same):
		return Unsupported("rename it or use --columns", "found the name %q, expected one of its own", c.Name)
	}
	f := &r.Fields[c.Fields[0]]
	if f.Number > source.NumberBool && !f.dtype().Valid() && !r.Options.DType.Valid() {
		r.note("column %s: %s becomes %s, as IDX has no such type; --dtype narrows integers", c.Name, f.Number, c.DType)
	}
	r.Columns = append(r.Columns, c)
	return nil
}

func (r *resolver) note(format string, args ...any) {
	r.Notes = append(r.Notes, r.Path+": "+fmt.Sprintf(format, args...))
}

// omit leaves out f, and returns true, if err says that IDX cannot hold it: this matters only if
// the column is wanted. Other errors, such as those of damage, are errors of the whole file.
func (r *resolver) omit(f *Field, err error) bool {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || errors.Is(err, ErrNoRows) || !errors.Is(err, fault.Unsupported) && !errors.Is(err, fault.Usage) {
		return false
	}
	r.Omitted = append(r.Omitted, source.Omission{Column: f.Name, Type: f.Type, Why: e.Msg, Err: fault.In(r.Path, err)})
	return true
}

// group adds the column that the fields of g become.
func (r *resolver) group(g flat.Field) (err error) {
	first := &r.Fields[g.Columns[0]]
	c := Column{Fields: g.Columns, Entries: 1, Bytes: first.Kind >= Bytes,
		Column: source.Column{Name: g.Name, DType: r.dtype(first), Shape: g.Shape, Origin: source.Base(r.Path)}}
	switch {
	case first.Kind != Bytes && first.isExtension(): // which says more than the numbers do
		err = ofExtension(first)
	case first.Name == "__index_level_0__" && first.Kind == Number && first.Number.Integer() &&
		first.Number != source.NumberBool && !slices.Contains(r.Options.Columns, first.Name) &&
		!slices.ContainsFunc(r.Fields, func(f Field) bool { return f.Name == "__index_level_1__" }):
		why := "it is a pandas index without a name; --columns reads it"
		r.Omitted = append(r.Omitted, source.Omission{Column: first.Name, Type: "index", Why: why})
		r.note("column %s is not read: %s", first.Name, why)
		return nil
	case first.Kind == List:
		err = cmp.Or(r.list(&c, first), r.hubNames(&c))
	case first.Kind == Bytes || first.Kind == Struct:
		err = r.bytes(&c, first)
	case first.Kind == Text:
		err = r.text(&c, first)
	case first.Kind != Number:
		err = Unsupported(hintColumn,
			"found %s, expected integers of up to 64 bits, floats, lists of them, bytes, or images", first.Type)
	case g.Shape == nil:
		err = r.hubNames(&c)
	default:
		for _, i := range g.Columns {
			if other := &r.Fields[i]; r.dtype(other) != c.DType {
				return Unsupported("cast the columns to one type, or narrow all integers with --dtype", "found %s, "+
					"expected %s as in column %s", other.Number, first.Number, first.Name).InColumn(other.Name)
			}
		}
		if !r.setShape(&c, first) && g.Guess != "" {
			r.note("column %s: %s", c.Name, g.Guess)
		}
	}
	if err != nil {
		return err
	}
	return r.add(c)
}

// hubNames gives c, numbers or lists of them, the class names of Hugging Face's metadata.
func (r *resolver) hubNames(c *Column) error {
	c.Classes = r.hub[c.Name].Names
	own := source.ClassesIn(r.Meta, c.Name)
	for label, name := range own[:min(len(own), len(c.Classes))] {
		other := c.Classes[label]
		if name != other && other != "" && (name != "" || !strings.HasPrefix(other, source.NoName)) {
			return Unsupported("correct the wrong one there, or leave the column out with --columns",
				"label %d is %q in the metadata, but %q in their part %s", label, name, other, source.HubKey)
		}
		c.Classes[label] = name // not NoName where there is none
	}
	return nil
}

// dtype returns the type of IDX that the numbers of f become. For integers it is the type in the
// options if f has a wider type or one that IDX lacks, or without options the type in the metadata.
func (r *resolver) dtype(f *Field) idx.DType {
	isInteger := func(d idx.DType) bool { return f.Number.Integer() && d.Valid() && !d.Float() } // as f is
	usual, asked := f.Number.DType(), r.Options.DType
	switch known := f.dtype(); {
	case isInteger(known) && !isInteger(asked):
		return known
	case isInteger(asked) && (!f.Number.Is(usual) || asked.Size() < usual.Size()):
		return asked
	}
	return usual
}

// setShape reports whether metadata or options have a shape of as many elements as c, and sets it.
func (r *resolver) setShape(c *Column, f *Field) bool {
	n := product(c.Shape)
	for _, shape := range [][]int{f.shape(), r.Options.Shape} {
		if len(shape) > 0 && n >= 0 && product(shape) == n {
			c.Shape = slices.Clone(shape)
			return true
		}
	}
	return false
}

// text makes c a column of the integers that texts stand for, by the names in the metadata or the
// options. The order of a dictionary is no numbering: it differs between the splits of a data set.
func (r *resolver) text(c *Column, f *Field) error {
	o, own := r.Options, r.hub[f.Name].Names
	ofLabel := own == nil && f.Name == schema.ClassName && r.names != ""
	if own == nil {
		own = source.ClassesIn(r.Meta, cmp.Or(map[string]string{schema.ClassName: r.names}[f.Name], f.Name))
	}
	sample := own // in a file without rows
	if r.First != nil {
		values, err := r.First.Values(c.Fields[0], 1<<14) // rows, which decide whether texts are numbers or names
		if err != nil {
			return err
		}
		sample = nil
		for _, v := range values {
			sample = append(sample, strings.TrimSpace(string(v)))
		}
	}
	if sample == nil {
		return noRows(f)
	}
	known := slices.ContainsFunc(sample, func(name string) bool { return slices.Contains(own, name) })
	named := known && !slices.Equal(own, o.Classes[:min(len(own), len(o.Classes))]) // else the options may add names
	if named {
		o.Classes = own
	}
	texts, unknown := source.NewTexts(sample, o)
	if unknown != nil {
		return unknown.InColumn(f.Name)
	}
	if ofLabel && known { // digits are names of MNIST's labels
		texts.Names = o.Classes
	}
	c.DType, c.Classes, c.texts = texts.DType, texts.Names, texts
	r.Info.Classes = r.Info.Classes || texts.Names != nil && !named
	return nil
}

// list makes c a column of the numbers in the lists of f.
func (r *resolver) list(c *Column, f *Field) (err error) {
	shape, unknown := f.shape(), slices.Contains(f.Lengths, -1)
	c.Shape = f.Lengths
	switch {
	case f.Metadata[source.KeyExtension] == source.FixedShapeTensor && len(shape) == 0:
		return Unsupported("write them in C order, without a permutation, and not in lists", "found tensors "+
			"with the metadata %q, or in lists, expected a shape in C order", f.Metadata[source.KeyExtensionMetadata])
	case r.First != nil:
		if c.Shape, err = r.First.Lengths(c.Fields[0]); err != nil {
			return err
		}
	case unknown && len(shape) > 0:
		c.Shape = shape
	case unknown && len(r.Options.Shape) > 0:
		c.Shape = r.Options.Shape
	case unknown:
		return noRows(f)
	}
	for i := 0; i < len(c.Shape) && c.Shape[i] > 0; i++ { // an empty list is one entry
		c.Entries *= int64(c.Shape[i])
	}
	c.Listed = len(c.Shape) == 1 && !r.setShape(c, f) // nested lists keep theirs
	return nil
}

// bytes makes c a column of the bytes in f, which are records or image files.
func (r *resolver) bytes(c *Column, f *Field) error {
	shape, dtype, size := f.shape(), f.dtype(), int64(f.Size)
	known := shape != nil && dtype.Valid()
	if r.First != nil && size == 0 {
		first, err := r.First.Values(c.Fields[0], 1)
		if e, ok := errors.AsType[*fault.Error](err); ok && f.Kind == Struct && errors.Is(err, errNull) {
			return e.WithHint("write the bytes of the images, not their paths, into the table")
		} else if err != nil {
			return err
		}
		if size = int64(len(first[0])); f.Kind == Struct || !known && picture.KindOf(first[0]) != "" {
			return r.images(c, f, first[0])
		} else if !known && strings.HasPrefix(string(first[0]), "\x93NUMPY") {
			return Unsupported("make them lists where they were written: numpy.load(io.BytesIO(value)).ravel()",
				"found arrays as .npy files, expected lists of numbers, their bytes alone, or images")
		}
	}
	if !known {
		dtype, shape = r.Options.DType, r.Options.Shape
	}
	switch n, empty := product(shape), r.First == nil && size == 0; {
	case !known && f.Metadata[source.KeyExtension] != "":
		return ofExtension(f)
	case n >= 0 && shape != nil && dtype.Valid() && (empty || n*int64(dtype.Size()) == size):
		c.DType, c.Shape = dtype, slices.Clone(shape)
		return nil
	case empty:
		return noRows(f)
	}
	var example flat.Field
	example.GuessShape(int(size), "")
	hint := fmt.Sprintf("if they are uint8, add --dtype uint8 --shape %s, and likewise for other types; if they are "+
		"128-bit integers or the like, cast the column in the program that wrote it",
		strings.ReplaceAll(text.Shape(example.Shape), "×", "x"))
	return Unsupported(hint,
		"found values of %d bytes without a type, expected a column with a type, or the bytes of images", size)
}

// ofExtension returns the error for f, whose extension type may give its values another meaning.
func ofExtension(f *Field) error {
	return Unsupported(hintColumn, "found the type %s, expected numbers, nested lists of them, or "+
		"bytes, without an extension type", f.Metadata[source.KeyExtension])
}

const hintColumn = "leave it out with --columns, or convert it to numbers"
