package parquet

import (
	"errors"
	"hash/crc32"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/source"
)

// maxPageHeader limits the bytes of a page header, which may contain the minimum and maximum value.
const maxPageHeader = 1 << 20

// nextPage reads headers up to that of a data page, and dictionaries before it.
func (s *stream) nextPage() (err error) {
	at := s.offset
	defer func() { err = s.fail(err, at) }()
	for {
		at = s.offset
		h, err := s.header()
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
				s.page = page{h, at, s.dictionary}
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

// header reads the header of the page at offset, and skips it.
func (s *stream) header() (pageHeader, error) {
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

// readBody fills dst from offset, and skips these bytes.
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
	if h.checked && crc32.ChecksumIEEE(body) != h.crc {
		return damaged("the checksum of a dictionary is wrong: found %08x, expected %08x", crc32.ChecksumIEEE(body), h.crc)
	}
	if h.entries < 0 || h.encoding != format.Plain && h.encoding != plainDictionary {
		return damaged("found a dictionary of %d values of the encoding %s", h.entries, h.encoding)
	}
	data, err := s.file.codecs.decode(h.codec, new([]byte), body, h.uncompressed)
	if err != nil {
		return err
	}
	before := s.dictionary.memory()
	if s.dictionary, err = newDictionary(s.leaf, data, h.entries); err != nil {
		return err
	}
	return s.file.reserve(s.dictionary.memory() - before)
}
