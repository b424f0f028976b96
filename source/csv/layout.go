package csv

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/flat"
	"github.com/idxport/idxport/source/idx"
)

// A fileColumn is one or more fields of each line: a column of the table, or one that is left out.
type fileColumn struct {
	flat.Field
	first, count int           // index in a line of the first field, and number of elements
	list         bool          // a field has all elements, separated by spaces
	isLabel      bool          // the user chose it as the label
	texts        *source.Texts // nil: numbers
	column       int           // index in the table; −1: left out
	dtype        idx.DType
	stats        columnStats
}

// A part is a run of fields in a line that are consecutive elements of one column. A column has one
// part unless its elements are in another order in the line.
type part struct {
	fileColumn   int // index in Table.fileColumns
	first, count int // in the line
	element      int // index of the first element in the record
}

const (
	// maxColumns is the largest number of columns of the table, each of which costs the writer
	// memory. Elements of a record are not columns.
	maxColumns = 1 << 16
	// maxParts is the largest number of parts in total. A picture of 512×512 pixels that is stored
	// column by column has this many.
	maxParts = 1 << 18
	// labelName is the name of labels if the file gives none.
	labelName = "label"
	// last is the value of source.ReadOptions.Label for a label after the image.
	last = "last"
)

// arrange finds the file columns: by the names in the header; without names, by the expected
// columns if they have as many elements as a line has fields, or else by that number alone.
func (t *Table) arrange() error {
	like := 0
	for _, c := range t.options.Like {
		like += c.Elements()
	}
	var err error
	named := t.names != nil && !t.unnamed
	switch {
	case named && t.options.Label == "none" && !slices.Contains(t.names, "none"):
		err = fault.New(fault.Usage, "--label-column none: it is for files without names of columns, "+
			"but the first line has names")
	case named:
		err = t.group()
	case t.names == nil && like == t.count && t.options.Shape == nil && t.options.Label == "":
		for _, scalars := range []bool{true, false} { // as sink/csv writes them
			for _, c := range t.options.Like {
				if c.Scalar() == scalars {
					t.add(flat.Field{Name: c.Name, Shape: c.Shape}, c.Elements())
				}
			}
		}
	default:
		err = t.divide(t.options.Shape)
	}
	seen := map[string]bool{}
	for _, f := range t.fileColumns {
		if seen[f.Name] && err == nil {
			err = fault.New(fault.Malformed, "two columns are named %q", f.Name).WithHint("give them different names")
		}
		seen[f.Name] = true
	}
	if bad := (*fault.Error)(nil); t.options.Header != nil && errors.As(err, &bad) && bad.Kind == fault.Malformed {
		const hint = "if the first line is data, leave out --header yes; otherwise "
		bad.Hint = strings.TrimSuffix(hint+bad.Hint, "; otherwise ")
	}
	return err
}

// group finds the tensors by the names in the header.
func (t *Table) group() error {
	if i := slices.Index(t.names[min(1, len(t.names)):], ""); i >= 0 {
		return fault.New(fault.Malformed,
			"column %d of the header has no name, expected names for all but the first", i+2).
			WithHint("if lines end with a separator, remove it")
	}
	found, bad := flat.Group(t.names, maxColumns, func(i int) bool { // expected scalars are no elements
		isThis := func(c source.Column) bool { return c.Scalar() && c.Name == t.names[i] }
		return slices.ContainsFunc(t.options.Like, isThis)
	})
	if bad != nil {
		return t.groupError(bad)
	}
	shape := t.options.Shape
	t.findLists(found)
	isTensor := func(f flat.Field) bool { return f.Shape != nil }
	if shape != nil && !slices.ContainsFunc(found, isTensor) {
		return t.divide(shape)
	}
	used := shape == nil
	for _, f := range found {
		list := f.Shape != nil && len(f.Columns) == 1 && elements(f.Shape) > 1
		count := max(len(f.Columns), elements(f.Shape))
		if shape != nil && f.Shape != nil && elements(shape) == count {
			f.Shape, f.Guess, used = shape, "", true
		}
		if f.Guess != "" {
			t.note("%s; --shape overrides this", f.Guess)
		}
		if err := t.addParts(f.Columns); err != nil {
			return err
		}
		first := f.Columns[0]
		f.Columns = nil // see parts
		t.fileColumns = append(t.fileColumns, fileColumn{Field: f, first: first, count: count, list: list})
	}
	slices.SortFunc(t.parts, func(a, b part) int { return a.first - b.first })
	if !used {
		return t.shapeError()
	}
	return nil
}

// findLists gives a shape to the fields with a list of numbers in the first row, separated by
// spaces, as in the column pixels of FER2013.
func (t *Table) findLists(found []flat.Field) {
	row, _, _ := bytes.Cut(t.sample, []byte{'\n'})
	if len(found) < 2 || t.dialect.comma == ' ' { // else spaces may be meant to separate the fields of a line
		return
	}
	lists := map[int]int{} // number of elements by the index of the field
	for i, text := range t.dialect.fields(row) {
		lists[i] = countNumbers(text)
	}
	for i := range found {
		f := &found[i]
		if n := lists[f.Columns[0]]; n > 1 && f.Shape == nil {
			f.GuessShape(n, fmt.Sprintf("column %s: lists of %d numbers", f.Name, n))
		}
	}
}

// countNumbers returns how many numbers text has, separated by spaces; 0 if it has anything else.
func countNumbers(text []byte) (n int) {
	for number := range bytes.FieldsSeq(text) {
		if _, ok := parseNumber(number); !ok {
			return 0
		}
		n++
	}
	return n
}

// groupError returns the error for names that package flat refuses.
func (t *Table) groupError(bad *fault.Error) error {
	hint, numbers := bad.Hint, 0
	for _, name := range t.names {
		if _, ok := parseNumber([]byte(name)); ok {
			numbers++
		}
	}
	if 2*numbers > len(t.names) && numbers < len(t.names) {
		hint = "if the first line is a row, write its text as numbers; otherwise " + hint
	}
	return fault.New(bad.Kind, "the header has %s", bad.Msg).WithHint("%s", hint)
}

// shapeError returns the error for a shape that no tensor has.
func (t *Table) shapeError() error {
	var list []string
	hint := ""
	for _, f := range t.fileColumns {
		if f.Shape != nil {
			list = append(list, f.Name+" of "+display.Count(f.count, "element"))
			hint = cmp.Or(hint, hintShape("a record of "+f.Name, f.count))
		}
	}
	return fault.New(fault.Usage, "no column has records of shape %s, found %s",
		display.Shape(t.options.Shape), strings.Join(list, ", ")).WithHint("%s", hint)
}

// hintShape returns the hint for --shape if what has n elements.
func hintShape(what string, n int) string {
	return fmt.Sprintf("%s has %s: give a shape such as --shape %s",
		what, display.Count(n, "element"), source.ExampleShape(n))
}

// elements returns the number of elements of a record of this shape, or −1 if it is not valid.
func elements(shape []int) int {
	n, ok := idx.Product(1, shape)
	if !ok || n < 1 || n > math.MaxInt32 {
		return -1
	}
	return int(n)
}

// divide finds the image and the label by the number of fields alone, or by the shape and the place
// of the label that the caller gave.
func (t *Table) divide(shape []int) error {
	n, label, place := t.count, flat.Field{Name: labelName}, t.options.Label
	if t.names != nil && t.names[0] == "" { // row numbers of pandas
		t.add(flat.Field{}, 1)
		n--
	}
	if t.names != nil && !t.unnamed {
		label.Name, place = t.names[t.count-n], ""
	}
	image, isImage := square(n - 1)
	hasLabel := place == "first" || place == last
	if place == "" {
		hasLabel = shape != nil && elements(shape) == n-1 || shape == nil && isImage
		t.guessedLabel = hasLabel && (t.names == nil || t.unnamed)
	}
	rest := n
	if hasLabel {
		rest--
	}
	guess := ""
	switch {
	case shape != nil && elements(shape) != rest:
		return t.fieldsError(n, shape)
	case shape != nil || rest <= 1:
	case hasLabel && isImage:
		shape = image
		guess = fmt.Sprintf("%d fields are read as a label (the %s field) and a %s image",
			n, cmp.Or(place, "first"), display.Shape(shape))
	default:
		if shape, isImage = square(rest); !isImage {
			shape = []int{rest}
		}
		guess = fmt.Sprintf("%d fields are read as a record of %s", rest, display.Shape(shape))
	}
	if guess != "" {
		t.note("%s; --shape overrides this", guess)
	}
	addLabel := func() {
		t.add(label, 1)
		t.fileColumns[len(t.fileColumns)-1].isLabel = place != ""
	}
	if hasLabel && place != last {
		addLabel()
	}
	if name := "data"; rest > 0 {
		if len(shape) > 1 {
			name = flat.Image
		}
		t.add(flat.Field{Name: name, Shape: shape, Guess: guess}, rest)
	}
	if hasLabel && place == last {
		addLabel()
	}
	return nil
}

// fieldsError returns the error for lines of n fields that do not hold a record of shape.
func (t *Table) fieldsError(n int, shape []int) error {
	what, fits := "a line", n
	if _, isImage := square(n - 1); isImage {
		what, fits = "a line without its label", n-1
	}
	return fault.New(fault.Usage, "found %s in a line, expected %d for --shape %s, or %d with a label",
		display.Count(n, "field"), elements(shape),
		strings.ReplaceAll(display.Shape(shape), "×", "x"), elements(shape)+1).
		WithHint("%s", hintShape(what, fits))
}

// doubtLabel warns if the first field, which is read as the label, does not look like one in the
// first rows, but the last one does: UCI's files have the label there.
func (t *Table) doubtLabel() {
	var last columnStats
	for row := range bytes.Lines(t.sample) {
		row = row[:max(0, len(row)-len(",\n"))]
		last.observe(bytes.TrimSpace(row[bytes.LastIndexByte(row, t.dialect.comma)+1:]), 0)
	}
	isLabel := func(f fileColumn) bool { return f.Name == labelName }
	first := t.fileColumns[slices.IndexFunc(t.fileColumns, isLabel)]
	if !first.stats.looksLikeLabel() && last.looksLikeLabel() {
		t.warnings = append(t.warnings, t.path+": the first field of a line is read as the label, but the last one "+
			"looks like it; --label-column first, last or none decides")
	}
}

// square returns the shape of a square of n elements, at least two.
func square(n int) ([]int, bool) {
	shape, ok := flat.Square("", n)
	return shape, ok && n > 1
}

// add adds f, whose elements are the next n fields of a line.
func (t *Table) add(f flat.Field, n int) {
	first := 0
	if k := len(t.parts); k > 0 {
		first = t.parts[k-1].first + t.parts[k-1].count
	}
	t.parts = append(t.parts, part{fileColumn: len(t.fileColumns), first: first, count: n})
	t.fileColumns = append(t.fileColumns, fileColumn{Field: f, first: first, count: n})
}

// addParts adds the parts of the next file column; columns are the indices of its elements in a
// line.
func (t *Table) addParts(columns []int) error {
	for from, i := 0, 1; i <= len(columns); i++ {
		if i < len(columns) && columns[i] == columns[i-1]+1 {
			continue
		}
		if len(t.parts) == maxParts {
			return fault.New(fault.Unsupported,
				"the columns of a record are out of order: they form more than %d runs of consecutive numbers",
				maxParts).
				WithHint("order the columns by their numbers")
		}
		t.parts = append(t.parts, part{
			fileColumn: len(t.fileColumns), first: columns[from], count: i - from, element: from})
		from = i
	}
	return nil
}

// decide gives every file column its column and type: that of the caller, or one for the examined
// rows.
func (t *Table) decide() error {
	o := t.options
	tensors := t.hasTensors()
	var texts []*fileColumn
	names := make([]string, len(t.fileColumns))
	for i, f := range t.fileColumns {
		names[i] = f.Name
	}
	wants := o.Wants(names)
	for i := range t.fileColumns {
		f := &t.fileColumns[i]
		if f.column = -1; !wants(f.Name) {
			continue
		}
		if left, ok := t.leftOut(i); ok {
			t.omitted = append(t.omitted, left)
			t.note("column %s is not read: %s", left.Column, left.Why)
			continue
		}
		if f.stats.values == 0 && len(f.stats.text) > 0 {
			texts = append(texts, f)
			continue
		}
		if tensors && f.Shape == nil && strings.EqualFold(f.Name, labelName) && !f.stats.fractions {
			f.stats.floats = false // 5.0, as in one array with the pixels
		}
		f.dtype = f.stats.dtype()
		if o.DType != 0 && (!tensors || f.Shape != nil) {
			f.dtype = o.DType
		}
		t.applyLike(f, o.Like)
		if size := int64(f.count) * int64(f.dtype.Size()); size > o.MaxRecord() {
			return fault.New(fault.Unsupported, "a record of column %s has %d bytes, expected at most %d",
				f.Name, size, o.MaxRecord()).WithHint("allow larger records with --max-record-bytes %d", size)
		}
		f.column = len(t.columns)
		t.columns = append(t.columns, source.Column{
			Name: f.Name, DType: f.dtype, Shape: f.Shape, Origin: t.origin, Label: f.isLabel})
	}
	for _, f := range texts {
		if err := t.addTexts(f); err != nil {
			left := source.Omission{Column: t.name(f.first), Type: "text", Why: "it holds text", Err: err}
			if t.omitted = append(t.omitted, left); len(t.columns) == 0 {
				return left.Err
			}
		}
	}
	if len(t.columns) == 0 {
		return fault.New(fault.Malformed, "found no column of numbers, expected at least one")
	}
	return nil
}

// addTexts adds the column of the names in f, if the caller has a list of them.
func (t *Table) addTexts(f *fileColumn) error {
	var sample []string
	for row := range bytes.Lines(t.sample) {
		for i, field := range t.dialect.fields(row) {
			if i == f.first {
				sample = append(sample, t.dialect.original(field))
				break
			}
		}
	}
	texts, unknown := source.NewTexts(sample, t.options)
	if unknown != nil {
		return t.textError(f, unknown)
	}
	f.texts, f.dtype, f.column = texts, texts.DType, len(t.columns)
	t.columns = append(t.columns, source.Column{Name: f.Name, DType: f.dtype, Classes: texts.Names, Origin: t.origin})
	return nil
}

func (t *Table) hasTensors() bool {
	return slices.ContainsFunc(t.fileColumns, func(f fileColumn) bool { return f.Shape != nil })
}

// textError returns the error for a column of text. unknown is that of names.
func (t *Table) textError(f *fileColumn, unknown *fault.Error) error {
	hint := ""
	switch text := f.stats.text; {
	case decimalComma(text):
		hint = hintComma
	case len(t.fileColumns) == 1 && bytes.IndexByte(text, ' ') >= 0:
		hint = hintSeparate
	case f.Name == string(text): // a row of text and numbers was taken for a header
		hint = "the first line was read as column names; if it is a row, write its text as numbers"
	case len(bytes.Trim(text, "+-.0123456789eE")) == 0: // empty, or a number beyond all types
		hint = "leave the column out with --columns"
	default:
		return fault.In(t.path, unknown.InColumn(t.name(f.first)))
	}
	found := t.dialect.shown(f.stats.text)
	return fault.In(t.path, t.inRow(f.stats.row, t.name(f.first), hint, "found the text %s, expected a number", found))
}

// leftOut returns why file column i is not a column of the table; ok is false if it is one.
func (t *Table) leftOut(i int) (left source.Omission, ok bool) {
	f := &t.fileColumns[i]
	isText := len(f.stats.text) > 0 || f.stats.values == 0 && f.stats.text == nil
	switch {
	case t.names == nil || f.Shape != nil:
		return left, false
	case i == 0 && len(t.fileColumns) > 1 && (f.Name == "" || f.Name == "Unnamed: 0"):
		left.Type, left.Why = "index", "it is the first and has no name, so it is taken for row numbers"
	case strings.EqualFold(f.Name, schema.ClassName) && isText && t.hasLabel():
		left.Type, left.Why = "text", "it holds class names"
	default:
		return left, false
	}
	left.Column = t.name(f.first)
	return left, true
}

// hasLabel reports whether there is a column of labels, of which names of classes say nothing new.
func (t *Table) hasLabel() bool {
	return slices.ContainsFunc(t.fileColumns, func(f fileColumn) bool {
		return f.Shape == nil && f.stats.text == nil && strings.EqualFold(f.Name, labelName)
	})
}

// name returns the name of field i of a line, for messages.
func (t *Table) name(i int) string {
	if i >= len(t.names) || t.names[i] == "" {
		return fmt.Sprint(i + 1)
	}
	return t.names[i]
}

// applyLike gives f the type and shape of the column of the same name, or else of the only scalar
// or tensor with as many elements. It skips an integer type that does not hold the examined values.
func (t *Table) applyLike(f *fileColumn, columns []source.Column) {
	i := slices.IndexFunc(columns, func(c source.Column) bool { return c.Name == f.Name && c.Elements() == f.count })
	if i < 0 && f.count == 1 {
		if i = t.onlyElement(f, columns); i >= 0 {
			f.Name, f.Shape = columns[i].Name, columns[i].Shape
		}
	}
	if i < 0 {
		sameKind := func(c source.Column) bool { return c.Scalar() == (f.Shape == nil) && c.Elements() == f.count }
		i = slices.IndexFunc(columns, sameKind)
		if i < 0 || slices.ContainsFunc(columns[i+1:], sameKind) {
			return
		}
	}
	smallest, largest := columns[i].DType.Limits()
	fits := !f.stats.floats && f.stats.min >= float64(smallest) && f.stats.max <= float64(largest)
	if !columns[i].Integer() || fits {
		f.dtype = columns[i].DType
	}
	if f.Guess != "" || len(f.Shape) == 1 { // otherwise the header gives the shape
		f.Shape = columns[i].Shape
	}
}

// onlyElement returns the index, among columns, of a tensor of one element whose element has the
// name of f in the layout "columns", or −1.
func (t *Table) onlyElement(f *fileColumn, columns []source.Column) int {
	alone := len(slices.DeleteFunc(slices.Clone(columns), source.Column.Scalar)) == 1 // tensor
	return slices.IndexFunc(columns, func(c source.Column) bool {
		named := func(i int) bool { return string(schema.AppendElementName(nil, c, i, alone)) == f.Name }
		taken := func(other fileColumn) bool { return other.Name == c.Name }
		return !c.Scalar() && c.Elements() == 1 && (named(0) || named(1)) && !slices.ContainsFunc(t.fileColumns, taken)
	})
}
