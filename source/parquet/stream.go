package parquet

import (
	"context"
	"errors"
	"hash/crc32"
	"math"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/source"
)

// maxDeferredPage is the maximum size of a page that Read leaves to Decode, in bytes after
// decompression.
const maxDeferredPage = 16 << 20

// maxDeferred limits the bytes of pages, as they are in the file, that a column leaves to Decode
// for one batch. Columns whose values have a fixed size take far fewer.
const maxDeferred = 64 << 20

// maxReserved limits the bytes of decompressed pages and dictionaries that all columns keep at
// once. A file may have thousands of columns with small pages that expand to a thousand times their
// size.
const maxReserved = 2 << 30

// maxPageHeader limits the bytes of a page header. parquet-go writes the minimum and the maximum
// value into it.
const maxPageHeader = 16 << 20

// A stream reads a leaf from start to end.
type stream struct {
	*leaf
	group      int   // index of the current row group; −1 before the first
	offset     int64 // of the next page in the file
	end        int64 // of the chunk in the file
	unread     int64 // entries of the chunk in pages whose headers have not been read yet
	rowsLeft   int64 // of the row group
	row        int64 // index of the next row in the file
	entry      int   // index of the next entry in that row
	dictionary *dictionary

	page         page
	cursor       *cursor // of the current page, nil before it is opened and after its last entry
	body         []byte  // of the current page, as in the file
	decompressed []byte
}

func newStream(l *leaf) *stream { return &stream{leaf: l, group: -1} }

// read reads the next n rows into data.
func (s *stream) read(ctx context.Context, data *leafData, n int) error {
	data.reset()
	for done := 0; done < n; {
		if err := s.nextEntries(); err != nil {
			return s.earlierError(data, s.row-int64(done), err)
		}
		if s.cursor == nil {
			if err := ctx.Err(); err != nil {
				return err
			}
			kept, err := s.deferPage(data, done, n-done)
			if err != nil {
				return err
			}
			if kept > 0 {
				done += kept
				continue
			}
		}
		m, err := s.decode(data, done, n-done)
		if err != nil {
			return err
		}
		done += m
	}
	return nil
}

// earlierError returns the first error in a deferred page, or err if there is none. If a deferred
// page has lists of another length, the rows after it are miscounted, and err may be only a
// consequence. first is the index of the batch's first row in the file.
func (s *stream) earlierError(data *leafData, first int64, err error) error {
	if s.maxRepetition == 0 {
		return err
	}
	var scratch []byte
	for k := range data.pages {
		if found := s.decodePage(&data.pages[k], data, first, &scratch, nil); found != nil {
			return found
		}
	}
	return err
}

// nextEntries ensures that the row group has another row, and that the header of its page was read.
func (s *stream) nextEntries() error {
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
	switch {
	case s.cursor != nil || s.page.entries > 0:
		return nil
	case s.unread > 0:
		return s.nextPage()
	case s.entry > 0:
		return s.fail(s.lengthError(s.entry, s.row), s.offset)
	case s.maxRepetition > 0:
		return s.fail(unsupported("", adviceLists, "the column ends %d rows before its row group: earlier lists are shorter than %s", s.rowsLeft, s.shape), s.offset)
	}
	return s.fail(damaged("the column ends %d rows before its row group", s.rowsLeft), s.offset)
}

// fail adds the column, the next row and the offset to err, where they are missing.
func (s *stream) fail(err error, offset int64) error { return located(err, s.path, s.row, offset) }

// finish checks that the chunk has no entries after its last row.
func (s *stream) finish() error {
	if s.group < 0 || s.unread == 0 && s.page.entries == 0 && (s.cursor == nil || s.cursor.left == 0) {
		return nil
	}
	return s.fail(s.lengthError(0, max(0, s.row-1)), s.offset)
}

// nextGroup goes to the chunk of the next row group.
func (s *stream) nextGroup() error {
	s.group++
	if s.group >= len(s.file.groups) {
		return s.fail(damaged("the rows end too early"), -1)
	}
	g := &s.file.groups[s.group]
	c := &g.chunks[s.index]
	s.rowsLeft, s.offset, s.end, s.unread = g.rows, c.offset, c.offset+c.size, c.entries
	s.releaseDictionary()
	s.cursor, s.entry, s.page = nil, 0, page{}
	return nil
}

// releaseDictionary drops the dictionary.
func (s *stream) releaseDictionary() {
	s.file.reserved -= s.dictionary.footprint()
	s.dictionary = nil
}

// deferPage leaves the current page to Decode, and returns the number of its rows. It returns 0 if
// the page does not consist of at most n whole rows, or if it is too large. The first row has index
// batchRow in the batch.
func (s *stream) deferPage(data *leafData, batchRow, n int) (int, error) {
	h := &s.page
	rows := h.entries / s.entries
	if s.entry > 0 || h.entries%s.entries != 0 || rows > n || int64(rows) > s.rowsLeft || h.uncompressed > maxDeferredPage {
		return 0, nil
	}
	from := len(data.bodies)
	if from > maxDeferred {
		return 0, nil
	}
	to := from + h.size
	if to > cap(data.bodies) {
		data.bodies = append(make([]byte, 0, max(to, from+2*min(h.size, math.MaxInt32/2))), data.bodies...)
	}
	data.bodies = data.bodies[:to]
	if err := s.readBody(data.bodies[from:to]); err != nil {
		return 0, s.fail(err, h.offset)
	}
	data.pages = append(data.pages, deferredPage{*h, batchRow, from, to})
	s.page = page{}
	return s.advance(rows * s.entries), nil
}

// openPage reads the body of the current page and sets the cursor.
func (s *stream) openPage() (err error) {
	h := s.page
	s.body = source.Grow(s.body, h.size)
	if err := s.readBody(s.body); err != nil {
		return err
	}
	s.page.entries = 0
	if h.codec != format.Uncompressed { // otherwise s.body is used directly
		if err := s.file.reserve(int64(max(0, h.uncompressed-cap(s.decompressed)))); err != nil {
			return err
		}
	}
	s.cursor, err = s.open(&h, s.body, &s.decompressed)
	return err
}

// decode decodes entries of the current page, of at most n rows. The first row has index batchRow
// in the batch. decode returns the number of rows that it has completed.
func (s *stream) decode(data *leafData, batchRow, n int) (rows int, err error) {
	defer func() { err = s.fail(err, s.page.offset) }()
	defer recovered(&err)
	if s.cursor == nil {
		if err := s.openPage(); err != nil {
			return 0, err
		}
	}
	n = int(min(int64(n), s.rowsLeft))
	entries := min(n*s.entries-s.entry, s.cursor.left)
	err = s.decodeEntries(s.cursor, s.entry, entries, s.row, data.dst, batchRow, func(row int, value []byte) error {
		if len(value) > s.maxBytes { // every row may refer to the same large value of a dictionary
			return unsupported("", adviceShapes, "found a value of %d bytes, expected at most %d", len(value), s.maxBytes).InRow(s.row + int64(row-batchRow))
		}
		from := len(data.values)
		data.values = append(data.values, value...)
		data.spans = append(data.spans, span{row, from, len(data.values)})
		return nil
	})
	if err != nil {
		return 0, err
	}
	return s.advance(entries), nil
}

// advance counts n entries as read, and returns the number of rows that they complete.
func (s *stream) advance(n int) int {
	rows := (s.entry + n) / s.entries
	s.entry = (s.entry + n) % s.entries
	s.row += int64(rows)
	s.rowsLeft -= int64(rows)
	return rows
}

// skip skips n rows. It does not read pages whose rows are all skipped.
func (s *stream) skip(n int64) error {
	for n > 0 {
		if s.rowsLeft == 0 {
			if err := s.nextEntries(); err != nil { // the next row group that has rows
				return err
			}
		}
		if s.cursor == nil && s.entry == 0 && n >= s.rowsLeft {
			n -= s.rowsLeft
			s.row += s.rowsLeft
			s.rowsLeft, s.unread, s.page.entries = 0, 0, 0
			continue
		}
		if err := s.nextEntries(); err != nil {
			return err
		}
		if s.cursor == nil && int64(s.page.entries) <= n*int64(s.entries)-int64(s.entry) {
			s.offset += int64(s.page.size)
			n -= int64(s.advance(s.page.entries))
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

// discard decodes up to n rows and drops them.
func (s *stream) discard(n int) (int, error) {
	n = int(min(int64(n), s.rowsLeft))
	var data leafData
	if !s.isByteArray() {
		n = max(1, min(n, (1<<20)/max(1, s.entries*s.element.size)))
		data.dst = make([]byte, n*s.entries*s.element.size)
	}
	return s.decode(&data, 0, n)
}

// nextPage reads the headers up to that of the next data page with entries, and the dictionary
// before it.
func (s *stream) nextPage() (err error) {
	start := s.offset
	defer func() { err = s.fail(err, start) }()
	for {
		start = s.offset
		h, err := s.readHeader()
		if err != nil {
			return err
		}
		if h.size < 0 || int64(h.size) > s.end-s.offset {
			return damaged("found a page of %d bytes, expected at most the %d that are left of the column", h.size, s.end-s.offset)
		}
		h.codec = s.file.groups[s.group].chunks[s.index].codec
		switch h.kind {
		case format.DataPage, format.DataPageV2:
			if err := checkPageSize(h.size, h.uncompressed); err != nil {
				return err
			}
			if h.entries < 0 || int64(h.entries) > s.unread || h.version2 != (h.kind == format.DataPageV2) {
				return damaged("found a page of %d values, expected 0 to %d, which are left of the column", h.entries, s.unread)
			}
			if h.notCompressed {
				h.codec = format.Uncompressed
			}
			if h.entries > 0 {
				s.page = page{h, start, s.dictionary}
				s.unread -= int64(h.entries)
				return nil
			}
		case format.DictionaryPage:
			if err := s.readDictionary(h); err != nil {
				return err
			}
			continue
		}
		s.offset += int64(h.size)
	}
}

// readHeader reads the header at s.offset, and moves s.offset after it.
func (s *stream) readHeader() (pageHeader, error) {
	for size := int64(512); ; size *= 8 {
		limit := min(size, s.end-s.offset)
		if limit <= 0 {
			return pageHeader{}, damaged("the column ends where a page is expected")
		}
		buf := source.Grow(s.file.window, int(limit))
		s.file.window = buf
		if _, err := s.file.r.ReadAt(buf, s.offset); err != nil {
			return pageHeader{}, truncated(err, "the file ends within a page")
		}
		h, n, err := parsePageHeader(buf)
		switch {
		case err == nil:
			s.offset += int64(n)
			return h, nil
		case !errors.Is(err, errCompactEnd) || limit < size || size >= maxPageHeader:
			return h, damaged("the header of a page is damaged: %v", err)
		}
	}
}

// readBody fills dst with the bytes at s.offset, and moves s.offset after them.
func (s *stream) readBody(dst []byte) error {
	if _, err := s.file.r.ReadAt(dst, s.offset); err != nil {
		return truncated(err, "the file ends within a page")
	}
	s.offset += int64(len(dst))
	return nil
}

// readDictionary reads a dictionary page with the header h.
func (s *stream) readDictionary(h pageHeader) (err error) {
	defer recovered(&err)
	if err := checkPageSize(h.size, h.uncompressed); err != nil {
		return err
	}
	body := make([]byte, h.size)
	if err := s.readBody(body); err != nil {
		return err
	}
	if h.hasCRC && crc32.ChecksumIEEE(body) != h.crc {
		return damaged("the checksum of a dictionary is wrong: found %08x, expected %08x", crc32.ChecksumIEEE(body), h.crc)
	}
	if h.entries < 0 || h.encoding != format.Plain && h.encoding != plainDictionary {
		return damaged("found a dictionary of %d values of the encoding %s", h.entries, h.encoding)
	}
	data, err := s.file.codecs.decode(h.codec, new([]byte), body, h.uncompressed)
	if err != nil {
		return err
	}
	before := s.dictionary.footprint()
	if s.dictionary, err = newDictionary(s.leaf, data, h.entries); err != nil {
		return err
	}
	return s.file.reserve(s.dictionary.footprint() - before)
}
