package csv

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
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
	label         bool // the user chose it as the label
	stats         stats
	column        int // index in the table; −1: left out
	dtype         idx.DType
	texts         *source.Texts // nil: numbers
}

const (
	maxNamed   = 1 << 20 // fields: a picture of 1024×1024 pixels; names take much more memory than numbers
	maxColumns = 1 << 16 // of the table, each of which costs the writer memory
	labelName  = "label" // of labels without a name
)

// readFirstLine reads the first line, a header or a row, and finds the separator, the number of
// fields and their names.
func (t *Table) readFirstLine() error {
	const byteOrderMark = "\xef\xbb\xbf" // Excel and Windows write it before UTF-8
	if mark, _ := t.in.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = t.in.Discard(len(mark)) // cannot fail after Peek
	}
	begin, _ := t.in.Peek(bufferSize) // an error is returned by the next read
	if err := t.check(begin); err != nil {
		return err
	}
	line, err := t.record()
	if err == io.EOF || err == nil && len(line) == 0 {
		return fault.New(fault.Truncated, "the file is empty or begins with an empty line, expected lines of numbers")
	} else if err != nil {
		return err
	}
	t.comma = findSeparator(line)
	t.quoted = csv.NewReader(&t.text)
	t.quoted.Comma, t.quoted.ReuseRecord, t.quoted.FieldsPerRecord = rune(t.comma), true, -1
	t.quoted.TrimLeadingSpace = t.comma != ' ' && t.comma != '\t' // it would join empty fields
	t.escape = strings.NewReplacer(string(rune(t.comma)), "\x1f", "\n", "\x1e")
	t.plain = strings.NewReplacer("\x1f", string(rune(t.comma)), "\x1e", "\n")
	row, err := t.split(nil, line)
	if err != nil {
		return err
	}
	t.long = nil // frees the memory
	t.count = bytes.Count(row, []byte{t.comma})
	header, err := t.readNames(row)
	if t.cut = 0; !header {
		t.note("no header: the first line is read as a row")
		t.sample, t.before, t.cut = row, 0, 1
	}
	return err
}

// check returns an error if begin, the first part of a file, is not that of a CSV file.
func (t *Table) check(begin []byte) error {
	first, _, _ := bytes.Cut(begin, []byte{'\n'})
	line, found, hint := strings.TrimSuffix(string(first), "\r"), "", ""
	control := strings.IndexFunc(line, func(r rune) bool { return r < ' ' && r != '\t' })
	switch {
	case strings.HasPrefix(line, "\xff\xfe"), strings.HasPrefix(line, "\xfe\xff"):
		found, hint = "the file is UTF-16, expected UTF-8", "iconv -f UTF-16 -t UTF-8 FILE >utf8.csv"
	case strings.HasPrefix(line, "<"):
		found, hint = "the file begins with <, like a web page", "download it again: it may be a server's error page"
	case strings.HasPrefix(line, "sep="):
		found, hint = "the first line is for Excel, expected names or numbers", "remove it: tail -n +2 FILE >rows.csv"
	case strings.HasPrefix(line, "#") && t.options.Header == nil:
		found, hint = "the first line is a comment, expected names or numbers", "remove comments: grep -v '^#' FILE "+
			">rows.csv; or make the first one the header: sed '1s/^# *//' FILE >named.csv"
	case control >= 0 && line[control] == '\r':
		found, hint = "the lines end with carriage returns, expected line feeds", `tr '\r' '\n' <FILE >lines.csv`
	case control >= 0: // such as the rest of a truncated compressed file
		found = fmt.Sprintf("the first line has a byte %#02x, expected text", line[control])
	default:
		return nil
	}
	return fault.New(fault.Unsupported, "%s", found).WithHint("%s", strings.ReplaceAll(hint, "FILE", t.word))
}

// findSeparator returns the most frequent separator. If none occurs, it returns a space if all
// fields that spaces separate are numbers, and otherwise a comma.
func findSeparator(line []byte) byte {
	count := func(c byte) int { return bytes.Count(line, []byte{c}) }
	best := slices.MaxFunc([]byte(",\t;|"), func(a, b byte) int { return count(a) - count(b) })
	if count(best) == 0 && countNumbers(bytes.ReplaceAll(line, []byte{'"'}, nil)) > 1 {
		return ' '
	}
	return best
}

// readNames reports whether row, the first line, is a header, and keeps the names of the columns,
// if they are not only numbers. If it is doubtful, the user must decide: pandas writes 0, 1, 2, …
// for columns without names, and it makes names of a row by turning numbers that occur again into
// N.1, N.2, ….
func (t *Table) readNames(row []byte) (header bool, err error) {
	const limit = 1 << 12 // different numbers
	words, numbers, first, counting, repeats, differ, seen := 0, 0, 0, true, false, true, map[string]int{}
	for field := range t.fields(row) {
		if countNumbers(field) == 0 {
			words++
			continue
		}
		text := string(bytes.TrimSpace(field))
		number, k, again := strings.Cut(text, ".")
		switch times := seen[number]; {
		case numbers == 0 && text == "1":
			first = 1
		case again != (times > 0) || again && k != strconv.Itoa(times):
			differ = false
		}
		counting = counting && text == strconv.Itoa(first+numbers)
		if repeats = repeats || again; len(seen) < limit {
			seen[number]++
		}
		numbers++
	}
	doubtful := counting && (numbers > 1 || first == 0) || repeats && differ
	if header = words > 0; header {
		doubtful = !counting && numbers > words // a row that lacks a number, or has one text
	}
	if chosen := t.options.Header; chosen != nil {
		header = *chosen
	} else if doubtful {
		return false, fault.New(fault.Malformed,
			"the first line is %.40q, which may be column names or a row of values", row[:len(row)-len(",\n")]).
			WithHint("say which it is: --header yes, or --header no")
	}
	t.index = header && words == 1 && numbers > 0 && row[0] == t.comma
	switch {
	case header && t.count > maxNamed:
		return false, fault.New(fault.Unsupported, "the header has %d names, expected at most %d", t.count, maxNamed).
			WithHint("leave out the header, or use Parquet or Arrow")
	case header && words > 0 && !t.index:
		names := string(row[:len(row)-len(",\n")]) // they share its memory
		t.names = make([]string, 0, t.count)
		for name := range strings.SplitSeq(names, string(rune(t.comma))) {
			t.names = append(t.names, t.plain.Replace(strings.TrimSpace(name)))
		}
	}
	return header, nil
}

// arrange finds the file columns: by the names in the header; without names, by the expected
// columns if they have as many elements as a line has fields, or else by that number alone.
func (t *Table) arrange() error {
	o, like := t.options, 0
	for _, c := range o.Like {
		like += c.Elements()
	}
	switch {
	case t.names != nil && o.Label == "none" && !slices.Contains(t.names, "none"):
		return fault.New(fault.Usage,
			"--label-column none: it is for files without names, but the first line has names")
	case t.names != nil:
		return t.group()
	case like != t.count || o.Shape != nil || o.Label != "":
		return t.divide()
	}
	for _, scalars := range []bool{true, false} { // as sink/csv writes them
		for _, c := range o.Like {
			if c.Scalar() == scalars {
				t.add(flat.Field{Name: c.Name, Shape: append([]int(nil), c.Shape...)}, c.Elements())
			}
		}
	}
	return nil
}

// add adds f, whose elements are the next n fields of a line.
func (t *Table) add(f flat.Field, n int) *fileColumn {
	t.fileColumns = append(t.fileColumns, fileColumn{Field: f, first: t.placed, fields: n, count: n, comma: t.comma})
	t.placed += n
	return &t.fileColumns[len(t.fileColumns)-1]
}

// group finds the tensors by the names in the header.
func (t *Table) group() error {
	if i := slices.Index(t.names[1:], ""); i >= 0 {
		return fault.New(fault.Malformed, "column %d of the header has no name, expected one", i+2).
			WithHint("if lines end with a separator, remove it")
	}
	found, bad := flat.Group(t.names, maxColumns, func(i int) bool { // expected scalars are no elements
		isThis := func(c source.Column) bool { return c.Scalar() && c.Name == t.names[i] }
		return slices.ContainsFunc(t.options.Like, isThis)
	})
	if bad != nil {
		return fault.New(bad.Kind, "the header has %s", bad.Msg).WithHint("%s", bad.Hint)
	}
	var span []byte
	rest, _, _ := bytes.Cut(t.sample, []byte{'\n'}) // the first row
	shape, seen := t.options.Shape, map[string]bool{}
	size, _ := idx.Product(1, shape) // 0 if it is beyond counting
	fits := shape == nil
	for _, f := range found {
		n := len(f.Columns)
		switch {
		case seen[f.Name]:
			return fault.New(fault.Malformed, "two columns are named %q", f.Name).WithHint("give them different names")
		case !slices.IsSorted(f.Columns) || f.Columns[n-1]-f.Columns[0] != n-1:
			return fault.New(fault.Unsupported, "the columns of %s are not in the order of their numbers", f.Name).
				WithHint(`Parquet may have any order: duckdb -c "copy (from '%s') to 'rows.parquet'"`, t.word)
		}
		seen[f.Name] = true
		f.Columns = nil
		c := t.add(f, n)
		span, rest = cut(rest, t.comma, n)
		if k := countNumbers(bytes.TrimSuffix(span, []byte{t.comma})); k > 1 && len(found) > 1 && f.Shape == nil {
			c.comma, c.count = ' ', k
			c.GuessShape(k, fmt.Sprintf("column %s: lists of %d numbers", f.Name, k))
		}
		if c.Shape != nil && shape != nil && int64(c.count) == size {
			c.Shape, c.Guess, fits = shape, "", true
		}
		if c.Guess != "" {
			t.note("%s; --shape overrides this", c.Guess)
		}
	}
	if !fits {
		return t.shapeError()
	}
	return nil
}

// shapeError returns the error for lines without a record of the shape that the caller gave.
func (t *Table) shapeError() error {
	return fault.New(fault.Usage, "found no records of the shape %s in lines of %s",
		display.Shape(t.options.Shape), display.Count(t.count, "field")).
		WithHint("leave out --shape to see which records there are: idxport inspect %s", t.word)
}

// divide finds the image and the label by the number of fields alone, or by the shape and the place
// of the label that the caller gave.
func (t *Table) divide() error {
	n, place, shape := t.count, t.options.Label, t.options.Shape
	if t.index {
		t.add(flat.Field{}, 1)
		n--
	}
	size, _ := idx.Product(1, shape) // 0 if it is beyond counting
	if _, square := flat.Square("", n-1); place == "" {
		t.guessedLabel = shape == nil && square && n > 2 || shape != nil && size == int64(n-1)
	}
	rest, what := n, ""
	if t.guessedLabel || place == "first" || place == "last" {
		rest, what = n-1, "a label (the "+cmp.Or(place, "first")+" field) and "
	}
	image := flat.Field{Name: "data", Shape: shape}
	switch {
	case shape != nil && size != int64(rest):
		return t.shapeError()
	case shape == nil && rest > 1:
		var square bool
		if image.Shape, square = flat.Square("", rest); !square {
			image.Shape = []int{rest}
		}
		image.Guess = fmt.Sprintf("%d fields are read as %sa record of %s", n, what, display.Shape(image.Shape))
		t.note("%s; --shape overrides this", image.Guess)
	}
	if len(image.Shape) > 1 {
		image.Name = flat.Image
	}
	if rest < n && place != "last" {
		t.add(flat.Field{Name: labelName}, 1).label = place != ""
	}
	if rest > 0 {
		t.add(image, rest)
	}
	if place == "last" {
		t.add(flat.Field{Name: labelName}, 1).label = true
	}
	return nil
}
