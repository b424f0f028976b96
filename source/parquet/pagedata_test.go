package parquet

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/test/must"
)

// compressed returns data compressed by each codec.
func compressed(t *testing.T, data []byte) map[format.CompressionCodec][]byte {
	t.Helper()
	var member bytes.Buffer
	w := gzip.NewWriter(&member)
	_, err := w.Write(data)
	must.Do(t, errors.Join(err, w.Close()))
	z := must.Get(zstd.NewWriter(nil, zstd.WithEncoderCRC(true)))(t)
	defer z.Close()
	block := make([]byte, lz4.CompressBlockBound(len(data)))
	n, err := lz4.CompressBlock(data, block, nil)
	if err != nil || n == 0 {
		t.Fatal(n, err)
	}
	return map[format.CompressionCodec][]byte{
		format.Uncompressed: data, format.Gzip: member.Bytes(), format.Zstd: z.EncodeAll(data, nil), format.Snappy: snappy.Encode(nil, data),
		format.Lz4Raw: block[:n],
	}
}

// TestCutPages decompresses pages of every codec. It refuses them cut at any byte, and those whose
// size differs from their header.
func TestCutPages(t *testing.T) {
	t.Parallel()
	data := []byte(strings.Repeat("0123456789", 30))
	for codec, page := range compressed(t, data) {
		t.Run(codec.String(), func(t *testing.T) {
			t.Parallel()
			if found, err := decompress(codec, page, len(data)); err != nil || !bytes.Equal(found, data) {
				t.Errorf("found %q and %v", found, err)
			}
			for n := range page {
				if found, err := decompress(codec, page[:n], len(data)); !errors.Is(err, fault.Malformed) {
					t.Errorf("cut at byte %d of %d: found %q and %v, expected %v", n, len(page), found, err, fault.Malformed)
				}
			}
			for _, size := range []int{len(data) - 1, len(data) + 1} {
				if _, err := decompress(codec, page, size); !errors.Is(err, fault.Malformed) {
					t.Errorf("%d bytes instead of %d: found %v, expected %v", size, len(data), err, fault.Malformed)
				}
			}
			if found, err := decompress(codec, append(bytes.Clone(page), 1), len(data)); !errors.Is(err, fault.Malformed) {
				t.Errorf("a byte after the end: found %q and %v, expected %v", found, err, fault.Malformed)
			}
			if codec == format.Uncompressed {
				return
			}
			if found, err := decompress(codec, nil, 0); err != nil || len(found) > 0 {
				t.Errorf("a page of no bytes: found %q and %v", found, err)
			}
		})
	}
}

// TestLevelsOfVersion2 separates the levels of a page of version 2, whose header has their sizes.
func TestLevelsOfVersion2(t *testing.T) {
	t.Parallel()
	l := kindLeaf(format.Int32, 4)
	l.maxRepetition, l.maxDefinition = 1, 1
	for name, c := range map[string]struct {
		repetition, definition, plain int32
		codec                         format.CompressionCodec
		values                        string
		fails                         bool
	}{
		"all parts":            {2, 3, 9, format.Uncompressed, "vvvv", false},
		"no values":            {2, 3, 5, format.Uncompressed, "", false},
		"values that vanished": {2, 3, 5, format.Snappy, "", false},
		"negative":             {-1, 3, 9, format.Uncompressed, "vvvv", true},
		"negative definition":  {2, -3, 9, format.Uncompressed, "vvvv", true},
		"longer than the page": {10, 0, 99, format.Uncompressed, "vvvv", true},
		"longer together":      {2, 8, 99, format.Uncompressed, "vvvv", true},
		"longer than it says":  {2, 3, 4, format.Uncompressed, "vvvv", true},
		"damaged values":       {2, 3, 9, format.Gzip, "vvvv", true},
	} {
		h := &format.PageHeader{Type: format.DataPageV2, UncompressedPageSize: c.plain}
		h.DataPageHeaderV2 = thrift.New(format.DataPageHeaderV2{RepetitionLevelsByteLength: c.repetition,
			DefinitionLevelsByteLength: c.definition})
		body := "rrddd" + c.values
		h.CompressedPageSize, l.file.r = int32(len(body)), strings.NewReader(body)
		p := &page{stream: stream{leaf: l, codec: c.codec}, header: h}
		levels, values, err := p.split()
		if c.fails != errors.Is(err, fault.Malformed) {
			t.Errorf("%s: found %v, expected damage: %t", name, err, c.fails)
		}
		parts := fmt.Sprintf("%s %s %s", levels[0].src, levels[1].src, values)
		if !c.fails && parts != "rr ddd "+c.values {
			t.Errorf("%s: found the levels and values %q", name, parts)
		}
	}
	h := &format.PageHeader{UncompressedPageSize: 5, CompressedPageSize: 5, DataPageHeader: thrift.New(format.DataPageHeader{
		RepetitionLevelEncoding: format.BitPacked, DefinitionLevelEncoding: format.RLE})} // deprecated since 2013
	l.file.r = strings.NewReader("rrddd")
	p := &page{stream: stream{leaf: l}, header: h}
	if _, _, err := p.split(); !errors.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), "BIT_PACKED") {
		t.Errorf("found %v, expected %v", err, fault.Unsupported)
	}
}
