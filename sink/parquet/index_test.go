package parquet

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
	"github.com/idxport/idxport/test/must"
)

// A foundPage is the page at an offset in a file.
type foundPage struct {
	header format.PageHeader
	body   []byte // as in the file
	size   int    // including the header
}

// pageAt parses the page at offset of file and checks its CRC.
func pageAt(tb testing.TB, file []byte, offset int64) foundPage {
	tb.Helper()
	var p foundPage
	r := bytes.NewReader(file[offset:])
	if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(r)).Decode(&p.header); err != nil {
		tb.Fatalf("no page at offset %d: %v", offset, err)
	}
	p.body = make([]byte, p.header.CompressedPageSize)
	if _, err := io.ReadFull(r, p.body); err != nil {
		tb.Fatal(err)
	}
	p.size = len(file) - int(offset) - r.Len()
	if sum := crc32.ChecksumIEEE(p.body); int32(sum) != p.header.CRC {
		tb.Errorf("page at offset %d: found the CRC %08x, expected %08x", offset, uint32(p.header.CRC), sum)
	}
	return p
}

// TestPages walks through the chunks of a file, page by page: they have no gaps, and agree with the
// offset indexes and with the encodings in the metadata, by which readers decide whether they
// support a file. The levels of lists are RLE.
func TestPages(t *testing.T) {
	t.Parallel()
	written := layouttest.Random(45_000, source.Column{Name: "image", DType: idx.Uint8, Shape: []int{3}},
		source.Column{Name: "label", DType: idx.Uint8},
		source.Column{Name: "other", DType: idx.Float32, Shape: []int{2}},
		source.Column{Name: "weight", DType: idx.Float64})
	pages := func(kind format.PageType, encoding format.Encoding, count int32) format.PageEncodingStats {
		return format.PageEncodingStats{PageType: kind, Encoding: encoding, Count: count}
	}
	dictionary := pages(format.DictionaryPage, format.Plain, 1)
	want := []struct {
		encodings []format.Encoding
		stats     []format.PageEncodingStats // scalars have pages of 20,000 rows
	}{
		{[]format.Encoding{format.Plain, format.RLEDictionary, format.RLE},
			[]format.PageEncodingStats{dictionary, pages(format.DataPage, format.RLEDictionary, 8)}},
		{[]format.Encoding{format.Plain, format.RLEDictionary},
			[]format.PageEncodingStats{dictionary, pages(format.DataPage, format.RLEDictionary, 3)}},
		{[]format.Encoding{format.Plain, format.RLE},
			[]format.PageEncodingStats{pages(format.DataPage, format.Plain, 8)}},
		{[]format.Encoding{format.Plain}, []format.PageEncodingStats{pages(format.DataPage, format.Plain, 3)}},
	}
	for _, codec := range []string{"none", "zstd"} {
		file := write(t, written, sink.Options{Compression: compressed.Codec{Name: codec}}, 6_000)
		f := open(t, file)
		for i, chunk := range f.Metadata().RowGroups[0].Columns {
			m := chunk.MetaData
			if !slices.Equal(m.Encoding, want[i].encodings) || !slices.Equal(m.EncodingStats, want[i].stats) {
				t.Errorf("%s, leaf %d: found %v and %v, expected %v", codec, i, m.Encoding, m.EncodingStats, want[i])
			}
			at := m.DataPageOffset
			if m.DictionaryPageOffset != 0 {
				at = m.DictionaryPageOffset
			}
			end, row, locations := at+m.TotalCompressedSize, int64(0), f.OffsetIndexes()[i].PageLocations
			for ; at < end; at += int64(pageAt(t, file, at).size) {
				p := pageAt(t, file, at)
				if p.header.Type == format.DictionaryPage {
					continue
				}
				location := format.PageLocation{Offset: at, CompressedPageSize: int32(p.size), FirstRowIndex: row}
				encoding := want[i].stats[len(want[i].stats)-1].Encoding
				if len(locations) == 0 || locations[0] != location || p.header.DataPageHeader.V.Encoding != encoding {
					t.Fatalf("%s, leaf %d: found %+v of the page %+v, expected %+v",
						codec, i, locations, p.header, location)
				}
				locations = locations[1:]
				row += int64(p.header.DataPageHeader.V.NumValues) / []int64{3, 1, 2, 1}[i]
			}
			if row != 45_000 || at != end || len(locations) > 0 {
				t.Errorf("%s, leaf %d: found %d rows to the offset %d, expected 45000 to %d", codec, i, row, at, end)
			}
		}
	}
}

// TestIndicesAreWholeGroups checks that the last group of 8 indices in a bit-packed run is filled,
// as the specification of the hybrid encoding requires.
func TestIndicesAreWholeGroups(t *testing.T) {
	t.Parallel()
	written := layouttest.Random(1001, source.Column{Name: "image", DType: idx.Uint8, Shape: []int{3}})
	file := write(t, written, sink.Options{Compression: compressed.Codec{Name: "none"}}, 1001)
	body := pageAt(t, file, open(t, file).Metadata().RowGroups[0].Columns[0].MetaData.DataPageOffset).body
	for range 2 { // repetition and definition levels, after their lengths
		body = body[4+binary.LittleEndian.Uint32(body):]
	}
	header, n := binary.Uvarint(body[1:])
	if found := len(body) - 1 - n; body[0] != 8 || header != 376<<1|1 || found != 376*8 { // 3,003 indices
		t.Errorf("found a run with the header %#x and %d bytes of %d bits, expected 376 groups of 8 bytes",
			header, found, body[0])
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := &schema.Schema{
		Columns: []source.Column{{Name: "image", DType: idx.Uint8, Shape: []int{28, 28}},
			{Name: "label", DType: idx.Uint8}},
		Meta: []schema.Pair{{Key: "sources", Value: "a, b"}},
	}
	k := must.Get(New(&out, s, sink.Options{Version: "1.2.3 (build abc)"}))(t)
	must.Do(t, k.Close())
	f := open(t, out.Bytes())
	if found := f.Metadata().CreatedBy; found != "idxport version 1.2.3 (build abc)" {
		t.Errorf("found a file created by %q", found)
	}
	if found, _ := f.Lookup("sources"); found != "a, b" {
		t.Errorf("found the metadata %q, expected the schema's", found)
	}
	if n := len(f.Metadata().ColumnOrders); n != 2 {
		t.Errorf("found %d column orders, expected one for each leaf", n)
	}
	encoded, _ := f.Lookup("ARROW:schema")
	message := must.Get(base64.StdEncoding.DecodeString(encoded))(t)
	r := must.Get(ipc.NewReader(bytes.NewReader(message)))(t)
	image := r.Schema().Field(0)
	list, ok := image.Type.(*arrow.FixedSizeListType)
	if !ok || list.Len() != 784 || list.ElemField().Name != "element" || !list.ElemField().Nullable || image.Nullable {
		t.Errorf("found the Arrow field %v, expected a FixedSizeList of 784 nullable elements", image)
	}
	if shape, _ := image.Metadata.GetValue("idx.shape"); shape != "[28,28]" {
		t.Errorf("found the shape %q in the field's metadata", shape)
	}
}

// TestFarOffsets writes a row group after 5 GiB.
func TestFarOffsets(t *testing.T) {
	t.Parallel()
	const far = 5 << 30
	written := layouttest.Random(50, source.Column{Name: "image", DType: idx.Uint8, Shape: []int{7, 9}},
		source.Column{Name: "label", DType: idx.Uint8})
	var out bytes.Buffer
	s := must.Get(New(&out, written.Schema(), sink.Options{}))(t)
	s.out.Offset = far
	step := must.Get(s.Encode(t.Context(), schema.Batch{Rows: 50, Columns: written.Data}))(t)
	must.Do(t, errors.Join(step(), s.Close()))
	file := out.Bytes()
	size := int(binary.LittleEndian.Uint32(file[len(file)-8:]))
	var footer format.FileMetaData
	must.Do(t, thrift.Unmarshal(new(thrift.CompactProtocol), file[len(file)-8-size:len(file)-8], &footer))
	for _, c := range footer.RowGroups[0].Columns {
		const near = far - int64(len(magic)) // New has written the magic number
		pageAt(t, file, c.MetaData.DataPageOffset-near)
		if offset := c.MetaData.DictionaryPageOffset; offset != 0 {
			pageAt(t, file, offset-near)
		}
		at := c.OffsetIndexOffset - near
		var index format.OffsetIndex
		must.Do(t, thrift.Unmarshal(new(thrift.CompactProtocol), file[at:at+int64(c.OffsetIndexLength)], &index))
		if found := index.PageLocations[0].Offset; found != c.MetaData.DataPageOffset {
			t.Errorf("found the first page at %d in the offset index, expected %d", found, c.MetaData.DataPageOffset)
		}
	}
}

// TestRowGroups compares with row counts worked out from the rule: whole batches that reach 122,880
// rows, 128 MiB, or a quarter of the rows but at least 20,000; and 32 MiB that wait.
func TestRowGroups(t *testing.T) {
	t.Parallel()
	tensors := func(sizes ...int) (columns []source.Column) {
		for _, n := range sizes {
			columns = append(columns, source.Column{Name: fmt.Sprint(n), DType: idx.Uint8, Shape: []int{n}})
		}
		return columns
	}
	scalar := []source.Column{{Name: "label", DType: idx.Uint8}}
	for _, test := range []struct {
		name    string
		columns []source.Column
		rows    int
		known   bool
		want    []int64
	}{
		{"one batch", scalar, 60_000, true, []int64{60_000}},
		{"quarter of 300,000 in batches of 65,536", scalar, 300_000, true, []int64{131_072, 131_072, 37_856}},
		{"122,880 rows in batches of 20,968", tensors(50), 300_000, false, []int64{125_808, 125_808, 48_384}},
		{"20,000 rows in batches of 10,480", tensors(100), 70_000, true, []int64{20_960, 20_960, 20_960, 7_120}},
		{"quarter of 100,000, batches of 10,480", tensors(100), 100_000, true, []int64{31_440, 31_440, 31_440, 5_680}},
		{"32 MiB waiting, 64·(8191+5) bytes a batch", tensors(8192, 8191), 4_700, false, []int64{4_096, 604}},
		{"32 MiB waiting of a tensor behind a scalar", slices.Concat(scalar, tensors(16383)), 2_100, false,
			[]int64{2_048, 52}},
		{"32 MiB waiting in columns", tensors(4096), 8_500, false, []int64{8_192, 308}},
		{"nothing waiting", tensors(16384), 2_500, false, []int64{2_500}},
	} {
		written := layouttest.Table{Columns: test.columns, Rows: test.rows}
		for _, c := range test.columns {
			written.Data = append(written.Data, make([]byte, test.rows*c.RecordSize()))
		}
		s := written.Schema()
		if !test.known {
			s.Rows = -1
		}
		o := sink.Options{Compression: compressed.Codec{Name: "none"}}
		if strings.Contains(test.name, "in columns") {
			o.Layout = "columns"
		}
		file := written.Write(t, with(o), s, s.BatchRows())
		var found []int64
		for _, group := range open(t, file).Metadata().RowGroups {
			found = append(found, group.NumRows)
		}
		if fmt.Sprint(found) != fmt.Sprint(test.want) {
			t.Errorf("%s: found row groups of %v rows, expected %v", test.name, found, test.want)
		}
	}
}
