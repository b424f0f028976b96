package csv

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/fault"
)

// maxNamed is the largest number of named fields: a picture of 1024×1024 pixels. A name takes much
// more memory than a number.
const maxNamed = 1 << 20

// byteOrderMark is written by Excel and Windows before UTF-8.
const byteOrderMark = "\xef\xbb\xbf"

// readHeader reads all that precedes the rows, and finds the separator, the number of fields and
// their names. No line may have more than limit bytes.
func (t *Table) readHeader(limit int) error {
	line, isComment, err := t.firstLine(limit)
	if err != nil {
		return err
	}
	if c := t.dialect.comma; c != ',' && !strings.Contains(strings.ToLower(t.origin), ".tsv") {
		t.note("fields are separated by %q", c)
	}
	row, err := t.dialect.split(nil, line)
	if err != nil {
		return fault.New(fault.Malformed, "in the first line, %v", err).WithHint("%s", fault.HintOf(err))
	}
	t.count = t.dialect.count(row)
	header := isComment
	if !isComment {
		if header, err = t.isHeader(row); err != nil {
			return err
		}
	}
	if int64(t.count) > t.options.MaxRecord()+maxNamed || header && t.count > maxNamed {
		return fault.New(fault.Unsupported, "the first line has %d fields, too many for a record", t.count).
			WithHint("allow more with --max-record-bytes %d, or use Parquet or Arrow", t.count)
	}
	switch {
	case !header:
		t.in.back = append(bytes.Clone(line), '\n')
		return nil
	case !isComment:
		t.before++
	}
	t.in.long = nil // frees the memory
	comma := string(rune(t.dialect.comma))
	t.names = strings.Split(strings.TrimSuffix(string(row), comma+"\n"), comma) // these share their memory
	for i, name := range t.names {
		t.names[i] = strings.ReplaceAll(strings.TrimSpace(name), string(inner), comma)
	}
	return nil
}

// firstLine returns the first line, a header or a row, without its end, and finds the separator. It
// returns the comment before it instead if both have the same number of fields, as numpy.savetxt
// writes them, or if no line follows.
func (t *Table) firstLine(limit int) (line []byte, isComment bool, err error) {
	comments, comment, err := t.skipPreamble()
	if err != nil {
		return nil, false, err
	}
	line, err = t.in.one(limit)
	header := t.options.Header == nil || *t.options.Header
	if comment != nil && header && (err == io.EOF || err == nil && t.isHeaderOf(comment, trimEnd(line))) {
		t.in.back, err = bytes.Clone(line), nil
		line, isComment = bytes.TrimPrefix(comment, []byte("# ")), true
		comments--
	}
	if check := t.checkFirstLine(line); check != nil && (err == nil || err == errLong) {
		return nil, false, check
	}
	switch {
	case err == io.EOF || err == nil && len(trimEnd(line)) == 0:
		return nil, false, fault.New(fault.Truncated, "the file is empty, expected lines of numbers")
	case err == errLong:
		return nil, false, fault.New(fault.Unsupported, "the first line has more than %d bytes", limit).
			WithHint("allow longer lines with --max-record-bytes %d", 2*t.options.MaxRecord())
	case err != nil:
		return nil, false, err
	case opensQuote(line): // the rest of the file would belong to it
		return nil, false, fault.New(fault.Malformed, "the first line has a quote that is not closed").
			WithHint("close it, or remove it")
	}
	if comments > 0 {
		t.note("comments (lines that begin with #) skipped before the data: %d", comments)
	}
	line = trimEnd(line)
	t.dialect.comma = cmp.Or(t.dialect.comma, findSeparator(line))
	return line, isComment, nil
}

// skipPreamble skips all that may precede the data: a byte order mark, Excel's line "sep=;", empty
// lines, and comments, which begin with #. It returns the number of comments and the last of them.
func (t *Table) skipPreamble() (comments int, comment []byte, err error) {
	const limit = 1 << 20 // bytes
	in := t.in.in
	if mark, _ := in.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = in.Discard(len(mark)) // cannot fail after Peek
	}
	begin, _ := in.Peek(len("\"sep=;\"\r\n")) // an error is returned by the next read
	begin, _, _ = bytes.Cut(begin, []byte{'\n'})
	begin = bytes.Trim(trimEnd(begin), `"`)
	if n := len("sep="); len(begin) == n+1 && strings.EqualFold(string(begin[:n]), "sep=") &&
		strings.IndexByte(separators, begin[n]) >= 0 {
		t.dialect.comma = begin[n]
		_, _ = t.in.one(limit)
		t.before++
	}
	for skipped := 0; skipped <= limit; t.before++ {
		begin, _ := in.Peek(len("\r\n"))
		if len(begin) == 0 || begin[0] != '#' && begin[0] != '\n' && string(begin) != "\r\n" {
			return comments, comment, nil
		}
		line, err := t.in.one(limit)
		if err != nil && err != errLong {
			return 0, nil, err
		}
		if skipped += len(line); line[0] == '#' {
			comments, comment = comments+1, bytes.Clone(trimEnd(line))
		}
	}
	return 0, nil, fault.New(fault.Unsupported,
		"more than %d bytes of comments and empty lines before the data", limit).
		WithHint("remove them: grep -v -e '^#' -e '^$' %s >rows.csv", t.word)
}

// isHeaderOf reports whether comment has a name for each field of line, and line is no header. If
// the fields of line are separated by spaces, those of comment are, too.
func (t *Table) isHeaderOf(comment, line []byte) bool {
	if t.dialect.comma == 0 && findSeparator(line) == ' ' { // else spaces may be part of a name
		t.dialect.comma = ' '
	}
	d := dialect{comma: cmp.Or(t.dialect.comma, findSeparator(comment))}
	if opensQuote(comment) || opensQuote(line) {
		return false
	}
	names, err1 := d.split(nil, bytes.TrimPrefix(comment, []byte("# ")))
	row, err2 := d.split(nil, line)
	place, _ := d.firstWord(row)
	return err1 == nil && err2 == nil && d.count(names) == d.count(row) && place < 0
}

// checkFirstLine returns an error if line cannot be the first line of a CSV file.
func (t *Table) checkFirstLine(line []byte) error {
	begin := line[:min(len(line), 1<<10)]
	var zeros [2]int // of UTF-16, the first or the second byte of most characters is 0
	for i, c := range begin {
		if c == 0 {
			zeros[i%2]++
		}
	}
	encoding := ""
	switch most := len(begin) / 4; {
	case bytes.HasPrefix(line, []byte("\xff\xfe")), bytes.HasPrefix(line, []byte("\xfe\xff")):
		encoding = "UTF-16"
	case zeros[0] == 0 && zeros[1] > most:
		encoding = "UTF-16LE"
	case zeros[1] == 0 && zeros[0] > most:
		encoding = "UTF-16BE"
	}
	begin = bytes.TrimSpace(begin)
	control := bytes.IndexFunc(line, func(r rune) bool { return r < ' ' && r != '\t' && r != '\r' && r != '\n' })
	switch {
	case encoding != "":
		return fault.New(fault.Unsupported, "the file is UTF-16, expected UTF-8").
			WithHint("iconv -f %s -t UTF-8 %s >utf8.csv", encoding, t.word)
	case bytes.HasPrefix(begin, []byte{'<'}):
		return fault.New(fault.Unsupported, "the file begins with %s, like a web page", shown(begin)).
			WithHint("the server sent an error page instead of the file: download it again")
	case control >= 0: // such as the rest of a truncated compressed file
		return fault.New(fault.Unsupported, "the first line has a byte %#02x, expected text", line[control])
	case bytes.IndexByte(trimEnd(line), '\r') >= 0:
		return fault.New(fault.Unsupported,
			"the lines end with carriage returns without line feeds, expected LF or CRLF").
			WithHint(`tr '\r' '\n' <%s >lines.csv`, t.word)
	}
	return nil
}

// firstWord returns the index and the text of the first field of row that is a word: neither
// numbers nor empty. If a field is a number, NA and the like are not words. The index is −1 if
// there is none.
func (d *dialect) firstWord(row []byte) (i int, text []byte) {
	missing, numbers := -1, false
	for i, text := range d.fields(row) {
		switch _, ok := parseNumber(text); {
		case ok || countNumbers(text) > 0:
			numbers = true
		case isMissing(text):
			missing = i
		case len(text) > 0:
			return i, text
		}
	}
	if numbers {
		return -1, nil
	}
	return missing, nil
}

// isNumbered reports whether the count fields of row are 0, 1, 2, … or 1, 2, 3, …, in any order,
// and whether they are in this order. The first field may be empty, as the name of row numbers.
func (d *dialect) isNumbered(row []byte, count int) (numbered, sorted bool) {
	seen := make([]bool, count+1)
	first, numbers, last := count, 0, -1.0
	sorted = true
	for i, text := range d.fields(row) {
		if i == 0 && len(text) == 0 {
			continue
		}
		n, ok := parseNumber(text)
		if !ok || n.value != math.Trunc(n.value) || n.value < 0 || n.value > float64(count) || seen[int(n.value)] {
			return false, false
		}
		seen[int(n.value)] = true
		first, numbers = min(first, int(n.value)), numbers+1
		sorted, last = sorted && n.value > last, n.value
	}
	return first <= 1 && numbers > 0 && !slices.Contains(seen[first:first+numbers], false), sorted
}

// repeatsNumbers reports whether row has numbers as pandas.read_csv turns them into names: a number
// that occurs again becomes N.1, then N.2, and so on.
func (d *dialect) repeatsNumbers(row []byte) bool {
	const limit = 1 << 12 // fields
	seen, found := map[string]bool{}, false
	for i, text := range d.fields(row) {
		name := string(text)
		number, k, again := strings.Cut(name, ".")
		if again {
			n, err := strconv.Atoi(k)
			before := number
			if n > 1 {
				before = fmt.Sprint(number, ".", n-1)
			}
			if err != nil || n < 1 || !seen[before] {
				return false
			}
			found = true
		}
		if seen[name] || i == limit {
			return found && i == limit
		}
		seen[name] = true
	}
	return found
}

// isHeader reports whether row, the first line, has the names of the columns. It has if there is a
// word in it, and has not if there are only numbers, unless these are such as pandas writes for
// columns without names: then the user must decide.
func (t *Table) isHeader(row []byte) (bool, error) {
	// A row that is not 0, 1, 2, …, but 2, 0, 1 or 0.0, 1.0, 2.0, is as likely as any other one if
	// it is short.
	const short = 10
	place, word := t.dialect.firstWord(row)
	repeats := place < 0 && t.dialect.repeatsNumbers(row)
	numbered, sorted := t.dialect.isNumbered(row, t.count)
	t.unnamed = numbered && sorted || repeats
	doubtful := repeats || numbered && (sorted && bytes.IndexByte(row, '.') < 0 || t.count > short)
	text := shown(bytes.TrimSuffix(row, []byte{t.dialect.comma, '\n'}))
	switch chosen := t.options.Header; {
	case chosen != nil && !*chosen && word != nil:
		return false, fault.New(fault.Malformed,
			"field %d of the first line is %s, expected a number because of --header no",
			place+1, t.dialect.shown(word)).
			WithHint("write text as numbers; if the line has the names of the columns, leave out --header no")
	case chosen != nil:
		return *chosen, nil
	case place >= 0:
		return true, nil
	case t.unnamed && row[0] == t.dialect.comma: // a row has no empty field
		t.note("the first line, %s, is read as a header: an empty name and then numbers, "+
			"as pandas writes for columns without names", text)
		return true, nil
	case doubtful && (t.count > 1 || row[0] == '0'): // pandas counts from 0
		return false, fault.New(fault.Malformed,
			"the first line is %s, which may be column names or a row of values", text).
			WithHint("say which it is: --header yes, or --header no")
	}
	t.note("no header, as the first line is all numbers")
	return false, nil
}

// isMissing reports whether text marks a missing number.
func isMissing(text []byte) bool {
	switch strings.ToLower(string(text)) {
	case "na", "n/a", "#n/a", "null", "none", "?":
		return true
	}
	return false
}
