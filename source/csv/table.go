package csv

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"

	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

type table struct {
	path    string // as given by the user, for errors
	options source.ReadOptions
	file    source.File
	stream  *compressed.Reader

	in    *bufio.Reader
	comma byte              // the separator
	plain *strings.Replacer // restores separators and line feeds that are part of a field, see unquote

	names       []string // of the fields of a line; nil if there are none but numbers
	count       int      // number of fields of a line
	index       int      // 1 if the first field is a row number, and the others have no names; else 0
	limit       int      // maximum number of bytes of a line
	fileColumns []fileColumn
	left        []*fileColumn // those that are not read, once this is known
	class       *fileColumn   // of these, names that are compared with those of labels; nil: none
	labels      int           // 1 + index in columns of these labels; 0: none
	maxText     int           // maximum number of bytes of a line's fields that are read
	placed      int           // number of fields of fileColumns
	guessed     bool          // without names or a place, the label is guessed
	columns     []source.Column
	info        source.Info

	before int64  // number of lines before the first row
	cut    int64  // number of rows that were read from the file; −1 while the first line is read
	next   int64  // index of the next row of Read
	sample []byte // rows that were read to examine them, and not yet returned by Read
	err    error  // how reading the sample ended; nil if more rows follow
}

const (
	sampleSize = 1 << 20 // bytes of text that are examined before the types are decided
	maxLine    = 8 << 20 // bytes of a line, unless larger records were asked for
	fieldText  = 32      // bytes of a number that is read, as in "-1.000000014901161194e-01" with spaces
	lineText   = 1 << 10 // bytes of class names in a line
)

// Open opens the file at path, compressed or not, and finds its columns. Errors name the file.
func Open(path string, o source.ReadOptions) (source.Table, error) {
	return source.OpenFile(o.Files, path, "a CSV file", func(f source.File, _ fs.FileInfo) (source.Table, error) {
		stream := compressed.NewReader(f)
		t := &table{path: path, options: o, file: f, stream: stream,
			in: bufio.NewReaderSize(stream, 64<<10), before: 1, cut: -1, limit: maxLine, maxText: lineText}
		if size := o.MaxRecord(); size > idx.DefaultMaxRecordSize {
			t.limit = int(min(size, math.MaxInt/8))*len("255,") + lineText
		}
		if err := t.begin(); err != nil {
			return nil, errors.Join(err, stream.Close())
		}
		return t, nil
	})
}

// begin reads the header, if there is one, and examines the first rows.
func (t *table) begin() error {
	like, header := t.options.Like, t.options.Header // an output is opened like no columns, to find its header
	headless := header == nil && len(like) == 0 || header != nil && !*header
	if _, err := t.in.Peek(1); err == io.EOF && like != nil && headless {
		t.columns, t.err = like, err // no rows
		return nil
	} else if err := t.readFirstLine(); err != nil {
		return err
	}
	for t.err == nil && len(t.sample) < sampleSize {
		t.sample, t.err = t.row(t.sample)
	}
	for _, step := range []func() error{t.arrange, t.observe, t.decide} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// Rows returns −1, unless the file has none.
func (t *table) Rows() int64 {
	if t.err == io.EOF && t.cut <= 0 {
		return 0
	}
	return -1
}

func (t *table) Columns() []source.Column { return t.columns }
func (t *table) Info() source.Info        { return t.info }
func (t *table) note(text string)         { t.info.Notes = append(t.info.Notes, t.path+": "+text) }
func (t *table) Close() error             { return errors.Join(t.stream.Close(), t.file.Close()) }

// Read cuts the next rows. They are in b.Input, as choose returns them.
func (t *table) Read(ctx context.Context, b *source.Raw) error {
	b.First, b.Rows, b.Input = t.next, 0, b.Input[:0]
	err := ctx.Err()
	for err == nil && b.Rows < b.Cap {
		rows := len(b.Input)
		if n := bytes.IndexByte(t.sample, '\n') + 1; n > 0 {
			b.Input, t.sample = append(b.Input, t.sample[:n]...), t.sample[n:]
		} else if t.sample, err = nil, t.err; err == nil { // nil frees the memory
			b.Input, err = t.row(b.Input)
		}
		if err == nil {
			b.Input, err = t.choose(b.Input, rows)
			b.Rows, t.next = b.Rows+1, t.next+1
		}
	}
	if err == io.EOF && b.Rows > 0 {
		return nil
	}
	return err
}

// choose removes the fields that are not read from the row after the rows in dst, so that a batch
// has many rows. Class names that are compared become the last field. Row numbers must go on.
func (t *table) choose(dst []byte, rows int) ([]byte, error) {
	chosen, rest, class, at := dst[:rows], dst[rows:], []byte(nil), 0
	for _, f := range t.left {
		span, after := cut(rest, t.comma, f.first-at)
		chosen, at = append(chosen, span...), f.first+f.fields
		switch span, rest = cut(after, t.comma, f.fields); {
		case f == t.class:
			class = bytes.Clone(span) // before chosen overwrites it
		case f.index:
			n := bytes.TrimSpace(span[:len(span)-1])
			if v, _, _ := source.ParseNumber(n, 64); !(v >= f.stats.min+float64(t.next)) {
				return dst, t.inRow(t.next, hintIndex, "found %.40q, expected a row number, as column 1 has no name", n)
			}
		}
	}
	chosen = append(append(append(chosen, rest[:len(rest)-1]...), class...), '\n')
	if t.sample == nil && len(chosen)-rows > t.maxText {
		return dst, t.inRow(t.next, "close quotes, and write numbers without spaces around them",
			"the fields that are read have more than %d bytes", t.maxText)
	}
	return chosen, nil
}

// row appends the next row of the file to dst, as split does, or returns io.EOF after the last one.
func (t *table) row(dst []byte) ([]byte, error) {
	row, err := t.record(dst)
	for err == nil && len(row) == len(dst) {
		if row, err = t.record(dst); err == nil && len(row) > len(dst) {
			return dst, t.inRow(t.cut, "remove the empty lines", "found an empty line before this row")
		}
	}
	if err != nil {
		return dst, err
	}
	row, err = t.split(row, len(dst))
	if n := bytes.Count(row[len(dst):], []byte{t.comma}); err == nil && n != t.count {
		row, err = dst, t.inRow(t.cut, hintFields, "found %s, expected %d", text.Count(n, "field"), t.count)
	}
	t.cut++
	return row, err
}

// record appends the next line, or lines up to a closing quote, without its end, or returns io.EOF.
func (t *table) record(dst []byte) ([]byte, error) {
	rows := len(dst)
	for quotes := 0; ; {
		line, err := t.in.ReadSlice('\n')
		quotes += bytes.Count(line, []byte{'"'})
		dst = append(dst, line...)
		switch size := len(dst) - rows; {
		case size > t.limit:
			hint := fmt.Sprintf("close its quotes, or allow more with --max-record-bytes %d", 2*t.options.MaxRecord())
			return dst, t.inRow(t.cut, hint, "the line has more than %d bytes", t.limit)
		case err == io.EOF && size == 0:
			return dst, io.EOF
		case err == io.EOF && quotes%2 != 0:
			return dst, t.inRow(t.cut, "close it, or remove it", "found a quote that is not closed")
		case err == io.EOF || err == nil && quotes%2 == 0:
			return bytes.TrimRight(bytes.TrimSuffix(dst, []byte{'\n'}), "\r"), nil
		case err != nil && err != bufio.ErrBufferFull:
			return dst, fault.In(t.path, err)
		}
	}
}

// split makes a row of the record after the rows in dst: its fields, without quotes, each followed
// by the separator, and a line feed. Spaces and tabs separate once; those at the ends, nothing.
func (t *table) split(dst []byte, rows int) ([]byte, error) {
	record := dst[rows:]
	if t.comma == ' ' {
		copy(record, bytes.ReplaceAll(record, []byte{'\t'}, []byte{' '}))
	}
	if t.comma == ' ' || bytes.IndexByte(record, '"') >= 0 {
		fields, ok := unquote(bytes.TrimRight(record, " "), t.comma)
		if !ok {
			return dst[:rows], t.inRow(t.cut, "put texts in quotes, each quote in them twice, commas between fields",
				"found a quote inside of an unquoted text, or text after a quoted one")
		}
		dst = dst[:rows+len(fields)]
	}
	return append(dst, t.comma, '\n'), nil
}

// unquote removes quotes, and spaces before them, in the memory of record. It escapes separators
// and line feeds in them. It is not ok if other text is beside quotes, or one is in a text once.
func unquote(record []byte, comma byte) (fields []byte, ok bool) {
	n, start, inside, closed := 0, 0, false, false // start is that of a field
	for _, c := range record {
		switch {
		case c == '"' && (inside || closed): // the second of two is text
			if inside, closed = closed, inside; closed {
				continue
			}
		case c == '"' && len(bytes.TrimSpace(record[start:n])) == 0:
			n, inside = start, true
			continue
		case c == '"', closed && c != comma:
			return nil, false
		case inside && c == comma:
			c = '\x1f'
		case inside && c == '\n':
			n, c = len(bytes.TrimSuffix(record[:n], []byte{'\r'})), '\x1e'
		case c == ' ' && c == comma && n == start && !closed:
			continue
		case c == comma && !inside:
			start, closed = n+1, false
		}
		record[n] = c
		n++
	}
	return record[:n], !inside
}

// inRow returns the error for a row, −1 for the first line. Line feeds in quotes are not counted.
func (t *table) inRow(row int64, hint, format string, args ...any) *fault.Error {
	return fault.New(fault.Malformed, format+" (line %d)", append(args, t.before+row+1)...).
		In(t.path).InRow(row).WithHint("%s", hint)
}
