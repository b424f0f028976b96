package csv

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/idxport/idxport/internal/compressed"
)

// errLong is the error of next for a line that exceeds the limit.
var errLong = errors.New("the line is too long")

// sampleSize is how much text is examined before the types are decided.
const sampleSize = 1 << 20

// lines reads text line by line. A line feed in quotes does not end a line.
type lines struct {
	r        *compressed.Reader // never returns 0, nil
	buf      []byte
	pos, end int   // unread part of buf
	keep     int   // number of bytes before pos that may be read again
	err      error // how r ended, including io.EOF
}

// firstBuffer is enough for a small file. The buffer grows to a sample, and to the longest line.
const firstBuffer = 16 << 10

func newLines(r *compressed.Reader) *lines { return &lines{r: r, buf: make([]byte, firstBuffer)} }

// fill reads at least one byte, or sets the error. If buf is full, it makes room first.
func (l *lines) fill() {
	if from := l.pos - l.keep; from > 0 && l.end == len(l.buf) {
		l.end = copy(l.buf, l.buf[from:l.end])
		l.pos = l.keep
	}
	if l.end == len(l.buf) {
		l.buf = append(l.buf, make([]byte, len(l.buf))...)
	}
	n, err := l.r.Read(l.buf[l.end:])
	l.end, l.err = l.end+n, err
}

// sample returns about a megabyte of the unread text without consuming it. whole reports whether it
// is all of the text.
func (l *lines) sample() (text []byte, whole bool) {
	for l.err == nil && l.end-l.pos < sampleSize {
		l.fill()
	}
	return l.buf[l.pos:l.end], l.err == io.EOF
}

// next returns the next line with its line end, valid until the next call. It returns io.EOF after
// the last line, and errLong for a line of more than limit bytes.
func (l *lines) next(limit int) ([]byte, error) {
	seen, quoted := 0, false
	for {
		n, q := lineEnd(l.buf[l.pos+seen:l.end], quoted)
		if n > 0 {
			seen += n
		} else {
			seen, quoted = l.end-l.pos, q
		}
		if seen > limit {
			return nil, errLong
		}
		if n == 0 && l.err == nil {
			l.fill()
			continue
		}
		if n == 0 && (l.err != io.EOF || seen == 0) {
			return nil, l.err
		}
		line := l.buf[l.pos : l.pos+seen]
		l.pos += seen
		return line, nil
	}
}

// peek returns the text up to the next line feed, even if that is in quotes, without consuming it.
// If there is no line feed, it returns the rest of the text, or a part of more than limit bytes.
func (l *lines) peek(limit int) []byte {
	for seen := 0; ; l.fill() {
		if n := bytes.IndexByte(l.buf[l.pos+seen:l.end], '\n'); n >= 0 {
			return l.buf[l.pos : l.pos+seen+n+1]
		}
		if seen = l.end - l.pos; seen > limit || l.err != nil {
			return l.buf[l.pos:l.end]
		}
	}
}

// eachLine calls f with each whole, nonempty line of text, without its line end, and returns the
// number of calls. If whole is true, the last line needs no line end.
func eachLine(text []byte, whole bool, f func(row int, line []byte)) (rows int) {
	for len(text) > 0 {
		n, _ := lineEnd(text, false)
		if n == 0 {
			if !whole {
				break
			}
			n = len(text)
		}
		line := trimEnd(text[:n])
		text = text[n:]
		if len(line) == 0 {
			continue
		}
		f(rows, line)
		rows++
	}
	return rows
}

// lineEnd returns the length of the first line of text with its line feed. If the line does not end
// in text, it returns 0, and whether quotes are open at the end. quoted means that quotes are open
// at the start.
func lineEnd(text []byte, quoted bool) (int, bool) {
	for from := 0; ; {
		n := bytes.IndexByte(text[from:], '\n')
		part := text[from:]
		if n >= 0 {
			part = part[:n]
		}
		if quoted || bytes.IndexByte(part, '"') >= 0 {
			quoted = quoted != (bytes.Count(part, []byte{'"'})%2 == 1)
		}
		if n < 0 {
			return 0, quoted
		}
		from += n + 1
		if !quoted {
			return from, false
		}
	}
}

// trimEnd returns line without its line feed and a carriage return before that.
func trimEnd(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'})
}

// separators are the candidates for the separator, in the order of preference.
const separators = ",\t;|"

// findSeparator returns the most frequent separator outside quotes. If none occurs, it returns a
// space if all fields that spaces separate are numbers, and otherwise a comma.
func findSeparator(line []byte) byte {
	var counts [256]int
	quoted := false
	for _, c := range line {
		if c == '"' {
			quoted = !quoted
		}
		if !quoted {
			counts[c]++
		}
	}
	best := byte(',')
	for _, c := range []byte(separators) {
		if counts[c] > counts[best] {
			best = c
		}
	}
	if counts[best] == 0 && counts[' '] > 0 && allNumbers(line, ' ') {
		return ' '
	}
	return best
}

// nextField cuts the first field, with its quotes, off rest. Every field ends with comma, including
// the last. ok is false if there is no field.
func nextField(rest []byte, comma byte) (field, after []byte, ok bool) {
	n := bytes.IndexByte(rest, comma)
	if n < 0 {
		return nil, rest, false
	}
	if bytes.IndexByte(rest[:n], '"') < 0 {
		return rest[:n], rest[n+1:], true
	}
	quoted := false
	for i, c := range rest {
		if c == '"' {
			quoted = !quoted
		} else if c == comma && !quoted {
			return rest[:i], rest[i+1:], true
		}
	}
	return nil, rest, false
}

// content returns the text of field: without spaces and quotes around it, and with each doubled
// quote as one.
func content(field []byte) []byte {
	field = bytes.TrimSpace(field)
	if len(field) < 2 || field[0] != '"' || field[len(field)-1] != '"' {
		return field
	}
	field = field[1 : len(field)-1]
	if bytes.IndexByte(field, '"') >= 0 {
		return bytes.ReplaceAll(field, []byte(`""`), []byte(`"`))
	}
	return field
}

// validQuotes reports whether the quotes of field, if any, follow RFC 4180: around it, and doubled
// inside. Other quotes are part of a text, and would join fields and rows.
func validQuotes(field []byte) bool {
	if bytes.IndexByte(field, '"') < 0 {
		return true
	}
	field = bytes.TrimSpace(field)
	if len(field) < 2 || field[0] != '"' || field[len(field)-1] != '"' {
		return false
	}
	inside := field[1 : len(field)-1]
	return 2*bytes.Count(inside, []byte(`""`)) == bytes.Count(inside, []byte{'"'})
}

// eachField calls f with the content of each field of line, which has no line end, until f returns
// false. It returns the number of calls that returned true.
func eachField(line []byte, comma byte, f func(i int, text []byte) bool) (n int) {
	if bytes.IndexByte(line, '"') < 0 { // without a copy: a header may have megabytes
		for more := true; more; n++ {
			var field []byte
			if field, line, more = bytes.Cut(line, []byte{comma}); !f(n, content(field)) {
				break
			}
		}
		return n
	}
	rest := append(bytes.Clone(line), comma)
	for {
		field, after, ok := nextField(rest, comma)
		if !ok || !f(n, content(field)) {
			return n
		}
		rest, n = after, n+1
	}
}

func allNumbers(line []byte, comma byte) bool {
	all := true
	eachField(line, comma, func(_ int, text []byte) bool {
		_, all = parseNumber(text)
		return all
	})
	return all
}

// isHeader reports whether line, the first one, has a name: a field that is neither empty nor a
// number. If the line has numbers, a field that marks a missing value is not a name.
func isHeader(line []byte, comma byte) bool {
	names, missing, numbers := false, false, false
	eachField(line, comma, func(_ int, text []byte) bool {
		_, ok := parseNumber(text)
		switch {
		case ok:
			numbers = true
		case isMissing(text):
			missing = true
		default:
			names = len(text) > 0
		}
		return !names
	})
	return names || missing && !numbers
}

// isMissing reports whether text marks a missing number.
func isMissing(text []byte) bool {
	switch strings.ToLower(string(text)) {
	case "na", "n/a", "#n/a", "null", "none", "?":
		return true
	}
	return false
}

// names returns the fields of the header, without the "# " that numpy.savetxt writes before it.
func names(line []byte, comma byte, count int) []string {
	list := make([]string, 0, count)
	eachField(bytes.TrimPrefix(line, []byte("# ")), comma, func(_ int, name []byte) bool {
		list = append(list, string(name))
		return true
	})
	return list
}
