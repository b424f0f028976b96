package parquet

import (
	"cmp"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"slices"
	"sync"

	"github.com/parquet-go/parquet-go/compress/gzip"
	"github.com/parquet-go/parquet-go/compress/snappy"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/internal/layout"
	"github.com/idxport/idxport/source/idx"
)

// A page is a header and a body, ready to be written, in parts, which may be the batch's memory.
type page struct {
	parts        [][]byte
	size         int64           // bytes of all parts
	uncompressed int64           // bytes of the header and of the body before compression
	kind         format.PageType // a data page unless set
	encoding     format.Encoding // PLAIN unless set
	entries      int             // level entries, or entries of a dictionary
	nulls        int             // entries without a value
	memory       *[]byte         // of the body, if it was compressed
}

// A codec compresses pages.
type codec struct {
	id format.CompressionCodec
	// encode compresses src into dst, which it overwrites and which grows as needed. It is safe for
	// concurrent use; nil means that pages are not compressed.
	encode func(dst, src []byte) ([]byte, error)
}

// codecs returns the table of codecs, the default first. Level 0 is the fastest for zstd, as higher
// levels gain next to nothing on images. Some readers misread LZ4_RAW.
func codecs() []compressed.Choice[codec] {
	return []compressed.Choice[codec]{
		{Name: "zstd", MaxLevel: 22, Make: func(level int) codec {
			frames := &compressed.ZstdEncoder{Level: level} // without checksums: a page has a CRC of its own
			return codec{format.Zstd, func(dst, src []byte) ([]byte, error) { return frames.Append(dst[:0], src), nil }}
		}},
		{Name: "none", Make: func(int) codec { return codec{id: format.Uncompressed} }},
		{Name: "snappy", Make: func(int) codec { return codec{format.Snappy, new(snappy.Codec).Encode} }},
		{Name: "gzip", MaxLevel: 9, Make: func(level int) codec {
			return codec{format.Gzip, (&gzip.Codec{Level: cmp.Or(level, gzip.DefaultCompression)}).Encode}
		}},
	}
}

// Codecs lists the compressions of pages, the default first.
func Codecs() []string { return compressed.Names(codecs()) }

// A pageCompressor makes pages from bodies. It is safe for concurrent use.
type pageCompressor struct {
	codec      codec
	joined     sync.Pool // of *[]byte: bodies before compression
	compressed sync.Pool // of *[]byte: bodies after compression, until they are written
}

// page completes p, whose kind, encoding and counts the caller has set: it compresses body, unless
// the codec is none, and puts a header before it. A body of which one part is not empty is not
// copied before it is compressed.
func (x *pageCompressor) page(p page, body ...[]byte) (page, error) {
	body = slices.DeleteFunc(body, func(part []byte) bool { return len(part) == 0 })
	uncompressed := length(body)
	if x.codec.encode != nil {
		if err := x.compress(&p, body); err != nil {
			return page{}, err
		}
		body = [][]byte{*p.memory}
	}
	size, sum := length(body), uint32(0)
	if max(size, uncompressed, p.entries) > math.MaxInt32 { // only in batches of more rows than Schema.BatchRows
		return page{}, errors.New("parquet: a page would have 2 GiB or more")
	}
	for _, part := range body {
		sum = crc32.Update(sum, crc32.IEEETable, part)
	}
	h := format.PageHeader{
		Type: p.kind, UncompressedPageSize: int32(uncompressed), CompressedPageSize: int32(size), CRC: int32(sum),
	}
	if p.kind == format.DictionaryPage {
		h.DictionaryPageHeader = thrift.New(
			format.DictionaryPageHeader{NumValues: int32(p.entries), Encoding: p.encoding})
	} else {
		h.DataPageHeader = thrift.New(format.DataPageHeader{
			NumValues:               int32(p.entries),
			Encoding:                p.encoding,
			DefinitionLevelEncoding: format.RLE,
			RepetitionLevelEncoding: format.RLE,
			Statistics:              format.Statistics{NullCount: int64(p.nulls)},
		})
	}
	header, err := marshal(&h)
	if err != nil {
		return page{}, err
	}
	p.parts = append([][]byte{header}, body...)
	p.size = int64(len(header) + size)
	p.uncompressed = int64(len(header) + uncompressed)
	return p, nil
}

// compress compresses the parts of body as one piece, into p.memory.
func (x *pageCompressor) compress(p *page, body [][]byte) (err error) {
	var src []byte
	if len(body) == 1 {
		src = body[0]
	} else {
		joined := compressed.Take(&x.joined, length(body))
		defer x.joined.Put(joined)
		for _, part := range body {
			*joined = append(*joined, part...)
		}
		src = *joined
	}
	// The capacity is Snappy's bound, the largest of all codecs. Without it, codecs that append
	// would reallocate in many small steps.
	p.memory = compressed.Take(&x.compressed, len(src)+len(src)/6+32)
	*p.memory, err = x.codec.encode(*p.memory, src)
	return err
}

func length(parts [][]byte) (n int) {
	for _, part := range parts {
		n += len(part)
	}
	return n
}

// marshal encodes v in Thrift's compact protocol, like all metadata of a Parquet file.
func marshal(v any) ([]byte, error) { return thrift.Marshal(new(thrift.CompactProtocol), v) }

// widen returns elements, packed values of d, as PLAIN values of t, sign-extended if d is signed. t
// is INT64, or else the type of d in Parquet, which is wider than d if d has 8 or 16 bits. Elements
// that are PLAIN values of t already are returned unchanged.
func widen(elements []byte, d idx.DType, t format.Type) []byte {
	switch {
	case t == format.Int64:
		return layout.Widened(d, elements, 8)
	case t == format.Int32 && d != idx.Int32:
		return layout.Widened(d, elements, 4)
	}
	return elements
}

// appendPackedHeader appends the header of dictionary indices: their width in bits, and the header
// of one bit-packed run, which is twice the number of groups of 8 indices, plus 1.
func appendPackedHeader(dst []byte, width, groups int) []byte {
	dst = append(dst, byte(width))
	return binary.AppendUvarint(dst, uint64(groups)<<1|1)
}

// packSlack is the spare capacity for appendPacked to be fast, as it stores 16 bytes at a time.
const packSlack = 16

// appendPacked appends indices of width bits, 1 to 16, from the lowest bit of each byte up, and
// fills the last group of 8 with zeros.
//
// A group is width bytes: it is stored as two words, and the next group overwrites the excess. On
// 20,000 indices of 10 bits, that takes three quarters of the time of storing single bytes.
func appendPacked(dst []byte, indices []uint16, width int) []byte {
	at := len(dst)
	end := at + (len(indices)+7)/8*width
	dst = slices.Grow(dst, end-at+packSlack)[:end+packSlack]
	half := 4 * width // bits of 4 indices
	for len(indices) > 0 {
		group := indices
		if len(group) < 8 {
			group = append(make([]uint16, 0, 8), group...)[:8]
		}
		low := uint64(group[0]) | uint64(group[1])<<width | uint64(group[2])<<(2*width) | uint64(group[3])<<(3*width)
		high := uint64(group[4]) | uint64(group[5])<<width | uint64(group[6])<<(2*width) | uint64(group[7])<<(3*width)
		binary.LittleEndian.PutUint64(dst[at:], low|high<<half)
		binary.LittleEndian.PutUint64(dst[at+8:], high>>(64-half))
		at += width
		indices = indices[min(8, len(indices)):]
	}
	return dst[:end]
}
