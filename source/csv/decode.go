package csv

import (
	"bytes"
	"cmp"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// stats describes the values of a file column in the examined rows.
type stats struct {
	values    int64
	floats    bool              // some are not written as integers
	fractions bool              // some are not whole numbers (5.0 is whole)
	rising    bool              // each is larger than the one before
	min, max  float64           // NaN if a value is
	texts     []string          // the first fields that are not numbers, without escapes
	seen      map[float64]int64 // if not nil, how often each number occurs
	most      int64             // the most of these
}

// thousands matches a list that may be one number, with spaces between its thousands.
var thousands = text.Pattern(`^ *[-+]?[1-9]\d{0,2}( \d{3}){1,3}(\.\d*)? *\D$`)
var otherForm = text.Pattern(`^(\[|(\{'bytes': )?b['"]\\x)`) // of lists, and Python's of images

// observe examines the sample, and returns an error if two fields may be the label.
func (t *table) observe() error {
	first, last := stats{seen: map[float64]int64{}}, stats{seen: map[float64]int64{}} // of these fields
	for line := range bytes.Lines(t.sample) {
		span, text, rest := []byte(nil), []byte(nil), line
		for i := range t.fileColumns {
			f := &t.fileColumns[i]
			span, rest = cut(rest, t.comma, f.fields)
			for text = range t.elements(f, span) {
				f.stats.observe(text, t.plain)
			}
			f.certain = f.certain || !thousands().Match(span)
		}
		if t.guessed {
			_, own := cut(line, t.comma, t.index)
			first.observe(own[:bytes.IndexByte(own, t.comma)], t.plain)
			last.observe(text, t.plain)
		}
	}
	return t.checkLabel(first, last)
}

// checkLabel returns an error if the label may be another field than [table.divide] guessed, as the
// first and the last field of the examined rows tell: odd ones are pixels or row numbers.
func (t *table) checkLabel(first, last stats) error {
	odd := func(s stats) bool { return s.fractions || s.min < 0 || s.max >= 100 || s.most == 1 && s.values > 10 }
	several := func(s stats) bool { return !odd(s) && s.max > max(1, s.min) } // like labels of more than two classes
	spread := func(s stats) bool { return s.most*10 < s.values*9 }            // unlike most pixels
	oneClass := first.min == first.max && first.min > 0 && last.max == 0      // as no corner of images is
	noGaps, doubtful := float64(len(last.seen)) > last.max-last.min || last.values > 10, false
	switch {
	case !t.guessed, t.options.Like != nil: // an output's columns are expected
	case len(t.fileColumns) == 1+t.index: // an image, unless its first field is a label
		doubtful = len(t.fileColumns[t.index].Shape) > 1 && t.options.Shape == nil && several(first) && !several(last)
	case first.texts != nil: // names of labels
	default:
		doubtful = odd(first) || !spread(first) && !oneClass || last.texts != nil ||
			!odd(last) && spread(last) && noGaps || several(last) && first.max > last.max // UCI's files have it last
	}
	if !doubtful {
		return nil
	}
	return fault.New(fault.Malformed, "the label may be the first field of a line, the last one, or none").
		WithHint("say where it is: --label-column first, last or none")
}

func (s *stats) observe(text []byte, plain *strings.Replacer) {
	text = bytes.TrimSpace(text)
	v, integer, ok := source.ParseNumber(text, 64)
	if !ok {
		if len(s.texts) < 1<<14 { // enough to decide whether they are names
			s.texts = append(s.texts, plain.Replace(string(text)))
		}
		return
	}
	s.floats = s.floats || !integer
	s.fractions = s.fractions || v != math.Trunc(v) || math.IsInf(v, 0) // NaN differs from itself
	if s.rising = s.values == 0 || s.rising && v > s.max; s.values == 0 {
		s.min, s.max = v, v
	}
	s.min, s.max, s.values = min(s.min, v), max(s.max, v), s.values+1
	if s.seen != nil {
		s.seen[v]++
		s.most = max(s.most, s.seen[v])
	}
}

// cut returns the next n fields of a row, with their separators, and what is after them.
func cut(row []byte, comma byte, n int) (span, rest []byte) {
	end := 0
	for n > 8 && end+n <= len(row) { // n fields have at least n bytes, and counting is fast
		n, end = n-bytes.Count(row[end:end+n], []byte{comma}), end+n
	}
	for range n {
		end += bytes.IndexByte(row[end:], comma) + 1
	}
	return row[:end], row[end:]
}

// elements yields the elements of f in span, its fields. Those of a list end with spaces, in
// brackets perhaps with commas; one with spaces beyond ASCII, as are in numbers, is one element.
func (t *table) elements(f *fileColumn, span []byte) iter.Seq[[]byte] {
	span, comma := bytes.TrimSuffix(span, []byte{t.comma}), t.comma
	if f.comma != comma && bytes.LastIndexByte(span, '[') == 0 && bytes.IndexByte(span, ']') == len(span)-1 {
		span, comma = []byte(t.plain.Replace(string(span[1:len(span)-1]))), ','
	}
	if f.comma == t.comma || bytes.IndexByte(span, comma) >= 0 || utf8.RuneCount(span) < len(span) {
		return bytes.SplitSeq(span, []byte{comma})
	}
	return bytes.FieldsSeq(span) // 20 % faster than FieldsFuncSeq for lists of floats
}

// decide gives every file column that is read its column and type, and limits the next lines.
func (t *table) decide() error {
	var names []string
	for _, f := range t.fileColumns {
		names = append(names, f.Name)
	}
	wants := t.options.Wants(names)
	tensors := slices.ContainsFunc(t.fileColumns, func(f fileColumn) bool { return f.Shape != nil && wants(f.Name) })
	bad := error(fault.New(fault.Malformed, "found no column of numbers, expected at least one"))
	size, _ := idx.Product(1, t.options.Shape) // 0 if it is beyond counting
	seen, read := map[string]bool{}, []fileColumn(nil)
	for i := range t.fileColumns {
		f := &t.fileColumns[i]
		switch {
		case !wants(f.Name):
			t.left = append(t.left, f)
			continue
		case f.Name == "" && f.first > 0:
			return fault.New(fault.Malformed, "column %d of the header has no name, expected one", f.first+1).
				WithHint("give it one; %s", hintFields)
		case seen[f.Name]:
			return fault.New(fault.Malformed, "two columns are named %q", f.Name).WithHint("give them different names")
		}
		seen[f.Name] = true
		if t.options.Shape != nil && f.Shape != nil && size == int64(f.count) {
			f.Shape, f.Guess = t.options.Shape, ""
		} else if f.Guess != "" && f.stats.values > 0 && !f.certain && t.options.Like == nil {
			return fault.New(fault.Usage, "column %s: found numbers like 1 000, which may be lists", f.Name).
				WithHint("if they are lists: --shape %d; else remove the spaces, or choose with --columns", f.count)
		} else if f.Guess != "" && t.options.Like == nil { // else those that are expected are used
			t.note(f.Guess + "; --shape overrides this")
		}
		if left := t.omission(f); left != nil {
			if t.info.Omitted = append(t.info.Omitted, *left); left.Err == nil {
				t.note("column " + left.Column + " is not read: " + left.Why)
			}
			if bad = cmp.Or(left.Err, bad); f.Name == schema.ClassName && left.Err == nil {
				t.class = f
			}
			t.left = append(t.left, f)
			continue
		}
		t.setType(f, tensors)
		c := source.Column{Name: f.Name, DType: f.dtype, Shape: f.Shape, Origin: source.Base(t.path),
			Label: t.names == nil && f.Name == labelName && t.options.Label != "" && !t.guessed, Classes: f.classes}
		if size := int64(c.RecordSize()); size > t.options.MaxRecord() {
			return fault.New(fault.Unsupported, "a record of column %s has %d bytes, expected at most %d",
				f.Name, size, t.options.MaxRecord()).WithHint("allow larger records with --max-record-bytes %d", size)
		}
		t.columns, read, t.maxText = append(t.columns, c), append(read, *f), t.maxText+fieldText*f.count
		if c.Classes != nil && (t.labels == 0 || t.class == nil) { // the nearest before class, or after it
			t.labels = len(t.columns)
		}
	}
	if len(t.columns) == 0 {
		return bad
	}
	t.fileColumns, t.info.Unnamed, t.info.Compression = read, t.names == nil, t.stream.Format()
	return nil
}

// omission returns why f is left out, or nil. It sets f.texts if the caller knows their numbers.
func (t *table) omission(f *fileColumn) *source.Omission {
	s, left := &f.stats, &source.Omission{Column: t.name(f.first), Type: "text", Why: "it holds class names"}
	isName := func(text string) bool { return slices.Contains(t.options.Classes, text) }
	switch {
	case f.first == 0 && len(t.fileColumns) > 1 && strings.TrimPrefix(f.Name, indexName) == "":
		left.Type, left.Why = "index", "it has no name, and holds rising numbers, as row numbers are"
		f.index = (s.rising || s.values == 0) && !s.fractions && s.texts == nil // choose compares later rows
		if !f.index {
			left.Why = "it has no name, and holds no row numbers, which would rise"
			left.Err = fault.New(fault.Usage, "column 1 is not read: %s", left.Why).In(t.path).WithHint(hintIndex)
		}
	case t.options.Like != nil && f.Name == schema.ClassName && source.Index(t.options.Like, schema.ClassName) < 0:
	case s.texts != nil && (s.values == 0 || f.count == 1 && slices.ContainsFunc(s.texts, isName)):
		var bad *fault.Error
		if f.texts, bad = source.NewTexts(s.texts, t.options); bad == nil {
			return nil
		}
		if one := s.texts[0]; strings.ContainsAny(one, "-0123456789") && (otherForm().MatchString(one) ||
			strings.Trim(one, "+-.,;:[](){} \n\u00a0\u2009\u202f0123456789eE%'_/$€£") == "") {
			hint := hintNumber
			if len(one) > fieldText && countNumbers([]byte(one)) == 0 || strings.ContainsAny(one, "[({") {
				hint = hintLists
			}
			bad = t.inRow(0, hint, "found the text %.40q, expected a number", one)
		}
		left.Why, left.Err = "it holds text", bad.In(t.path).InColumn(left.Column)
	default:
		return nil
	}
	return left
}

// setType sets the type of f, as given or for the examined rows, and the names of its labels.
func (t *table) setType(f *fileColumn, tensors bool) {
	s, d, isLabel := &f.stats, t.options.DType, f.Shape == nil && strings.EqualFold(f.Name, labelName)
	switch {
	case f.texts != nil:
		f.dtype, f.classes = f.texts.DType, f.texts.Names
		t.info.Classes = t.info.Classes || f.classes != nil
		return
	case d != 0 && (f.Shape != nil || !tensors || d == idx.Int32 && !s.fractions):
		f.dtype = d // if tensors are read, types but int32 are theirs alone
	case s.floats && (s.fractions || !isLabel) || s.min < math.MinInt32 || s.max > math.MaxInt32:
		f.dtype = idx.Float64 // but labels written 5.0, as in one array with the pixels, are integers
	case s.min < 0 || s.max > math.MaxUint8 || t.err == nil && s.rising && f.Name != labelName:
		f.dtype = idx.Int32 // also for numbers of rows, which grow after those that were examined
	default:
		f.dtype = idx.Uint8
	}
	t.applyLike(f)
	named, chosen := text.NamesLabels(f.Name), t.options.Label
	if f.Shape == nil && (f.Name == chosen || named && !slices.Contains(t.names, chosen)) && t.options.Classes != nil {
		f.texts, _ = source.NewTexts([]string{"0"}, t.options)
		f.texts.DType = f.dtype
	}
}

// applyLike gives f the type and shape of the expected column that has as many elements and the
// same name, or is the only tensor, if the type holds the examined values.
func (t *table) applyLike(f *fileColumn) {
	alone := len(slices.DeleteFunc(slices.Clone(t.options.Like), source.Column.Scalar)) == 1
	for _, c := range t.options.Like {
		if c.Elements() != f.count || c.Name != f.Name && (c.Scalar() || f.Shape == nil || !alone) {
			continue
		}
		smallest, largest := c.DType.Limits()
		if !c.Integer() || !f.stats.floats && f.stats.min >= float64(smallest) && f.stats.max <= float64(largest) {
			f.dtype, f.classes = c.DType, c.Classes
		}
		if !c.Scalar() && (f.Guess != "" || len(f.Shape) <= 1) { // otherwise the header gives the shape
			f.Shape = c.Shape
		}
		return
	}
}

// name returns the name of field i of a line, for messages.
func (t *table) name(i int) string {
	if t.names == nil || t.names[i] == "" {
		return strconv.Itoa(i + 1)
	}
	return t.names[i]
}

// Decode parses the rows of b. Errors name the file, the row and usually the column.
func (t *table) Decode(b *source.Raw) error {
	b.Allocate(t.columns)
	row := 0
	for line := range bytes.Lines(b.Input) {
		if bad := t.parseRow(b, line, row); bad != nil {
			return bad.In(t.path).InRow(b.First + int64(row))
		}
		row++
	}
	return nil
}

// parseRow parses line, as choose returns it, as a row of b.
func (t *table) parseRow(b *source.Raw, line []byte, row int) *fault.Error {
	at, span := b.First+int64(row), []byte(nil)
	for i := range t.fileColumns {
		f := &t.fileColumns[i]
		n, size := 0, f.dtype.Size()
		dst := b.Columns[i][row*f.count*size:][:f.count*size]
		if f.dtype == idx.Uint8 && f.texts == nil {
			n, line = parseUint8s(dst, line, f.comma)
		}
		if n < f.count || f.comma != t.comma {
			span, line = cut(line, t.comma, max(f.fields-n, 1))
			for element := range t.elements(f, span) {
				if n < f.count {
					if bad := t.parseElement(dst[n*size:], bytes.TrimSpace(element), f, at); bad != nil {
						return bad.InColumn(t.name(f.first + min(n, f.fields-1)))
					}
				}
				n++
			}
			if n != f.count {
				return t.inRow(at, "all records must have one shape: pad or cut the lists", "found %s, expected %d",
					text.Count(n, "number"), f.count).InColumn(t.name(f.first))
			}
		}
	}
	if k := t.labels - 1; t.class != nil && k >= 0 {
		c, found := t.columns[k], t.plain.Replace(string(bytes.TrimSpace(line[:len(line)-len(",\n")])))
		name := strings.TrimSpace(c.ClassName(int64(source.Float(c.DType, b.Columns[k], row))))
		if name != "" && found != name {
			return fault.New(fault.Differs, "found %q, expected the name %q", found, name).InColumn(schema.ClassName)
		}
	}
	return nil
}

const hintEnds = `; if separators end all lines: sed 's/[,;]\r*$//' FILE.csv >rows.csv`
const hintIndex = "give it a name, such as label, or leave it out with --columns"
const hintFields = "fill in fields, or quote separators in them; if R wrote names of rows, add an empty one to the " +
	`header: sed -E '1s/^("[^"]*"|[^",;[:cntrl:]]+)(.)/""\2\1\2/' FILE.csv >named.csv` + hintEnds
const hintEmpty = "fill in missing values, or leave the column out with --columns" + hintEnds
const hintNumber = "separate fields by commas, tabs or semicolons, fill in missing values, write decimals with a " +
	"point, give names with --classes, leave the column out with --columns, or try --dtype int32 or float64"
const hintLists = "write a record as one list of all numbers: numpy.ravel(a).tolist(), or DuckDB's " +
	"flatten(column); if these are images, write Parquet: ds.to_parquet(…), df.to_parquet(…)"

// parseElement parses text, an element of f in a row, as the element at the start of dst.
func (t *table) parseElement(dst, text []byte, f *fileColumn, row int64) *fault.Error {
	if f.texts != nil {
		bad := f.texts.Put(dst, t.plain.Replace(string(text)))
		if f.texts.Names != nil || bad == nil || bad.Kind == fault.Usage {
			return bad
		}
	}
	if source.PutText(f.dtype, dst, text) {
		return nil
	}
	found, hint := t.plain.Replace(string(text)), hintNumber
	if found == "" {
		hint = hintEmpty
	}
	return t.inRow(row, hint, "found %.40q, expected a number that %v holds", found, f.dtype)
}

// parseUint8s parses fields of one to three digits, up to 255, each followed by comma, until dst is
// full, a field has another form, or fewer than four bytes are left: n fields, before rest.
func parseUint8s(dst, src []byte, comma byte) (n int, rest []byte) {
	for ; n < len(dst) && len(src) >= 4; n++ {
		four := src[:4:4]
		switch a, b, c := four[0]-'0', four[1]-'0', four[2]-'0'; {
		case a <= 9 && four[1] == comma:
			dst[n], src = a, src[2:]
		case a <= 9 && b <= 9 && four[2] == comma:
			dst[n], src = 10*a+b, src[3:]
		case a <= 2 && b <= 9 && c <= 9 && four[3] == comma && 100*int(a)+10*int(b)+int(c) <= math.MaxUint8:
			dst[n], src = 100*a+10*b+c, src[4:]
		default:
			return n, src
		}
	}
	return n, src
}

// countNumbers returns how many numbers text has, separated by spaces; 0 if it has anything else.
func countNumbers(text []byte) (n int) {
	for number := range bytes.FieldsSeq(text) {
		if _, _, ok := source.ParseNumber(number, 64); !ok {
			return 0
		}
		n++
	}
	return n
}
