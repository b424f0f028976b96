package csv

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A Table is a CSV file. It is a source.Table and a source.Seeker.
type Table struct {
	path    string // as given by the user, for errors
	word    string // the path for commands in hints, or FILE.csv
	origin  string
	options source.ReadOptions
	in      lines
	dialect dialect
	stream  *compressed.Reader
	file    source.File // closed by Close; nil if the caller owns the reader

	names        []string // of the fields of a line; nil without a header
	unnamed      bool     // the header has only numbers, which pandas writes for columns without names
	count        int      // number of fields of a line
	limit        int      // maximum number of bytes of a line
	fileColumns  []fileColumn
	parts        []part // of all file columns, in the order of a line
	guessedLabel bool   // the first field is taken for the label, without a name
	columns      []source.Column
	notes        []string
	warnings     []string
	omitted      []source.Omission

	before int64  // number of lines before the first row
	cut    int64  // number of rows that were read from the file
	next   int64  // index of the next row of Read
	empty  bool   // an empty line was read; only empty lines may follow
	sample []byte // rows that were read to examine them, and not yet returned by Read
	err    error  // how reading the sample ended; nil if more rows follow
}

const (
	// textPerByte is how many bytes of text the first line may have for each byte of a record:
	// "255," for a byte.
	textPerByte = 4
	// fieldText is how many bytes the text of a number may have on average:
	// -1.000000014901161194e-01 in quotes, with spaces and the separator.
	fieldText = 32
	// maxLine is the longest first line unless larger records were asked for. A line is held in
	// memory as a whole.
	maxLine = 8 << 20
	// lineText is how many bytes a line may have in addition, for class names.
	lineText = 1 << 10
	// sampleSize is how much text is examined before the types are decided, and tailSize how much
	// of the end of a file: columns that count rows have larger values there.
	sampleSize = 1 << 20
	tailSize   = 64 << 10
	// bufferSize is the size of the buffer of the input; longer lines are copied once more.
	bufferSize = 64 << 10
)

// Open opens the file at path. The package comment describes what is assumed about it. Errors name
// the file.
func Open(path string, o source.ReadOptions) (source.Table, error) {
	f, info, err := source.OpenFile(o.Files, path, "a CSV file")
	if err != nil {
		return nil, err
	}
	var tail []byte
	if info.Size() > sampleSize {
		tail = make([]byte, tailSize)
		if _, err := f.ReadAt(tail, info.Size()-tailSize); err != nil {
			return nil, errors.Join(fault.In(path, err), f.Close())
		}
	}
	t, err := newTable(f, path, tail, o)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	t.file = f
	return t, nil
}

// newTable reads CSV from r, compressed or not, and decides what the columns are. Errors call it
// path. The caller closes r after the table. tail is the end of an uncompressed file, if it is
// known.
func newTable(r io.Reader, path string, tail []byte, o source.ReadOptions) (*Table, error) {
	stream, err := compressed.NewReader(r)
	if err != nil {
		return nil, fault.In(path, err)
	}
	t := &Table{path: path, word: source.Word(path, "FILE.csv"), origin: source.Base(path), options: o, stream: stream,
		in: lines{in: bufio.NewReaderSize(stream, bufferSize)}}
	if stream.Format() != compressed.Plain {
		tail, t.word = nil, "FILE.csv"
	}
	if err := t.begin(tail); err != nil {
		return nil, errors.Join(fault.In(path, err), stream.Close())
	}
	return t, nil
}

// begin reads the header, if there is one, and examines the first rows, and the last ones in tail.
func (t *Table) begin(tail []byte) error {
	limit := int(min(t.options.MaxRecord(), math.MaxInt/8)*textPerByte) + lineText
	if t.options.MaxRecord() <= idx.DefaultMaxRecordSize {
		limit = min(limit, maxLine)
	}
	if err := t.readHeader(limit); err != nil {
		return err
	}
	for t.err == nil && len(t.sample) < sampleSize {
		t.sample, t.err = t.row(t.sample, limit)
	}
	if err := t.arrange(); err != nil {
		return err
	}
	numbers := 0
	for _, f := range t.fileColumns {
		numbers += f.count
	}
	t.limit = int(min(int64(limit), lineText+fieldText*int64(numbers)))
	t.observe(t.sample, 0)
	if t.guessedLabel {
		t.doubtLabel()
	}
	if t.err == nil && len(tail) > 0 {
		t.observeTail(tail)
	}
	if err := t.decide(); err != nil {
		return err
	}
	t.noteTypes()
	return nil
}

// noteTypes notes the types of the columns, which the examined rows decided.
func (t *Table) noteTypes() {
	if t.options.DType != 0 {
		return
	}
	const limit = 8
	var types []string
	for _, c := range t.columns[:min(limit, len(t.columns))] {
		types = append(types, c.Name+" "+c.DType.String())
	}
	if len(t.columns) > limit {
		types = append(types, "…")
	}
	t.note("types: %s; --dtype overrides this", strings.Join(types, ", "))
}

func (t *Table) note(format string, args ...any) {
	t.notes = append(t.notes, t.path+": "+fmt.Sprintf(format, args...))
}

// Columns returns the columns, in the order of the file.
func (t *Table) Columns() []source.Column { return t.columns }

// Rows returns −1: only reading to the end can tell.
func (t *Table) Rows() int64 { return -1 }

// Info returns what was assumed about the file, and its columns that are not part of the table.
func (t *Table) Info() source.Info {
	named := func(f fileColumn) bool { return f.texts != nil && f.texts.Names != nil }
	return source.Info{Notes: t.notes, Warnings: t.warnings, Omitted: t.omitted,
		Unnamed: t.names == nil, Classes: slices.ContainsFunc(t.fileColumns, named)}
}

// Close stops decompression and closes the file if Open opened it.
func (t *Table) Close() error {
	err := t.stream.Close()
	if t.file != nil {
		err = errors.Join(err, t.file.Close())
	}
	return err
}

// Read cuts the next rows. They are in b.Input, as split returns them.
func (t *Table) Read(ctx context.Context, b *source.Raw) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b.First, b.Rows, b.Input = t.next, 0, b.Input[:0]
	for b.Rows < b.Cap {
		var err error
		if b.Input, err = t.nextRow(b.Input); err == io.EOF && b.Rows > 0 {
			break
		} else if err != nil {
			return err
		}
		b.Rows++
	}
	return nil
}

// nextRow appends the next row to dst. It returns io.EOF after the last row.
func (t *Table) nextRow(dst []byte) ([]byte, error) {
	if len(t.sample) == 0 {
		if t.err != nil {
			return dst, t.err
		}
		t.next++
		return t.row(dst, t.limit)
	}
	n := bytes.IndexByte(t.sample, '\n') + 1
	if n > t.limit {
		return dst, t.rowError(errLong, t.next, t.limit)
	}
	dst = append(dst, t.sample[:n]...)
	if t.sample = t.sample[n:]; len(t.sample) == 0 {
		t.sample = nil // frees the memory
	}
	t.next++
	return dst, nil
}

// Skip skips n rows. It returns io.EOF if there are fewer.
func (t *Table) Skip(n int64) (err error) {
	var row []byte
	for ; n > 0 && err == nil; n-- {
		row, err = t.nextRow(row[:0])
	}
	return err
}

// inRow returns the error for a row and, unless column is empty, a column. It also names the line,
// which is what editors show; no line feeds in quotes are expected before it.
func (t *Table) inRow(row int64, column, hint, format string, args ...any) error {
	return fault.New(fault.Malformed, format+" (line %d)", append(args, t.before+row+1)...).
		InRow(row).InColumn(column).WithHint("%s", hint)
}

// shown quotes up to 40 bytes of text for a message.
func shown(text []byte) string {
	if len(text) > 40 {
		return fmt.Sprintf("%q…", text[:40])
	}
	return fmt.Sprintf("%q", text)
}
