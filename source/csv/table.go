package csv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/compressed"
	"github.com/idxport/idxport/source/idx"
)

// A Table is a CSV file. It is a source.Table, a source.Seeker and a source.Noter.
type Table struct {
	path    string // as the user wrote it, for errors
	origin  string
	in      *lines
	stream  *compressed.Reader
	file    source.File // to be closed; nil for a reader that the caller owns
	comma   byte
	names   []string // of the fields of a line; nil: there is no header
	count   int      // of fields of a line
	limit   int      // bytes of a line
	counted []int    // places of the fields in the order of their numbers; nil: they have none
	told    bool     // the caller said whether there is a header
	fields  []field
	parts   []part // of all fields, in the order of a line
	columns []source.Column
	notes   []string
	omitted []source.Omission

	next  int64 // index of the next row
	empty bool  // an empty line was read: only more of them may follow
}

const (
	// textPerByte is how many bytes the text of the first line may have for each byte that a record may have: "255," for a byte.
	textPerByte = 4
	// fieldText is how many bytes the text of a field may have, on average: -1.000000014901161194e-01 in quotes, with spaces, and the separator.
	fieldText = 32
	// maxLine is the most that the text of the first line may have unless larger records were asked for: it is held in memory as a whole, and
	// read into room that doubles.
	maxLine = 8 << 20
	// lineText is how many bytes a line may have beyond that: for class names.
	lineText = 1 << 10
	// tailSize is how much of the end of a file is looked at for values that the first rows do not have, as in columns that count rows.
	tailSize = 64 << 10
)

// byteOrderMark is what Excel and Windows put before UTF-8.
const byteOrderMark = "\xef\xbb\xbf"

// Open opens the file at path. See the package comment for what is assumed about it; errors name
// the file.
func Open(path string, o source.ReadOptions) (source.Table, error) {
	f, info, err := source.OpenFile(o.Files, path, "a CSV file")
	if err != nil {
		return nil, err
	}
	t, err := openFile(f, info, path, o)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	t.file = f
	return t, nil
}

func openFile(f source.File, info fs.FileInfo, path string, o source.ReadOptions) (*Table, error) {
	var tail []byte
	if info.Mode().IsRegular() && info.Size() > sampleSize {
		tail = make([]byte, tailSize)
		if _, err := f.ReadAt(tail, info.Size()-tailSize); err != nil {
			return nil, fault.In(path, err)
		}
	}
	return newTable(f, path, tail, o)
}

// newTable reads CSV from r, raw or compressed, and decides what the columns are; path stands for it
// in errors ("-" for standard input). The caller closes r, after the table. tail is the end of the
// file, if it is known and the file is not compressed.
func newTable(r io.Reader, path string, tail []byte, o source.ReadOptions) (*Table, error) {
	stream, err := compressed.NewReader(r)
	if err != nil {
		return nil, fault.In(path, err)
	}
	t := &Table{path: path, origin: filepath.Base(path), in: newLines(stream), stream: stream}
	if stream.Format() != compressed.Plain {
		tail = nil
	}
	if err := t.begin(tail, o); err != nil {
		return nil, errors.Join(fault.In(path, err), stream.Close())
	}
	return t, nil
}

// begin reads the header, if there is one, and looks at the first rows.
func (t *Table) begin(tail []byte, o source.ReadOptions) error {
	limit := int(min(o.MaxRecord(), math.MaxInt/8)*textPerByte) + lineText
	if o.MaxRecord() <= idx.DefaultMaxRecordSize {
		limit = min(limit, maxLine)
	}
	line, err := t.in.next(limit)
	switch {
	case err == io.EOF:
		return fault.New(fault.Truncated, "the file is empty, expected lines of numbers")
	case err == errLong:
		return fault.New(fault.Unsupported, "the first line has more than %d bytes", limit).
			WithHint("if its lines are that long, allow it with --max-record-bytes")
	case err != nil:
		return err
	}
	if err := foreign(line); err != nil {
		return err
	}
	whole, marked := len(line), 0
	if bytes.HasPrefix(line, []byte(byteOrderMark)) {
		marked = len(byteOrderMark)
	}
	line = trimEnd(line[marked:])
	if len(line) == 0 {
		return fault.New(fault.Malformed, "the first line is empty, expected names or numbers")
	}
	if bytes.Count(line, []byte{'"'})%2 == 1 { // it would be all there is, as its end is in quotes
		return fault.New(fault.Malformed, "the first line has a quote that is not closed").WithHint("close it, or remove it")
	}
	t.in.at -= whole - marked // it may be a row
	if err := t.first(line, limit, o); err != nil {
		return err
	}
	if t.names != nil {
		t.in.at += whole - marked
	}
	return t.sample(tail, o)
}

// first learns from the first line what the fields are. No line has more than limit bytes.
func (t *Table) first(line []byte, limit int, o source.ReadOptions) error {
	t.comma = findSeparator(line)
	if t.comma != ',' && !strings.Contains(strings.ToLower(t.origin), ".tsv") {
		t.note("fields are separated by %q", t.comma)
	}
	t.count = eachField(line, t.comma, func(int, []byte) bool { return true })
	t.limit, t.told = int(min(int64(limit), lineText+fieldText*int64(t.count))), o.Header != nil
	tooMany := fault.New(fault.Unsupported, "the first line has %d fields, which is too many", t.count).
		WithHint("allow more with --max-record-bytes, or use Parquet or Arrow")
	if int64(t.count) > o.MaxRecord()+maxNamed {
		return tooMany
	}
	var behind bool
	if t.counted, behind = countOrder(line, t.comma, t.count); t.counted != nil {
		line = bytes.Clone(line) // more is read before it is used again
	}
	header, err := t.hasHeader(line, behind, o.Header)
	if err != nil {
		return err
	}
	if header && t.count > maxNamed {
		return tooMany
	}
	if !header {
		return t.arrangeLike(o)
	}
	t.names = names(line, t.comma, t.count)
	t.count = len(t.names)
	if t.counted == nil {
		return t.group(o.Shape, o.Like)
	}
	if err := t.arrange(o.Shape); err != nil || slices.IsSorted(t.counted) {
		return err
	}
	return t.reorder()
}

// sample looks at the first rows, and at the last ones in tail.
func (t *Table) sample(tail []byte, o source.ReadOptions) error {
	if first, err := t.in.next(t.limit); err == nil { // it is to be among the sample
		t.in.at -= len(first)
	} else if err != io.EOF {
		return t.readError(err)
	}
	text, whole := t.in.sample()
	rows := t.look(text, 0, whole)
	if !whole && len(tail) > 0 {
		t.lookAtEnd(tail)
	}
	if err := t.decide(o); err != nil {
		return err
	}
	types := make([]string, len(t.columns))
	for i, c := range t.columns {
		types[i] = c.Name + " " + c.DType.String()
	}
	const most = 8
	if len(types) > most {
		types = append(types[:most], "…")
	}
	how := fmt.Sprintf("as the first %d rows have it", rows)
	switch {
	case rows == 0:
		how = "as there are no rows"
	case o.DType != 0 && !slices.ContainsFunc(t.columns, func(c source.Column) bool { return c.DType != o.DType }):
		return nil
	case whole:
		how = fmt.Sprintf("as its %d rows have it", rows)
	}
	t.note("types: %s, %s; --dtype says otherwise", strings.Join(types, ", "), how)
	return nil
}

// foreign is the error for a file that begins like no CSV file.
func foreign(line []byte) error {
	switch {
	case bytes.HasPrefix(line, []byte("\xff\xfe")) || bytes.HasPrefix(line, []byte("\xfe\xff")):
		return fault.New(fault.Unsupported, "the file is UTF-16, expected UTF-8").WithHint("save it as UTF-8")
	case bytes.HasPrefix(bytes.TrimSpace(line), []byte("<")):
		return fault.New(fault.Unsupported, "the file begins with %s, like a web page", shown(bytes.TrimSpace(line))).
			WithHint("the download went wrong: look at the page, and fetch the file again")
	case bytes.IndexFunc(line, isBinary) >= 0: // such as what is left of a compressed file that was cut
		return fault.New(fault.Unsupported, "the first line has bytes of %d, expected text", line[bytes.IndexFunc(line, isBinary)])
	case bytes.IndexByte(trimEnd(line), '\r') >= 0 && bytes.IndexByte(line, '"') < 0:
		return fault.New(fault.Unsupported, "the first line has carriage returns without line feeds").
			WithHint("convert its line ends first, as with tr '\\r' '\\n'")
	}
	return nil
}

// isBinary reports whether no text has r: a control character that neither separates fields nor ends lines.
func isBinary(r rune) bool { return r < ' ' && r != '\t' && r != '\r' && r != '\n' }

func (t *Table) note(format string, args ...any) {
	t.notes = append(t.notes, t.path+": "+fmt.Sprintf(format, args...))
}

// Columns describes the columns, in the order of the file.
func (t *Table) Columns() []source.Column { return t.columns }

// Rows is −1: only reading to the end can tell.
func (t *Table) Rows() int64 { return -1 }

// Notes tell what was assumed about the file.
func (t *Table) Notes() []string { return t.notes }

// Close stops decompression and closes the file that Open opened.
func (t *Table) Close() error {
	err := t.stream.Close()
	if t.file != nil {
		err = errors.Join(err, t.file.Close())
	}
	return err
}

// Read cuts the next lines. They lie in b.Input, each with a separator and a line feed behind it.
func (t *Table) Read(ctx context.Context, b *source.Raw) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.stream.SetBusy(b.Busy)
	b.First, b.Rows, b.Input = t.next, 0, b.Input[:0]
	for b.Rows < b.Cap {
		line, err := t.line()
		if err == io.EOF && b.Rows > 0 {
			break
		}
		if err != nil {
			return err
		}
		start := len(b.Input)
		b.Input = append(b.Input, line...)
		if bytes.IndexByte(line, '\n') >= 0 { // in quotes, in a text that is passed over
			for i := start; i < len(b.Input); i++ {
				if b.Input[i] == '\n' {
					b.Input[i] = ' '
				}
			}
		}
		b.Input = append(b.Input, t.comma, '\n')
		b.Rows++
	}
	return nil
}

// line is the next row's, without its end; io.EOF behind the last.
func (t *Table) line() ([]byte, error) {
	for {
		line, err := t.in.next(t.limit)
		if err == io.EOF {
			return nil, err
		}
		if err != nil {
			return nil, fault.In(t.path, t.readError(err))
		}
		line = trimEnd(line)
		if len(line) == 0 {
			t.empty = true
			continue
		}
		if t.empty {
			return nil, fault.In(t.path, inRow(t.next, "", "remove the empty lines", "found an empty line before it"))
		}
		t.next++
		return line, nil
	}
}

func (t *Table) readError(err error) error {
	if err == errLong {
		return inRow(t.next, "", "it may have a quote that is not closed", "the line has more than %d bytes, expected %d numbers", t.limit, t.count)
	}
	return err
}

// Skip passes over n rows; io.EOF if there are fewer.
func (t *Table) Skip(n int64) error {
	for range n {
		if _, err := t.line(); err != nil {
			return err
		}
	}
	return nil
}
