package parquet

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"sync"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
)

// Limits of pages, in bytes. A page may not be much larger than its values can be. The current
// pages and dictionaries of all columns together may have freeSize bytes after decompression, or
// maxRatio for each compressed byte: a file of kilobytes must not need a gigabyte of memory. The
// images of MNIST as 785 columns of int64 have a ratio of about 20.
const (
	maxPageHeader = 16 << 20                  // parquet-go writes the minimum and the maximum value into it
	maxPage       = min(1<<30, math.MaxInt/8) // after decompression; an int can count its bits
	freeSize      = 32 << 20
	maxRatio      = 64
	smallPage     = 16 << 10 // for levels and the headers of encodings
)

// A size has the bytes of pages as they are in the file, and after decompression.
type size struct{ packed, plain int64 }

// A stream reads the pages of a leaf from start to end.
type stream struct {
	*leaf
	group       int   // index of the current row group; −1 before the first
	offset, end int64 // of the next page, and of the chunk
	unread      int64 // entries of the chunk after the pages so far
	entry       int   // index of the next entry in its row
	row, last   int64 // of the next entry, and after the row group
	codec       format.CompressionCodec
	dictionary  *dictionary
	held        size // of the current page and the dictionary
}

func newStream(l *leaf) *stream { return &stream{leaf: l, group: -1} }

// hold counts n instead of what s held before.
func (s *stream) hold(n size) {
	s.file.current.packed += n.packed - s.held.packed
	s.file.current.plain += n.plain - s.held.plain
	s.held = n
}

// Next returns the entries of the next page of leaf i. Row groups and pages of entries that are all
// skipped are not read.
func (f *file) Next(i int, skip int64) (*columnar.Chunk, error) {
	p, err := f.streams[i].nextPage(skip)
	if err != nil {
		return nil, err
	}
	return &columnar.Chunk{Entries: int64(p.entries), Use: p.use}, nil
}

// nextGroup goes to the chunk of the next row group, after checking that the entries of the last
// one were those of its rows.
func (s *stream) nextGroup() error {
	var err error
	switch {
	case s.row == s.last && s.entry == 0: // also before the first row group
	case s.row >= s.last:
		err = s.lengthError(0, max(0, s.last-1))
	case s.entry > 0:
		err = s.lengthError(s.entry, s.row)
	default: // a column without lists has at least as many entries as rows
		err = unsupported("", adviceLists,
			"the column ends %d rows before its row group: earlier lists are shorter than %s", s.last-s.row, s.shape)
	}
	if err != nil {
		return located(err, s.path(), s.row, s.offset)
	}
	if s.group++; s.group >= len(s.file.footer.RowGroups) {
		return io.EOF
	}
	g := &s.file.footer.RowGroups[s.group]
	m := &g.Columns[s.index].MetaData
	s.offset, s.unread, s.codec, s.dictionary = chunkStart(m), m.NumValues, m.Codec, nil
	s.end, s.last = s.offset+m.TotalCompressedSize, s.last+g.NumRows
	s.hold(size{})
	return nil
}

// nextPage returns the next data page with entries. If it has at most skip entries, its body is not
// read. The pages of a row group that are all skipped count as one.
func (s *stream) nextPage(skip int64) (p *page, err error) {
	start, row := s.offset, s.row
	defer func() { err = located(err, s.path(), row, start) }()
	for s.unread == 0 {
		if err := s.nextGroup(); err != nil {
			return nil, err
		}
		if n := (s.last - s.row) * int64(s.perRow); n > 0 && n <= skip && n == s.unread {
			s.row, s.unread = s.last, 0
			return &page{entries: int(n)}, nil
		}
	}
	for p == nil {
		start, row = s.offset, s.row
		h, err := s.header()
		if err != nil {
			return nil, err
		}
		if left := s.end - s.offset; h.CompressedPageSize < 0 || int64(h.CompressedPageSize) > left {
			return nil, damaged("found a page of %d bytes, expected at most the %d that are left of the column",
				h.CompressedPageSize, left)
		}
		at := s.offset
		s.offset += int64(h.CompressedPageSize)
		switch h.Type {
		case format.DictionaryPage:
			if s.dictionary != nil {
				return nil, damaged("found a second dictionary, expected one for each column of a row group")
			}
			s.dictionary, err = s.readDictionary(h, at)
		case format.DataPage, format.DataPageV2:
			p, err = s.dataPage(h, at, skip)
		}
		if err != nil {
			return nil, err
		}
	}
	p.offset = start
	return p, nil
}

// header reads the header at s.offset, and moves s.offset after it.
func (s *stream) header() (*format.PageHeader, error) {
	for n := int64(512); ; n *= 8 {
		limit := min(n, s.end-s.offset)
		if limit <= 0 {
			return nil, damaged("the column ends where a page is expected")
		}
		s.file.window = source.Grow(s.file.window, int(limit))
		if err := s.file.readAt(s.file.window, s.offset); err != nil {
			return nil, err
		}
		h := new(format.PageHeader)
		size, err := unmarshal(s.file.window, h)
		if err == nil {
			s.offset += int64(size)
			return h, nil
		}
		if !errors.Is(err, errShort) || limit < n || n >= maxPageHeader {
			return nil, damaged("the header of a page is damaged: %v", err)
		}
	}
}

// dataPage returns the page with the header h, or nil if it has no entries.
func (s *stream) dataPage(h *format.PageHeader, at, skip int64) (*page, error) {
	n, encoding := int64(h.DataPageHeader.V.NumValues), h.DataPageHeader.V.Encoding
	if h.Type == format.DataPageV2 {
		n, encoding = int64(h.DataPageHeaderV2.V.NumValues), h.DataPageHeaderV2.V.Encoding
	}
	if n < 0 || n > s.unread {
		return nil, damaged("found a page of %d values, expected 0 to %d, which are left of the column", n, s.unread)
	}
	if n == 0 {
		return nil, nil
	}
	p := &page{leaf: s.leaf, header: h, codec: s.codec, encoding: encoding, dictionary: s.dictionary,
		entries: int(n), entry: s.entry, row: s.row}
	p.content = sync.OnceValues(p.open)
	s.unread -= n
	s.row, s.entry = s.row+(int64(s.entry)+n)/int64(s.perRow), int((int64(s.entry)+n)%int64(s.perRow))
	if n <= skip {
		return p, nil
	}
	expanded := int64(0)
	if encoding != format.Plain && !p.indexes() {
		expanded = 8 * n // other values are decoded as a whole
	}
	err := s.checkSize(h, n*int64(2*max(s.limit, s.width)+16), expanded)
	if err == nil {
		p.body, err = s.body(h, at)
	}
	return p, err
}

// checkSize refuses a page whose header gives an impossible size after decompression, or one that
// needs too much memory together with the other pages. Its values have at most the given number of
// bytes, and expand to some more when they are decoded.
func (s *stream) checkSize(h *format.PageHeader, values, expanded int64) error {
	packed, plain := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
	most := smallPage + values
	if s.element == 0 {
		most += maxRatio * packed // a value may be too large for a record, which is another error
	}
	if plain < 0 || plain > maxPage || plain > most {
		return damaged("found a page of %d bytes that decompresses to %d, expected at most %d",
			packed, plain, min(maxPage, most))
	}
	held := size{packed, plain + expanded}
	if d := s.dictionary; d != nil {
		held.packed, held.plain = held.packed+d.held.packed, held.plain+d.held.plain
	}
	s.hold(held)
	if c := s.file.current; c.plain > freeSize+maxRatio*c.packed {
		return damaged("the current pages of all columns decompress from %d bytes to %d, expected at most %d",
			c.packed, c.plain, freeSize+maxRatio*c.packed).WithHint("write the file with smaller pages")
	}
	return nil
}

// body reads the body of the page with the header h, as it is in the file, and checks its checksum,
// which is 0 if there is none.
func (s *stream) body(h *format.PageHeader, offset int64) ([]byte, error) {
	body := make([]byte, h.CompressedPageSize)
	if err := s.file.readAt(body, offset); err != nil {
		return nil, err
	}
	if sum := crc32.ChecksumIEEE(body); h.CRC != 0 && sum != uint32(h.CRC) {
		return nil, damaged("the checksum of a page is wrong: found %08x, expected %08x", sum, uint32(h.CRC))
	}
	return body, nil
}

// readDictionary reads the dictionary page at offset.
func (s *stream) readDictionary(h *format.PageHeader, offset int64) (*dictionary, error) {
	d := &h.DictionaryPageHeader.V
	if d.NumValues < 0 || d.Encoding != format.Plain && d.Encoding != plainDictionary {
		return nil, damaged("found a dictionary of %d values of the encoding %s", d.NumValues, d.Encoding)
	}
	values := int64(d.NumValues) * int64(s.width+4)
	if s.element == 0 {
		values = maxPage // that a value is too large for a record is another error
	}
	if err := s.checkSize(h, values, 4*int64(d.NumValues)); err != nil { // the ends of byte arrays take 4 bytes
		return nil, err
	}
	body, err := s.body(h, offset)
	if err != nil {
		return nil, err
	}
	data, err := decompress(s.codec, body, int(h.UncompressedPageSize))
	if err != nil {
		return nil, err
	}
	found, err := s.newDictionary(data, int(d.NumValues))
	if err == nil {
		found.held = s.held
	}
	return found, err
}

// A page is a data page.
type page struct {
	*leaf
	header     *format.PageHeader
	codec      format.CompressionCodec
	encoding   format.Encoding
	dictionary *dictionary
	offset     int64  // in the file
	body       []byte // as in the file
	entries    int
	entry      int   // index of the first entry in its row
	row        int64 // of the first entry

	content func() (*content, error) // of the page, which may be used in pieces
}

// A content is a page after decompression.
type content struct {
	repetition, definition runs
	values                 []byte // encoded
	texts                  texts
	indices                position // if the values are in the dictionary
}

// rowOf returns the row of entry i.
func (p *page) rowOf(i int) int64 { return p.row + int64((p.entry+i)/p.perRow) }

// use is the method Use of the chunk of p.
func (p *page) use(dst []byte, from, n int, f func(columnar.Values) error) (err error) {
	defer func() { err = located(err, p.path(), p.rowOf(from), p.offset) }()
	c, err := p.content()
	if err == nil {
		err = p.decode(c, dst, from, n, f)
	}
	return err
}

// open decompresses the page, and checks its levels. Values that are not indices are decoded to
// PLAIN.
func (p *page) open() (*content, error) {
	c, err := p.split()
	if err == nil {
		err = p.check(c)
	}
	if err == nil && !p.empty() {
		err = p.decodePlain(c)
	}
	return c, err
}

// split decompresses the page, and separates its levels and its values.
func (p *page) split() (c *content, err error) {
	c = new(content)
	c.repetition.width, c.definition.width = bits.Len(uint(p.maxRepetition)), bits.Len(uint(p.maxDefinition))
	size := int(p.header.UncompressedPageSize)
	if h := &p.header.DataPageHeaderV2.V; p.header.Type == format.DataPageV2 { // the levels are not compressed
		r, d := int(h.RepetitionLevelsByteLength), int(h.DefinitionLevelsByteLength)
		if r < 0 || d < 0 || r > len(p.body) || d > len(p.body)-r || r+d > size {
			return c, damaged("found levels of %d and %d bytes in a page of %d", r, d, len(p.body))
		}
		c.repetition.src, c.definition.src, c.values = p.body[:r], p.body[r:r+d], p.body[r+d:]
		codec := p.codec
		if h.IsCompressed.Valid && !h.IsCompressed.V {
			codec = format.Uncompressed
		}
		if len(c.values) > 0 { // if there are no values, some writers store nothing, not even an empty frame
			c.values, err = decompress(codec, c.values, size-r-d)
		}
		return c, err
	}
	if c.values, err = decompress(p.codec, p.body, size); err != nil {
		return c, err
	}
	h := &p.header.DataPageHeader.V
	for _, l := range []struct {
		*runs
		encoding format.Encoding
	}{{&c.repetition, h.RepetitionLevelEncoding}, {&c.definition, h.DefinitionLevelEncoding}} {
		switch {
		case l.width == 0: // absent levels may have any encoding
			continue
		case l.encoding != format.RLE:
			return c, unsupported("", "write the file with a newer program",
				"found levels of the encoding %s, expected RLE", l.encoding)
		case len(c.values) < 4 || int64(binary.LittleEndian.Uint32(c.values)) > int64(len(c.values)-4):
			return c, damaged("the levels of a page are longer than the page")
		}
		end := 4 + int(binary.LittleEndian.Uint32(c.values))
		l.src, c.values = c.values[4:end], c.values[end:]
	}
	return c, nil
}
