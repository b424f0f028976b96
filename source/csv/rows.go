package csv

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
)

// Errors of reading a row, whose number is not known there.
var (
	errLong  = errors.New("the line is too long")
	errOpen  = fault.New(fault.Malformed, "found a quote that is not closed").WithHint("close it, or remove it")
	errQuote = fault.New(fault.Malformed, "found a quote inside of an unquoted text, or text after a quoted one").
			WithHint("put the text in quotes, and write each quote in it twice")
	errEmpty = fault.New(fault.Malformed, "found an empty line before this row").WithHint("remove the empty lines")
)

// separators are the candidates for the separator, in the order of preference.
const separators = ",\t;|"

// inner and innerEnd stand for a separator and a line feed that are part of a field, because they
// were in quotes.
const (
	inner    = '\x1f'
	innerEnd = '\x1e'
)

// lines reads a file line by line.
type lines struct {
	in   *bufio.Reader
	long []byte // a line that the buffer does not hold, or several lines with a quote across them
	back []byte // lines that are read again, or nil
}

// one returns the next line with its line feed, valid until the next call. It returns io.EOF after
// the last line, and errLong for a line of more than limit bytes.
func (l *lines) one(limit int) ([]byte, error) {
	if line := l.back; line != nil {
		l.back = nil
		return line, nil
	}
	line, err := l.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		l.long = append(l.long[:0], line...)
		for err == bufio.ErrBufferFull && len(l.long) <= limit {
			line, err = l.in.ReadSlice('\n')
			if len(l.long)+len(line) > cap(l.long) {
				l.long = slices.Grow(l.long, cap(l.long)+len(line)) // less garbage than append leaves
			}
			l.long = append(l.long, line...)
		}
		line = l.long
	}
	switch {
	case len(line) > limit:
		return line, errLong
	case err == io.EOF && len(line) > 0:
		err = nil
	}
	return line, err
}

// record returns the next lines up to the one that closes all quotes, like one.
func (l *lines) record(limit int) ([]byte, error) {
	line, err := l.one(limit)
	if err != nil || !opensQuote(line) {
		return line, err
	}
	record := bytes.Clone(line)
	for open := true; open; {
		line, err = l.one(limit)
		switch {
		case err == io.EOF:
			return nil, errOpen
		case err != nil:
			return nil, err
		}
		open = !opensQuote(line)
		if record = append(record, line...); len(record) > limit {
			return nil, errLong
		}
	}
	return record, nil
}

// opensQuote reports whether line has an odd number of quotes.
func opensQuote(line []byte) bool {
	return bytes.IndexByte(line, '"') >= 0 && bytes.Count(line, []byte{'"'})%2 == 1
}

// trimEnd returns line without its line feed and a carriage return before that.
func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
}

// A dialect finds the fields of lines.
type dialect struct {
	comma  byte
	quoted *csv.Reader   // reads a line with quotes from text; nil until there is one
	text   *bytes.Buffer // see quoted
}

// split appends a row to dst: the fields of record, without quotes, each followed by the separator,
// and a line feed.
func (d *dialect) split(dst, record []byte) ([]byte, error) {
	switch {
	case bytes.IndexByte(record, '"') >= 0:
		return d.splitQuoted(dst, record)
	case d.comma == ' ': // several spaces separate once, and those at the ends nothing
		for field := range bytes.FieldsSeq(record) {
			dst = append(append(dst, field...), d.comma)
		}
		return append(dst, '\n'), nil
	}
	dst = slices.Grow(dst, len(record)+len(",\n"))
	return append(append(dst, record...), d.comma, '\n'), nil
}

func (d *dialect) splitQuoted(dst, record []byte) ([]byte, error) {
	if d.quoted == nil {
		d.text = new(bytes.Buffer)
		d.quoted = csv.NewReader(d.text)
		d.quoted.Comma, d.quoted.ReuseRecord, d.quoted.FieldsPerRecord = rune(d.comma), true, -1
		d.quoted.TrimLeadingSpace = d.comma != ' ' && d.comma != '\t' // it would join empty fields
	}
	_, _ = d.text.Write(bytes.TrimRight(record, " ")) // a buffer never fails
	_ = d.text.WriteByte('\n')
	fields, err := d.quoted.Read() // all of the text, as it closes all quotes
	if err != nil {
		return dst, errQuote
	}
	for _, field := range fields {
		if d.comma == ' ' && field == "" {
			continue
		}
		from := len(dst)
		dst = append(dst, field...)
		for i, c := range dst[from:] {
			switch c {
			case d.comma:
				dst[from+i] = inner
			case '\n':
				dst[from+i] = innerEnd
			}
		}
		dst = append(dst, d.comma)
	}
	return append(dst, '\n'), nil
}

// count returns the number of fields of a row.
func (d *dialect) count(row []byte) int { return bytes.Count(row, []byte{d.comma}) }

// fields returns the number and the content of each field of a row: without spaces around it.
func (d *dialect) fields(row []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for i := 0; ; i++ {
			n := bytes.IndexByte(row, d.comma)
			if n < 0 || !yield(i, bytes.TrimSpace(row[:n])) {
				return
			}
			row = row[n+1:]
		}
	}
}

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
	if counts[best] > 0 || bytes.IndexByte(bytes.TrimSpace(line), ' ') < 0 {
		return best
	}
	for field := range bytes.FieldsSeq(line) {
		if _, ok := parseNumber(bytes.Trim(field, `"`)); !ok {
			return best
		}
	}
	return ' '
}

// row appends the next row of the file to dst. It returns io.EOF after the last row.
func (t *Table) row(dst []byte, limit int) ([]byte, error) {
	record, err := t.in.record(limit)
	for err == nil && len(trimEnd(record)) == 0 { // only empty lines may follow the rows
		if t.empty = t.cut > 0; !t.empty {
			t.before++
		}
		record, err = t.in.record(limit)
	}
	if err == nil && t.empty {
		err = errEmpty
	}
	if err == nil {
		dst, err = t.dialect.split(dst, trimEnd(record))
	}
	if err != nil {
		return dst, t.rowError(err, t.cut, limit)
	}
	t.cut++
	return dst, nil
}

// rowError adds the row to an error of reading it. No line may have more than limit bytes.
func (t *Table) rowError(err error, row int64, limit int) error {
	switch err {
	case io.EOF:
		return err
	case errOpen, errQuote, errEmpty:
		err = t.inRow(row, "", fault.HintOf(err), "%v", err)
	case errLong:
		hint := "perhaps a quote in it is not closed"
		if t.count == 1 {
			hint = hintSeparate
		}
		err = t.inRow(row, "", hint, "the line has more than %d bytes, expected %s",
			limit, display.Count(t.count, "number"))
	}
	return fault.In(t.path, err)
}

// shown quotes up to 40 bytes of a field for a message.
func (d *dialect) shown(text []byte) string { return shown([]byte(d.original(text))) }

// original returns the text of a field as it is in the file, without quotes.
func (d *dialect) original(text []byte) string {
	text = bytes.ReplaceAll(text, []byte{inner}, []byte{d.comma})
	return string(bytes.ReplaceAll(text, []byte{innerEnd}, []byte{'\n'}))
}
