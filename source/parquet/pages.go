package parquet

import (
	"errors"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"sync"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
)

// Limits of pages, in bytes. A page may not be much larger than its values can be. The current
// pages and dictionaries of all columns together may have freeSize bytes after decompression, and
// maxRatio for each byte of the largest row group: a file of kilobytes must not need a gigabyte.
// The images of MNIST as 785 columns of int64 have a ratio of about 20.
const (
	maxPageHeader   = 16 << 20                  // parquet-go writes the minimum and the maximum value into it
	maxPage         = min(1<<30, math.MaxInt/8) // after decompression; an int can count its bits
	freeSize        = 32 << 20
	maxRatio        = 64
	smallPage       = 16 << 10 // for levels and the headers of encodings
	smallDictionary = 64 << 10 // of values that compress by more than maxRatio
	sliceSize       = 24       // of a byte array, without its bytes
)

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
	held        int64 // bytes of the current page and the dictionary after decompression
}

// hold counts n bytes instead of what s held before.
func (s *stream) hold(n int64) { s.file.held, s.held = s.file.held+n-s.held, n }

// Next returns the entries of the next page of leaf i. What is skipped as a whole is not read.
func (f *file) Next(i int, skip int64) (*columnar.Chunk, error) {
	p, err := f.streams[i].nextPage(skip)
	if err != nil {
		return nil, err
	}
	if int64(p.entries) > skip {
		f.unopened.Store(p, true)
	}
	return &columnar.Chunk{Entries: int64(p.entries), Use: p.use}, nil
}

// nextGroup goes to the chunk of the next row group. The last one must have had all its entries.
func (s *stream) nextGroup() (err error) {
	if s.row != s.last || s.entry > 0 { // there is no row yet before the first row group
		return s.lengthError(min(s.row, max(0, s.last-1)))
	}
	if s.group++; s.group >= len(s.file.footer.RowGroups) {
		return io.EOF
	}
	g := &s.file.footer.RowGroups[s.group]
	m := &g.Columns[s.index].MetaData
	s.offset, s.unread, s.codec, s.dictionary = chunkStart(m), m.NumValues, m.Codec, nil
	s.end, s.last = s.offset+m.TotalCompressedSize, s.last+g.NumRows
	s.hold(0)
	if s.Type.V == format.Boolean {
		s.dictionary, err = s.newDictionary([]byte{0, 1}, 2) // truth values are indices into it
	}
	return err
}

// nextPage returns the next data page with entries; a row group that is skipped counts as one.
func (s *stream) nextPage(skip int64) (p *page, err error) {
	start, row := s.offset, s.row
	defer func() { err = fault.Place(err, s.column(), row, start) }()
	for s.unread == 0 {
		if err := s.nextGroup(); err != nil {
			return nil, err
		} else if n := (s.last - s.row) * int64(s.perRow); n > 0 && n <= skip && n == s.unread {
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
		at, left := s.offset, s.end-s.offset
		if h.CompressedPageSize < 0 || int64(h.CompressedPageSize) > left {
			return nil, columnar.Damaged("found a page of %d bytes, expected at most %d, which are left of the column",
				h.CompressedPageSize, left)
		}
		s.offset += int64(h.CompressedPageSize)
		switch h.Type {
		case format.DictionaryPage:
			err = s.readDictionary(h, at)
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
			return nil, columnar.Damaged("the column ends where a page is expected")
		}
		data, h := make([]byte, limit), new(format.PageHeader)
		if _, err := columnar.ReadAt(s.file.r, data, s.offset); err != nil {
			return nil, err
		}
		size, err := unmarshal(data, h)
		if err == nil {
			s.offset += int64(size)
			return h, nil
		} else if !errors.Is(err, errShort) || limit < n || n >= maxPageHeader {
			return nil, columnar.Damaged("the header of a page is damaged: %v", err)
		}
	}
}

// dataPage returns the page with the header h and the body at an offset, nil if it is empty.
func (s *stream) dataPage(h *format.PageHeader, at, skip int64) (*page, error) {
	n, encoding := int64(h.DataPageHeader.V.NumValues), h.DataPageHeader.V.Encoding
	if h.Type == format.DataPageV2 {
		n, encoding = int64(h.DataPageHeaderV2.V.NumValues), h.DataPageHeaderV2.V.Encoding
	}
	if n < 0 || n > s.unread {
		return nil, columnar.Damaged("found a page of %d values, expected 0 to %d, as are left", n, s.unread)
	} else if n == 0 {
		return nil, nil
	}
	p := &page{stream: *s, header: h, encoding: encoding, body: at, entries: int(n)}
	p.content = sync.OnceValues(p.open)
	s.unread -= n
	s.row, s.entry = s.row+(int64(s.entry)+n)/int64(s.perRow), int((int64(s.entry)+n)%int64(s.perRow))
	if n <= skip {
		return p, nil
	}
	most, expanded := smallPage+n*int64(2*max(s.limit, s.width)+16), int64(0)
	if s.width == 0 {
		most += maxRatio * int64(h.CompressedPageSize) // a value too large for a record is another error
	}
	if !p.indexes() && (encoding != format.Plain || s.width == 0) {
		expanded = sliceSize * n // these values are decoded as a whole
	}
	if s.dictionary != nil {
		expanded += s.dictionary.held
	}
	return p, s.checkSize(h, most, expanded)
}

// checkSize refuses a page that decompresses to more than most bytes, or that needs too much memory
// together with the other pages. It expands to some more bytes when it is decoded.
func (s *stream) checkSize(h *format.PageHeader, most, expanded int64) error {
	plain := int64(h.UncompressedPageSize)
	if most = min(most, maxPage, freeSize+maxRatio*int64(h.CompressedPageSize)); plain < 0 || plain > most {
		return columnar.Damaged("found a page of %d bytes that decompresses to %d, expected at most %d",
			h.CompressedPageSize, plain, most)
	}
	if s.hold(plain + expanded); s.file.held > s.file.limit {
		return columnar.Damaged("the current pages of all columns decompress to %d bytes, expected at most %d",
			s.file.held, s.file.limit).WithHint("write the file with smaller pages")
	}
	return nil
}

// readBody reads the body of the page with the header h, and checks its checksum, if it has one.
func (f *file) readBody(h *format.PageHeader, offset int64) ([]byte, error) {
	body := make([]byte, h.CompressedPageSize)
	if _, err := columnar.ReadAt(f.r, body, offset); err != nil {
		return nil, err
	} else if sum := crc32.ChecksumIEEE(body); h.CRC != 0 && sum != uint32(h.CRC) {
		return nil, columnar.Damaged("the checksum of a page is wrong: found %08x, expected %08x", sum, uint32(h.CRC))
	}
	return body, nil
}

func (s *stream) readDictionary(h *format.PageHeader, offset int64) error {
	d := &h.DictionaryPageHeader.V
	if s.dictionary != nil || d.NumValues < 0 || d.Encoding != format.Plain && d.Encoding != plainDictionary {
		return columnar.Damaged("found a dictionary of %d values of the encoding %s, expected one of PLAIN values "+
			"for each column of a row group", d.NumValues, d.Encoding)
	}
	err := s.checkSize(h, smallDictionary+maxRatio*int64(h.CompressedPageSize), sliceSize*int64(d.NumValues))
	if err != nil {
		return err
	}
	data, err := s.file.readBody(h, offset)
	if err == nil {
		data, err = decompress(s.codec, data, int(h.UncompressedPageSize))
	}
	if err == nil {
		s.dictionary, err = s.newDictionary(data, int(d.NumValues))
	}
	return err
}

// A page is a data page.
type page struct {
	stream   // before the page
	header   *format.PageHeader
	encoding format.Encoding
	body     int64 // offset of what follows the header
	entries  int
	content  func() (*content, error) // read once, when rows of the page are needed
}

// A content has the values of a page: PLAIN values of a fixed size, byte arrays, or indices.
type content struct {
	values  []byte
	number  source.NumberKind // of values
	texts   [][]byte
	indices runs // if the values are in the dictionary

	mu   sync.Mutex
	last runs // indices from a place on: those of the next batch often follow
	from int  // index of the next value of last
}

// at returns the indices from entry i on. If they end before, its methods fail.
func (c *content) at(i int) runs {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.from == 0 || i < c.from {
		c.last, c.from = c.indices, 0
	}
	for c.from < i && c.last.next() == nil {
		n := min(i-c.from, c.last.left)
		c.last.advance(n)
		c.from += n
	}
	return c.last
}

func (p *page) rowOf(i int) int64 { return p.row + int64((p.entry+i)/p.perRow) }

// open reads and decompresses the page, and checks its levels. It keeps only what is needed of the
// values, since hundreds of columns may have a current page.
func (p *page) open() (c *content, err error) {
	defer fault.Recovered(&err)
	defer p.file.unopened.Delete(p)
	c = new(content)
	levels, values, err := p.split()
	if err == nil {
		err = p.check(levels)
	}
	if err == nil && !p.empty() {
		err = p.decodeValues(c, values)
	}
	return c, err
}

// split reads and decompresses the page, and separates its levels of both kinds and its values.
func (p *page) split() (levels [2]runs, values []byte, err error) {
	levels[0].width, levels[1].width = bits.Len(uint(p.maxRepetition)), bits.Len(uint(p.maxDefinition))
	body, err := p.file.readBody(p.header, p.body)
	if err != nil {
		return levels, nil, err
	}
	c, size := cursor{data: body}, int(p.header.UncompressedPageSize)
	if h := &p.header.DataPageHeaderV2.V; p.header.Type == format.DataPageV2 { // the levels are not compressed
		levels[0].src = c.take(uint64(h.RepetitionLevelsByteLength))
		levels[1].src = c.take(uint64(h.DefinitionLevelsByteLength))
		codec := p.codec
		if h.IsCompressed.Valid && !h.IsCompressed.V {
			codec = format.Uncompressed
		}
		c.data, err = decompress(codec, c.data, size-len(body)+len(c.data))
	} else if c.data, err = decompress(p.codec, body, size); err == nil {
		h := &p.header.DataPageHeader.V
		for i, encoding := range []format.Encoding{h.RepetitionLevelEncoding, h.DefinitionLevelEncoding} {
			switch {
			case levels[i].width == 0: // absent levels may have any encoding
			case encoding != format.RLE:
				err = columnar.Unsupported("write it with a newer program", "found levels of the encoding %s", encoding)
			default:
				levels[i].src = c.take(word(c.take(4)))
			}
		}
	}
	if err == nil && c.err != nil {
		err = columnar.Damaged("the levels of a page are longer than the page")
	}
	return levels, c.data, err
}
