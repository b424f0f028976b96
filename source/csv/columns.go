package csv

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/flat"
	"github.com/idxport/idxport/source/idx"
)

// A fileColumn is one or more fields of each line: a column of the table, or one that is left out.
type fileColumn struct {
	flat.Field
	first, fields int  // index in a line of the first field, and number of fields
	count         int  // number of elements
	comma         byte // separates the elements: a space if a field has all of them, in a list
	certain       bool // some values cannot have spaces between thousands
	stats         stats
	index         bool     // it is left out as row numbers, which rise
	classes       []string // names of the labels, as given, or as they are expected
	dtype         idx.DType
	texts         *source.Texts // nil: numbers; without Names: numbers that may be names of other labels
}

const (
	maxNamed   = 1 << 19      // fields, as of a picture of 724×724: names take much more memory than numbers
	maxColumns = 1 << 14      // of the table, each of which costs the writer memory
	labelName  = "label"      // of labels without a name
	indexName  = "Unnamed: 0" // of a first column without a name, after pandas.read_csv
	// valueWords, in lower case, are texts of rows, not of columns: truth values, and none at all.
	valueWords = `||na|n/a|nan|-nan|-nan(ind)|1.#ind|-1.#ind|1.#qnan|-1.#qnan|null|none|missing|\n|-|.|?|true|false|`
)

// readFirstLine reads a header or a row, and finds the separator, the number of fields and names.
func (t *table) readFirstLine() error {
	line, err := t.record(nil)
	line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")) // the mark that Excel and Windows write before UTF-8
	first, _, _ := bytes.Cut(line, []byte("\n"))          // of a quoted name, or all that is no CSV file
	control := bytes.IndexFunc(bytes.TrimRight(first, "\r"), func(r rune) bool { return r < ' ' && r != '\t' })
	message, hint := idx.Foreign(first[:min(len(first), 512)], "CSV") // a line may have megabytes
	switch {
	case bytes.HasPrefix(first, []byte("sep=")), bytes.IndexAny(first, "#%@") == 0 && t.options.Header == nil:
		return fault.New(fault.Unsupported, "the first line is a comment, expected names or numbers").
			WithHint(`remove it: grep -vE '^[^0-9A-Za-z",;|[:blank:]]*([#%%@]|sep=|$)' FILE.csv >rows.csv; ` + // or BOM
				`or make the first one the header: sed '1s/^[^0-9A-Za-z"]*# *//' FILE.csv >named.csv`)
	case message != "":
		return fault.New(fault.Unsupported, "%s", message).WithHint("%s", hint)
	case control >= 0:
		return fault.New(fault.Unsupported, "the first line has a byte %#02x, expected text", first[control]).
			WithHint("if it is UTF-16: iconv -f UTF-16%s -t UTF-8 FILE.csv >utf8.csv; if carriage returns end its "+
				`lines: tr '\r' '\n' <FILE.csv >lines.csv`, // without a mark, a byte 0 tells the order
				[]string{"BE", "LE", ""}[min(control, 2)])
	case !utf8.Valid(first):
		return fault.New(fault.Unsupported, "the first line is not UTF-8").
			WithHint("convert the file: iconv -f WINDOWS-1252 -t UTF-8 FILE.csv >utf8.csv")
	case err == io.EOF || err == nil && len(line) == 0:
		return fault.New(fault.Truncated, "the file is empty or begins with an empty line").WithHint("remove the line")
	case err != nil:
		return err
	}
	count := func(c byte) int { return bytes.Count(line, []byte{c}) }
	t.comma = slices.MaxFunc([]byte(",\t;|"), func(a, b byte) int { return count(a) - count(b) })
	plain := bytes.ReplaceAll(line, []byte{'"'}, nil)
	if count(t.comma) == 0 && (countNumbers(plain) > 1 || bytes.Contains(line, []byte(`" "`))) {
		t.comma = ' ' // separates numbers, or the names that R's write.table quotes
	}
	t.plain = strings.NewReplacer("\x1f", string(rune(t.comma)), "\x1e", "\n")
	row, err := t.split(line, 0)
	if err != nil {
		return err
	}
	t.count = bytes.Count(row, []byte{t.comma})
	header, err := t.readNames(row, len(line)-len(plain) == 2*t.count)
	if t.cut = 0; !header {
		t.note("no header: the first line is read as a row")
		t.sample, t.before, t.cut = row, 0, 1
	}
	return err
}

// readNames reports whether row, the first line, is a header, and keeps the names of the columns,
// unless they name nothing. If it is doubtful, the user must decide.
func (t *table) readNames(row []byte, quoted bool) (header bool, err error) {
	row = row[:len(row)-len(",\n")]
	words, _, doubtful := t.looksNamed(row, quoted)
	if header = words > 0; t.options.Header != nil {
		header = *t.options.Header
	} else if doubtful {
		return false, fault.New(fault.Malformed, "the first line is %.40q, which may be column names or a row of "+
			"values", t.plain.Replace(string(row))).WithHint("say which it is: --header yes, or --header no")
	}
	first, known, comma := string(row), t.options.FirstLine, string(rune(t.comma))
	switch {
	case header && t.count > maxNamed:
		return false, fault.New(fault.Unsupported, "the header has %d names, expected at most %d", t.count, maxNamed).
			WithHint("leave out the header, or use Parquet or Arrow")
	case known != "" && (t.options.Header != nil && first != known ||
		!header && strings.Count(known, comma) != t.count-1):
		return false, fault.New(fault.Malformed, "the first line is %.40q, expected %.40q, as in the first file",
			row, known).WithHint("if no file has a header: --header no; if only the first has one: cat FILES >all.csv")
	case !header:
		first = known
	default:
		t.info.FirstLine = first
	}
	switch words, nameless, _ := t.looksNamed([]byte(first), false); {
	case nameless:
		for range words { // none or the index
			t.index = t.add(flat.Field{}, 1).fields
		}
	case first != "":
		for name := range strings.SplitSeq(first, comma) { // they share its memory
			t.names = append(t.names, t.plain.Replace(strings.TrimSpace(name)))
		}
	}
	return header, nil
}

// looksNamed returns how many words row, the first line, has; whether its numbers name nothing, and
// only the index before them may have a name; and whether row may be a header or not: pandas writes
// 0, 1, 2, … for columns without names, in any order, or again for each table that it joins, maybe
// in quotes; it renames numbers of a row that occur again N.1, …; years, too, follow each other.
func (t *table) looksNamed(row []byte, quoted bool) (words int, nameless, doubtful bool) {
	values, numbers, largest, last, seen := 0, 0, 0, -1, map[string]int{}
	follow, restart, integers, renamed, repeats := true, true, true, false, false // restart: follow, or are 0
	for field := range bytes.SplitSeq(row, []byte{t.comma}) {
		text := strings.TrimSpace(t.plain.Replace(string(field)))
		dot := max(strings.LastIndexByte(text, '.'), 0)
		again := seen[text[:dot]] > 0 && strings.Trim(text[dot:], ".0123456789") == ""
		if !again && countNumbers([]byte(text)) == 0 {
			words++
			list := strings.HasPrefix(text, "[") && strings.Trim(text, "[]0123456789+-.,eE \n") == ""
			if word := "|" + strings.ToLower(text) + "|"; list || strings.Contains(valueWords, word) ||
				slices.Contains(t.options.Classes, text) {
				values++
			}
			continue
		}
		n, _ := strconv.Atoi(text)
		numbers++
		follow = follow && text == strconv.Itoa(n) && (numbers == 1 || n == last+1)
		restart = restart && text == strconv.Itoa(n) && (n == 0 || n == last+1)
		largest, last, integers = max(largest, n), n, integers && strings.Trim(text, "0123456789") == ""
		renamed, repeats = renamed || again && text[dot:] == ".1", repeats || seen[text] > 0
		if len(seen) < 1<<12 {
			seen[text]++
		}
	}
	index := words == 1 && bytes.HasPrefix(bytes.TrimPrefix(row, []byte(indexName)), []byte{t.comma})
	from0, from1 := follow && last == numbers-1, follow && last == numbers // from0 also without any numbers
	joined := from0 || restart && 2*seen["0"] <= numbers                   // tables of two columns, on average
	nameless = (words == 0 || index) && (joined || from1 || renamed)
	switch counted := from0 || from1 && numbers > 1; {
	case words > 0: // a row may have texts, too
		doubtful = !counted || numbers == 1 || values == words && !index
	case counted, (joined || follow && numbers > 3) && t.options.Like == nil: // else compared
		doubtful = true
	case !repeats: // as names do not
		doubtful = renamed || quoted || integers && (numbers >= 64 || numbers > 3 && largest < numbers)
	}
	return words, nameless, doubtful
}

// arrange finds the file columns: by the names in the header; without names, by the expected
// columns if they have as many elements as a line has fields, or else by that number alone.
func (t *table) arrange() error {
	o, like := t.options, 0
	for _, c := range o.Like {
		like += c.Elements()
	}
	switch {
	case t.names != nil && o.Label == "none" && !slices.Contains(t.names, "none"):
		return fault.New(fault.Usage, "--label-column none is for files without names, but the first line has names")
	case t.names != nil:
		return t.group()
	case like != t.count-t.index || o.Shape != nil || o.Label != "":
		t.divide()
	default:
		scalars := func(a, b source.Column) int { return min(len(a.Shape), 1) - min(len(b.Shape), 1) }
		for _, c := range slices.SortedStableFunc(slices.Values(o.Like), scalars) { // as sink/csv writes them
			t.add(flat.Field{Name: c.Name, Shape: append([]int(nil), c.Shape...)}, c.Elements())
		}
	}
	return nil
}

// add adds f, whose elements are the next n fields of a line.
func (t *table) add(f flat.Field, n int) *fileColumn {
	f.Columns = nil // frees the memory
	t.fileColumns = append(t.fileColumns, fileColumn{Field: f, first: t.placed, fields: n, count: n, comma: t.comma})
	t.placed += n
	return &t.fileColumns[len(t.fileColumns)-1]
}

// group finds the tensors by the names in the header.
func (t *table) group() error {
	expected := append([]source.Column{{Shape: t.options.Shape}}, t.options.Like...)
	found, bad := flat.Group(t.names, maxColumns, func(i int) bool { // expected scalars are no elements
		return slices.ContainsFunc(expected, func(c source.Column) bool { return c.Scalar() && c.Name == t.names[i] })
	}, func(_, n int) bool { // a shape alone does not make a tensor of one column
		isThis := func(c source.Column) bool { return !c.Scalar() && c.Elements() == n && (n > 1 || c.Name != "") }
		return slices.ContainsFunc(expected, isThis)
	}, t.options.Wants)
	if bad != nil {
		return fault.New(bad.Kind, "the header has %s", bad.Msg).WithHint("%s", bad.Hint)
	}
	span, rest := []byte(nil), t.sample // which begins with the first row
	for _, f := range found {
		c := t.add(f, len(f.Columns))
		span, rest = cut(rest, t.comma, c.fields)
		n := countNumbers(bytes.Join(slices.Collect(t.elements(&fileColumn{comma: ' '}, span)), []byte{' '}))
		alone := len(found) == 1 && (n < 4 || strings.Contains(f.Name, " "))
		if n > 1 && f.Shape == nil && !alone && !bytes.ContainsAny(span, "\u00a0\u2009\u202f") {
			c.comma, c.count = ' ', n
			c.GuessShape(n, "column "+f.Name+": lists of "+strconv.Itoa(n)+" numbers")
		} else if n == 1 && span[0] == '[' { // a list of one number is this number, as in arrays of N×1
			c.comma = ' '
		}
	}
	return nil
}

// divide finds the image and the label by the number of fields, or the shape and place given.
func (t *table) divide() {
	rest, place, shape := t.count-t.index, t.options.Label, t.options.Shape
	size, _ := idx.Product(1, shape)
	t.guessed = !slices.Contains([]string{"first", "last", "none"}, place)
	if t.guessed && (shape == nil && flat.Labelled(rest) || shape != nil && size == int64(rest-1)) {
		place = "first"
	}
	elements, image, label := "", flat.Field{Name: "data"}, flat.Field{Name: labelName}
	if place == "first" || place == "last" {
		rest, elements = rest-1, " beside a label (the "+place+" field)"
	}
	if rest > 1 || shape != nil {
		image.GuessShape(rest, text.Count(rest, "field")+elements)
	}
	if shape == nil && len(image.Shape) > 1 || len(shape) > 1 {
		image.Name = flat.Image
	}
	if place == "first" {
		t.add(label, 1)
	}
	if rest > 0 {
		t.add(image, rest)
	}
	if place == "last" {
		t.add(label, 1)
	}
}
