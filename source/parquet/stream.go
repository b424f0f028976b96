package parquet

import (
	"context"
	"math"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/source"
)

// maxKept is the most bytes, as they are after decompression, of a page that is left to Decode.
const maxKept = 16 << 20

// maxLeft is the most bytes of pages, as they are in the file, that a column leaves to Decode for one batch. Those of records that are all of one size are far
// fewer.
const maxLeft = 64 << 20

// maxHeld is the most bytes of the pages and dictionaries, after decompression, that all columns hold at once: small pages may be made to expand to a thousand times
// their size, and a file may have thousands of columns.
const maxHeld = 2 << 30

// A stream reads a leaf from start to end.
type stream struct {
	*leaf
	group      int   // index of the current row group; −1 before the first
	offset     int64 // of the next page in the file, and where the chunk ends
	end        int64
	unread     int64 // entries of the chunk whose pages were not begun
	rowsLeft   int64 // of the row group
	row        int64 // index of the next row in the file
	at         int   // entries of it that were read
	dictionary *dictionary

	page   page
	cursor *cursor // of page, while entries are left of it
	body   []byte  // memory of the current page: as it is in the file, and decompressed
	memory []byte
}

func newStream(l *leaf) *stream { return &stream{leaf: l, group: -1} }

// read gets the next n rows into p.
func (s *stream) read(ctx context.Context, p *part, n int) error {
	p.reset()
	for done := 0; done < n; {
		if err := s.more(); err != nil {
			return s.earlier(p, s.row-int64(done), err)
		}
		if s.cursor == nil {
			if err := ctx.Err(); err != nil {
				return err
			}
			kept, err := s.keep(p, done, n-done)
			if err != nil {
				return err
			}
			if kept > 0 {
				done += kept
				continue
			}
		}
		m, err := s.decode(p, done, n-done)
		if err != nil {
			return err
		}
		done += m
	}
	return nil
}

// earlier is err, or where lists begin to be of other lengths, if that is in a page of p that is left to Decode: rows were counted wrong from there on.
// first is the batch's first row.
func (s *stream) earlier(p *part, first int64, err error) error {
	if s.maxRepetition == 0 {
		return err
	}
	var scratch []byte
	for k := range p.jobs {
		if found := s.job(&p.jobs[k], p, first, &scratch, nil); found != nil {
			return found
		}
	}
	return err
}

// more makes sure that a row is left of the row group, and a page begun: its header was read.
func (s *stream) more() error {
	for s.rowsLeft == 0 {
		if err := s.finish(); err != nil {
			return err
		}
		if err := s.nextGroup(); err != nil {
			return err
		}
	}
	if s.cursor != nil && s.cursor.left == 0 {
		s.cursor = nil
	}
	if s.cursor != nil || s.page.entries > 0 {
		return nil
	}
	if s.unread == 0 && s.at > 0 {
		return s.fail(s.otherLength(s.row), s.offset)
	}
	if s.unread == 0 {
		if s.maxRepetition > 0 {
			return s.fail(unsupported("", adviceLists, "the column ends %d rows before its row group: lists before are shorter than %s", s.rowsLeft, s.shape), s.offset)
		}
		return s.fail(damaged("the column ends %d rows before its row group", s.rowsLeft), s.offset)
	}
	return s.nextPage()
}

// fail is err with where it is: at the page at offset, and in the row that comes next if it says none.
func (s *stream) fail(err error, offset int64) error { return located(err, s.path, s.row, offset) }

// finish checks that nothing is left of the chunk whose rows were read.
func (s *stream) finish() error {
	if s.group < 0 || s.unread == 0 && s.page.entries == 0 && (s.cursor == nil || s.cursor.left == 0) {
		return nil
	}
	return s.fail(s.otherLength(max(0, s.row-1)), s.offset)
}

// nextGroup goes to the next row group's chunk.
func (s *stream) nextGroup() error {
	s.group++
	if s.group >= len(s.file.groups) {
		return s.fail(damaged("the rows end too early"), -1)
	}
	g := &s.file.groups[s.group]
	c := &g.chunks[s.index]
	s.rowsLeft, s.offset, s.end, s.unread = g.rows, c.offset, c.offset+c.size, c.entries
	s.forget()
	s.cursor, s.at, s.page = nil, 0, page{}
	return nil
}

// forget gives up the dictionary.
func (s *stream) forget() {
	s.file.held -= s.dictionary.memory()
	s.dictionary = nil
}

// keep leaves the page to Decode if it lies within the next n rows, and tells how many rows it has. Its first is row done of the batch.
func (s *stream) keep(p *part, done, n int) (int, error) {
	h := &s.page
	rows := h.entries / s.entries
	if s.at > 0 || h.entries%s.entries != 0 || rows > n || int64(rows) > s.rowsLeft || h.uncompressed > maxKept {
		return 0, nil
	}
	from := len(p.kept)
	if from > maxLeft {
		return 0, nil
	}
	to := from + h.size
	if to > cap(p.kept) {
		p.kept = append(make([]byte, 0, max(to, from+2*min(h.size, math.MaxInt32/2))), p.kept...)
	}
	p.kept = p.kept[:to]
	if err := s.readBody(p.kept[from:to]); err != nil {
		return 0, s.fail(err, h.offset)
	}
	p.jobs = append(p.jobs, job{*h, done, from, to})
	s.page = page{}
	return s.pass(rows * s.entries), nil
}

// begin opens the current page.
func (s *stream) begin() (err error) {
	h := s.page
	s.body = source.Grow(s.body, h.size)
	if err := s.readBody(s.body); err != nil {
		return err
	}
	s.page.entries = 0
	if s.codec(&h) != format.Uncompressed { // of s.body else
		if err := s.file.hold(int64(max(0, h.uncompressed-cap(s.memory)))); err != nil {
			return err
		}
	}
	s.cursor, err = s.open(&h, s.body, &s.memory)
	return err
}

// decode decodes entries of the current page, of up to n rows, the first being row done of the batch. It tells how many rows are complete now.
func (s *stream) decode(p *part, done, n int) (rows int, err error) {
	defer func() { err = s.fail(err, s.page.offset) }()
	defer recovered(&err)
	if s.cursor == nil {
		if err := s.begin(); err != nil {
			return 0, err
		}
	}
	n = int(min(int64(n), s.rowsLeft))
	entries := min(n*s.entries-s.at, s.cursor.left)
	err = s.take(s.cursor, s.at, entries, s.row, p.dst, done, func(row int, value []byte) error {
		if len(value) > s.largest { // before memory is taken: a dictionary's value may stand in every row
			return unsupported("", adviceShapes, "found a value of %d bytes, expected at most %d", len(value), s.largest).InRow(s.row + int64(row-done))
		}
		from := len(p.files)
		p.files = append(p.files, value...)
		p.spans = append(p.spans, span{row, from, len(p.files)})
		return nil
	})
	if err != nil {
		return 0, err
	}
	return s.pass(entries), nil
}

// pass counts n entries as read, and tells how many rows were completed.
func (s *stream) pass(n int) int {
	rows := (s.at + n) / s.entries
	s.at = (s.at + n) % s.entries
	s.row += int64(rows)
	s.rowsLeft -= int64(rows)
	return rows
}

// skip passes over n rows. Pages that lie within them are not read.
func (s *stream) skip(n int64) error {
	for n > 0 {
		if s.rowsLeft == 0 {
			if err := s.more(); err != nil { // the next row group that has rows
				return err
			}
		}
		if s.cursor == nil && s.at == 0 && n >= s.rowsLeft {
			n -= s.rowsLeft
			s.row += s.rowsLeft
			s.rowsLeft, s.unread, s.page.entries = 0, 0, 0
			continue
		}
		if err := s.more(); err != nil {
			return err
		}
		if s.cursor == nil && int64(s.page.entries) <= n*int64(s.entries)-int64(s.at) {
			s.offset += int64(s.page.size)
			n -= int64(s.pass(s.page.entries))
			s.page.entries = 0
			continue
		}
		m, err := s.discard(int(min(n, blockValues)))
		if err != nil {
			return err
		}
		n -= int64(m)
	}
	return nil
}

// discard decodes up to n rows and forgets them.
func (s *stream) discard(n int) (int, error) {
	n = int(min(int64(n), s.rowsLeft))
	var p part
	if !s.raw() {
		n = max(1, min(n, (1<<20)/max(1, s.entries*s.element.size)))
		p.dst = make([]byte, n*s.entries*s.element.size)
	}
	return s.decode(&p, 0, n)
}
