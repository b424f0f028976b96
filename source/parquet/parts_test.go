package parquet

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"

	pqdelta "github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// TestRuns reads what parquet-go encodes, of all widths, in pieces.
func TestRuns(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for width := 1; width <= 31; width++ {
		values := make([]int32, 2000)
		for i := range values {
			if values[i] = random.Int32() & int32(uint32(1)<<width-1); i > 0 && random.IntN(50) > 0 && i/300%2 == 0 {
				values[i] = values[i-1]
			}
		}
		encoded, err := (&rle.Encoding{BitWidth: width}).EncodeInt32(nil, values)
		if err != nil {
			t.Fatal(err)
		}
		r := runs{src: encoded, width: width}
		for i, expected := range values {
			if found, err := r.one(); err != nil || int32(found) != expected {
				t.Fatalf("width %d, value %d: found %d and %v, expected %d", width, i, found, err, expected)
			}
		}
	}
}

// TestMatch finds the level that differs, wherever it is, with rows of bit-packed and of repeated levels.
func TestMatch(t *testing.T) {
	t.Parallel()
	for _, shape := range [][]int{{1}, {3}, {12}, {784}, {28, 28}, {3, 2, 2}, {1, 1, 5}} {
		row := repetitions(shape)
		l := &leaf{node: &node{maxRepetition: len(shape)}}
		l.expect(row, 0)
		width := 2
		levels := bytes.Repeat(row, 7)
		for at := -1; at < len(levels); at += 1 + len(levels)/500 {
			wrong := bytes.Clone(levels)
			if at >= 0 {
				wrong[at] ^= 1
			}
			encoded, err := (&rle.Encoding{BitWidth: width}).EncodeLevels(nil, wrong)
			if err != nil {
				t.Fatal(err)
			}
			r := runs{src: encoded, width: width}
			found, err := r.matchRows(l.pattern, len(row), 0, len(levels))
			expected := at
			if at < 0 {
				expected = len(levels)
			}
			if err != nil || found != expected {
				t.Fatalf("%v: found the difference at %d and %v, expected %d", shape, found, err, expected)
			}
		}
	}
}

// TestDelta reads what parquet-go encodes, with differences of all sizes.
func TestDelta(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for width := range 65 {
		for _, n := range []int{1, 2, 32, 33, 129, 1000} {
			values := make([]int64, n)
			for i := range values {
				if width > 0 {
					values[i] = int64(random.Uint64() >> (64 - width))
				}
			}
			encoded, err := new(pqdelta.BinaryPackedEncoding).EncodeInt64(nil, values)
			if err != nil {
				t.Fatal(err)
			}
			d, err := newDelta(append(encoded, "rest"...))
			if err != nil {
				t.Fatal(err)
			}
			if rest, err := d.end(); err != nil || string(rest) != "rest" {
				t.Fatalf("width %d, %d values: found the rest %q and %v", width, n, rest, err)
			}
			for i, expected := range values {
				if found, err := d.next(); err != nil || found != expected {
					t.Fatalf("width %d, value %d of %d: found %d and %v, expected %d", width, i, n, found, err, expected)
				}
			}
		}
	}
}

// TestHadoopLZ4 reads what the deprecated codec LZ4 stands for: frames of Hadoop, and bare blocks.
func TestHadoopLZ4(t *testing.T) {
	t.Parallel()
	data := bytes.Repeat([]byte("records of pixels "), 100)
	block := func(p []byte) []byte {
		dst := make([]byte, lz4.CompressBlockBound(len(p)))
		n, err := lz4.CompressBlock(p, dst, nil)
		if err != nil || n == 0 {
			t.Fatal(n, err)
		}
		return dst[:n]
	}
	var frames []byte
	for _, p := range [][]byte{data[:700], data[700:]} {
		b := block(p)
		frames = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(frames, uint32(len(p))), uint32(len(b)))
		frames = append(frames, b...)
	}
	for name, src := range map[string][]byte{"frames": frames, "block": block(data)} {
		if found, err := newCodecs().decode(format.Lz4, nil, src, len(data)); err != nil || !bytes.Equal(found, data) {
			t.Errorf("%s: found %d bytes and %v, expected %d", name, len(found), err, len(data))
		}
	}
}

// TestSplitRows reads lists that go on in the next page, as pages of version 1 may hold them: rows of 4 elements in pages of 1 to 9.
func TestSplitRows(t *testing.T) {
	t.Parallel()
	const rows = 23
	var pixels []byte
	for i := range 4 * rows {
		pixels = append(pixels, byte(i*37))
	}
	for size := 1; size <= 9; size++ {
		file := splitFile(t, pixels, size)
		for _, n := range []int{1, 3, 1000} {
			got, err := fromBytes(file, source.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			expect(t, got, n, []source.Column{{Name: "x", DType: idx.Uint8, Shape: []int{4}}}, [][]byte{pixels})
		}
		for skip := range int64(rows) {
			got, err := fromBytes(file, source.ReadOptions{})
			if err == nil {
				err = got.(source.Seeker).Skip(skip)
			}
			if err != nil {
				t.Fatal(err)
			}
			if found := readFrom(t, got, 5)[0]; !bytes.Equal(found, pixels[4*skip:]) {
				t.Errorf("pages of %d, from row %d on: found %v, expected %v", size, skip, found, pixels[4*skip:])
			}
		}
	}
	file := splitFile(t, pixels[:len(pixels)-1], 5)
	if _, err := read(t, file, 5); err == nil || !strings.Contains(err.Error(), "row 22") {
		t.Errorf("found the error %v, expected one about row 22, which is short", err)
	}
}

// splitFile is a Parquet file of lists of 4 pixels, in pages of size elements each.
func splitFile(t *testing.T, pixels []byte, size int) []byte {
	t.Helper()
	marshal := func(v any) []byte {
		p, err := thrift.Marshal(new(thrift.CompactProtocol), v)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	file := []byte(magic)
	for from := 0; from < len(pixels); from += size {
		to := min(from+size, len(pixels))
		var levels, body []byte
		for i := from; i < to; i++ {
			levels = append(levels, 2, min(1, byte(i%4))) // a run of one
		}
		body = append(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels...)
		body = append(binary.LittleEndian.AppendUint32(body, 2), byte(2*(to-from)), 1)
		for _, v := range pixels[from:to] {
			body = binary.LittleEndian.AppendUint32(body, uint32(v))
		}
		file = append(file, marshal(&format.PageHeader{Type: format.DataPage, UncompressedPageSize: int32(len(body)), CompressedPageSize: int32(len(body)),
			CRC:            int32(crc32.ChecksumIEEE(body)),
			DataPageHeader: thrift.New(format.DataPageHeader{NumValues: int32(to - from), DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE})})...)
		file = append(file, body...)
	}
	rows := int64(len(pixels)+3) / 4
	footer := marshal(&format.FileMetaData{Version: 1, NumRows: rows,
		Schema: []format.SchemaElement{{Name: "schema", NumChildren: thrift.New(int32(1))}, // a list of two levels, as old programs write it
			{Name: "x", RepetitionType: thrift.New(format.Repeated), Type: thrift.New(format.Int32), LogicalType: format.LogicalType{Value: &format.IntType{BitWidth: 8}}}},
		RowGroups: []format.RowGroup{{NumRows: rows, Columns: []format.ColumnChunk{{MetaData: format.ColumnMetaData{Type: format.Int32, PathInSchema: []string{"x"},
			NumValues: int64(len(pixels)), TotalCompressedSize: int64(len(file) - 4), DataPageOffset: 4}}}}}})
	file = append(file, footer...)
	return append(binary.LittleEndian.AppendUint32(file, uint32(len(footer))), magic...)
}
