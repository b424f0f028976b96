package csv

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A Table is a CSV file. It is a source.Table and a source.Seeker.
type Table struct {
	path        string // as given by the user, for errors
	word        string // the path for commands in hints, or FILE.csv
	origin      string
	in          *lines
	stream      *compressed.Reader
	file        source.File // closed by Close; nil if the caller owns the reader
	comma       byte
	skipped     int      // number of lines before the data that begin with #
	names       []string // of the fields of a line; nil without a header
	count       int      // number of fields of a line
	limit       int      // maximum number of bytes of a line
	numbering   []int    // indices in the header of 0, 1, 2, … or 1, 2, 3, …; nil if it has other names
	fileColumns []fileColumn
	parts       []part // of all file columns, in the order of a line
	columns     []source.Column
	notes       []string
	omitted     []source.Omission

	before int64 // number of lines before the first row
	next   int64 // index of the next row
	empty  bool  // an empty line was read; only empty lines may follow
}

const (
	// textPerByte is how many bytes of text the first line may have for each byte of a record:
	// "255," for a byte.
	textPerByte = 4
	// fieldText is how many bytes the text of a field may have on average:
	// -1.000000014901161194e-01 in quotes, with spaces and the separator.
	fieldText = 32
	// maxLine is the longest first line unless larger records were asked for. A line is held in
	// memory as a whole, in a buffer that doubles.
	maxLine = 8 << 20
	// lineText is how many bytes a line may have in addition, for class names.
	lineText = 1 << 10
	// tailSize is how much of the end of a file is examined for values that the first rows do not
	// have, as in columns that count rows.
	tailSize = 64 << 10
)

// byteOrderMark is written by Excel and Windows before UTF-8.
const byteOrderMark = "\xef\xbb\xbf"

// Open opens the file at path. The package comment describes what is assumed about it. Errors name
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
	if info.Size() > sampleSize {
		tail = make([]byte, tailSize)
		if _, err := f.ReadAt(tail, info.Size()-tailSize); err != nil {
			return nil, fault.In(path, err)
		}
	}
	return newTable(f, path, tail, o)
}

// newTable reads CSV from r, compressed or not, and decides what the columns are. Errors call it
// path. The caller closes r after the table. tail is the end of an
// uncompressed file, if it is known.
func newTable(r io.Reader, path string, tail []byte, o source.ReadOptions) (*Table, error) {
	stream, err := compressed.NewReader(r)
	if err != nil {
		return nil, fault.In(path, err)
	}
	t := &Table{path: path, word: source.Word(path, "FILE.csv"), origin: source.Base(path), in: newLines(stream), stream: stream}
	if stream.Format() != compressed.Plain {
		tail, t.word = nil, "FILE.csv"
	}
	if err := t.begin(tail, o); err != nil {
		return nil, errors.Join(fault.In(path, err), stream.Close())
	}
	return t, nil
}

// begin reads the header, if there is one, and examines the first rows.
func (t *Table) begin(tail []byte, o source.ReadOptions) error {
	limit := int(min(o.MaxRecord(), math.MaxInt/8)*textPerByte) + lineText
	if o.MaxRecord() <= idx.DefaultMaxRecordSize {
		limit = min(limit, maxLine)
	}
	if err := t.skipPreamble(); err != nil {
		return err
	}
	line, err := t.firstLine(limit)
	switch {
	case err == io.EOF:
		return fault.New(fault.Truncated, "the file is empty, expected lines of numbers")
	case err == errLong:
		if err := t.checkFirstLine(t.in.buf[t.in.pos:t.in.end]); err != nil { // its lines may end with carriage returns
			return err
		}
		return fault.New(fault.Unsupported, "the first line has more than %d bytes", limit).
			WithHint("allow longer lines with --max-record-bytes %d", 2*o.MaxRecord())
	case err != nil:
		return err
	}
	if err := t.checkFirstLine(line); err != nil {
		return err
	}
	if t.skipped > 0 {
		t.note("comments (lines that begin with #) skipped before the data: %d", t.skipped)
	}
	length := len(line)
	line = trimEnd(line)
	if bytes.Count(line, []byte{'"'})%2 == 1 { // the rest of the file would belong to it
		return fault.New(fault.Malformed, "the first line has a quote that is not closed").WithHint("close it, or remove it")
	}
	t.in.pos -= length // the line may be a row
	if err := t.findFields(line, limit, o); err != nil {
		return err
	}
	if t.names != nil {
		t.in.pos += length
		t.before++
	}
	return t.examineRows(tail, o)
}

// findFields finds the fields by the first line. No line may have more than limit bytes.
func (t *Table) findFields(line []byte, limit int, o source.ReadOptions) error {
	t.comma = cmp.Or(t.comma, findSeparator(line))
	if t.comma != ',' && !strings.Contains(strings.ToLower(t.origin), ".tsv") {
		t.note("fields are separated by %q", t.comma)
	}
	t.count = eachField(line, t.comma, func(int, []byte) bool { return true })
	t.limit = int(min(int64(limit), lineText+fieldText*int64(t.count)))
	tooMany := fault.New(fault.Unsupported, "the first line has %d fields, too many for a record", t.count).
		WithHint("allow more with --max-record-bytes %d, or use Parquet or Arrow", t.count)
	if int64(t.count) > o.MaxRecord()+maxNamed {
		return tooMany
	}
	var shifted bool
	if t.numbering, shifted = findNumbering(line, t.comma, t.count); t.numbering != nil {
		line = bytes.Clone(line) // reading on overwrites it
	}
	header, err := t.hasHeader(line, shifted, o.Header)
	if err != nil {
		return err
	}
	if header && t.count > maxNamed {
		return tooMany
	}
	if !header {
		if o.Header == nil {
			t.note("no header, as the first line is all numbers")
		}
		return t.arrangeLike(o)
	}
	t.names = names(line, t.comma, t.count)
	t.count = len(t.names)
	if t.numbering == nil {
		err := t.group(o.Shape, o.Like)
		if bad := (*fault.Error)(nil); o.Header != nil && errors.As(err, &bad) && bad.Kind == fault.Malformed {
			bad.Hint = strings.TrimSuffix("if the first line is data, leave out --header yes; otherwise "+bad.Hint, "; otherwise ")
		}
		return err
	}
	if err := t.arrange(o.Shape); err != nil || slices.IsSorted(t.numbering) {
		return err
	}
	return t.reorder()
}

// examineRows decides the types by the first rows, and by the last ones in tail.
func (t *Table) examineRows(tail []byte, o source.ReadOptions) error {
	if first, err := t.in.next(t.limit); err == nil { // read only to have it in the sample
		t.in.pos -= len(first)
	} else if err != io.EOF {
		return t.readError(err)
	}
	text, whole := t.in.sample()
	rows := t.observeLines(text, 0, whole)
	if !whole && len(tail) > 0 {
		t.observeTail(tail)
	}
	if err := t.decide(o); err != nil {
		return err
	}
	types := make([]string, len(t.columns))
	for i, c := range t.columns {
		types[i] = c.Name + " " + c.DType.String()
	}
	const limit = 8
	if len(types) > limit {
		types = append(types[:limit], "…")
	}
	how := fmt.Sprintf("from the first %d rows", rows)
	switch {
	case rows == 0:
		how = "without rows"
	case o.DType != 0 && !slices.ContainsFunc(t.columns, func(c source.Column) bool { return c.DType != o.DType }):
		return nil
	case whole:
		how = "from its " + display.Count(rows, "row")
	}
	if o.DType == 0 {
		how += "; --dtype overrides this"
	}
	t.note("types: %s, %s", strings.Join(types, ", "), how)
	return nil
}

// checkFirstLine returns an error if line cannot be the first line of a CSV file.
func (t *Table) checkFirstLine(line []byte) error {
	encoding := utf16(line)
	switch {
	case encoding != "":
		return fault.New(fault.Unsupported, "the file is UTF-16, expected UTF-8").WithHint("iconv -f %s -t UTF-8 %s >utf8.csv", encoding, t.word)
	case bytes.HasPrefix(bytes.TrimSpace(line), []byte("<")):
		return fault.New(fault.Unsupported, "the file begins with %s, like a web page", shown(bytes.TrimSpace(line))).
			WithHint("the server sent an error page instead of the file: download it again")
	case bytes.IndexFunc(line, isBinary) >= 0: // such as the rest of a truncated compressed file
		return fault.New(fault.Unsupported, "the first line has a byte %#02x, expected text", line[bytes.IndexFunc(line, isBinary)])
	case hasReturn(trimEnd(line)):
		return fault.New(fault.Unsupported, "the lines end with carriage returns without line feeds, expected LF or CRLF").
			WithHint(`tr '\r' '\n' <%s >lines.csv`, t.word)
	}
	return nil
}

// utf16 returns the name of the encoding if text is UTF-16, and "" otherwise. Without a byte order
// mark, UTF-16 is recognised by a NUL as the first or the second byte of most characters.
func utf16(text []byte) string {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return "UTF-16"
	}
	text = text[:min(len(text), 1<<10)]
	var zeros [2]int
	for i, c := range text {
		if c == 0 {
			zeros[i%2]++
		}
	}
	switch most := len(text) / 4; {
	case zeros[0] == 0 && zeros[1] > most:
		return "UTF-16LE"
	case zeros[1] == 0 && zeros[0] > most:
		return "UTF-16BE"
	}
	return ""
}

// hasReturn reports whether line has a carriage return outside quotes.
func hasReturn(line []byte) bool {
	quoted := false
	for _, c := range line {
		if c == '"' {
			quoted = !quoted
		}
		if c == '\r' && !quoted {
			return true
		}
	}
	return false
}

// isBinary reports whether r is a control character that text does not contain.
func isBinary(r rune) bool { return r < ' ' && r != '\t' && r != '\r' && r != '\n' }

func (t *Table) note(format string, args ...any) {
	t.notes = append(t.notes, t.path+": "+fmt.Sprintf(format, args...))
}

// Columns returns the columns, in the order of the file.
func (t *Table) Columns() []source.Column { return t.columns }

// Rows returns −1: only reading to the end can tell.
func (t *Table) Rows() int64 { return -1 }

// Info returns what was assumed about the file, and its columns that are not part of the table.
func (t *Table) Info() source.Info { return source.Info{Notes: t.notes, Omitted: t.omitted} }

// Close stops decompression and closes the file if Open opened it.
func (t *Table) Close() error {
	err := t.stream.Close()
	if t.file != nil {
		err = errors.Join(err, t.file.Close())
	}
	return err
}

// Read cuts the next lines. They are in b.Input, each followed by a separator and a line feed.
func (t *Table) Read(ctx context.Context, b *source.Raw) error {
	if err := ctx.Err(); err != nil {
		return err
	}
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
		if bytes.IndexByte(line, '\n') >= 0 { // in quotes, in text that is left out
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

// line returns the next row without its line end. It returns io.EOF after the last row.
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
			if t.empty = t.next > 0; !t.empty {
				t.before++
			}
			continue
		}
		if t.empty {
			return nil, fault.In(t.path, t.inRow(t.next, "", "remove the empty lines", "found an empty line before this row"))
		}
		t.next++
		return line, nil
	}
}

func (t *Table) readError(err error) error {
	if err == errLong {
		hint := "perhaps a quote in it is not closed"
		if t.count == 1 {
			hint = hintSeparate
		}
		return t.inRow(t.next, "", hint, "the line has more than %d bytes, expected %s", t.limit, display.Count(t.count, "number"))
	}
	return err
}

// Skip skips n rows. It returns io.EOF if there are fewer.
func (t *Table) Skip(n int64) error {
	for range n {
		if _, err := t.line(); err != nil {
			return err
		}
	}
	return nil
}
