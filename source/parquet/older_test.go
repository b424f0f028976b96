package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

// edited returns a file of testdata with an edited footer.
func edited(t *testing.T, name string, change func(f *format.FileMetaData)) []byte {
	t.Helper()
	file := must.Get(os.ReadFile("testdata/" + name + ".parquet"))(t)
	start := footerStart(file)
	var footer format.FileMetaData
	must.Do(t, thrift.Unmarshal(new(thrift.CompactProtocol), file[start:len(file)-tailSize], &footer))
	change(&footer)
	return withFooter(t, file[:start], &footer)
}

// TestConvertedTypesAlone reads files without LogicalType, which version 2.4 of the format added.
// ConvertedType has the same information.
func TestConvertedTypesAlone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"list", "int8", "int16", "int32", "int64", "uint16", "uint32"} {
		name = "pyarrow-" + name
		older := edited(t, name, func(f *format.FileMetaData) {
			for i := range f.Schema {
				f.Schema[i].LogicalType.Value = nil
			}
		})
		newer := must.Get(Open("testdata/"+name+".parquet", source.ReadOptions{}))(t)
		data := must.Get(sourcetest.ReadAll(newer, 8))(t) // compared with the values themselves by TestForeign
		sourcetest.Expect(t, must.Get(fromBytes(older, source.ReadOptions{}))(t), 8, newer.Columns(), data)
		must.Do(t, newer.Close())
	}
}

// TestDecimalBytes opens decimals of the type BYTE_ARRAY, whose column must be cast, not removed.
func TestDecimalBytes(t *testing.T) {
	t.Parallel()
	file := edited(t, "bad-text", func(f *format.FileMetaData) {
		for i := range f.Schema {
			if s := &f.Schema[i]; s.Name == "label" {
				s.LogicalType.Value, s.ConvertedType.Valid = &format.DecimalType{Scale: 1, Precision: 5}, false
			}
		}
	})
	_, err := sourcetest.ReadAll(must.Get(fromBytes(file, source.ReadOptions{}))(t), 1)
	if want := "found values of the type DECIMAL(5,1)"; err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(fault.HintOf(err), "cast(pl.Float64)") {
		t.Errorf("found %v with the hint %q, expected %s and a hint to cast", err, fault.HintOf(err), want)
	}
}

// TestRefusedFooters opens files whose footers are impossible or unsupported.
func TestRefusedFooters(t *testing.T) {
	t.Parallel()
	chunk := func(change func(c *format.ColumnChunk)) func(f *format.FileMetaData) {
		return func(f *format.FileMetaData) { change(&f.RowGroups[0].Columns[0]) }
	}
	for name, c := range map[string]struct {
		change func(f *format.FileMetaData)
		err    error
		want   string
	}{
		"column in another file":   {chunk(func(c *format.ColumnChunk) { c.FilePath = "other.parquet" }), fault.Unsupported, `in another file ("other.parquet")`},
		"column without a path":    {chunk(func(c *format.ColumnChunk) { c.MetaData.PathInSchema = nil }), fault.Unsupported, "is encrypted, or in another file"},
		"column of another type":   {chunk(func(c *format.ColumnChunk) { c.MetaData.Type = format.Double }), fault.Malformed, "entries of DOUBLE in 1941 bytes at byte 4, expected INT32"},
		"column behind the footer": {chunk(func(c *format.ColumnChunk) { c.MetaData.TotalCompressedSize = 1 << 40 }), fault.Malformed, "before the footer"},
		"column of −1 values":      {chunk(func(c *format.ColumnChunk) { c.MetaData.NumValues = -1 }), fault.Malformed, "a column of -1 entries"},
		"column of 2⁶² values":     {chunk(func(c *format.ColumnChunk) { c.MetaData.NumValues = 1 << 62 }), fault.Malformed, "a column of 4611686018427387904 entries"},
		"fewer values than rows":   {chunk(func(c *format.ColumnChunk) { c.MetaData.NumValues = 1 }), fault.Malformed, "an entry for each of 64 rows"},
		"unknown codec":            {chunk(func(c *format.ColumnChunk) { c.MetaData.Codec = 99 }), fault.Unsupported, ""},
		"group of −1 rows":         {func(f *format.FileMetaData) { f.RowGroups[0].NumRows = -1 }, fault.Malformed, "with -1 rows"},
		"groups of 2⁶³ rows": {func(f *format.FileMetaData) {
			g := f.RowGroups[0]
			g.NumRows = math.MaxInt64
			f.RowGroups = append(f.RowGroups, g)
		}, fault.Malformed, ""},
		"fewer rows than values": {func(f *format.FileMetaData) {
			f.NumRows, f.RowGroups[0].NumRows = f.NumRows-1, f.RowGroups[0].NumRows-1
		}, fault.Unsupported, "found another number of values, expected the shape 12"},
		"group of fewer columns": {func(f *format.FileMetaData) { f.RowGroups[0].Columns = f.RowGroups[0].Columns[:1] }, fault.Malformed, "1 columns, expected 2"},
		"other rows than groups": {func(f *format.FileMetaData) { f.NumRows++ }, fault.Malformed, "in the row groups"},
		"no schema":              {func(f *format.FileMetaData) { f.Schema = nil }, fault.Malformed, ""},
		"schema of a leaf":       {func(f *format.FileMetaData) { f.Schema = f.Schema[len(f.Schema)-1:] }, fault.Malformed, ""},
		"schema cut short":       {func(f *format.FileMetaData) { f.Schema = f.Schema[:len(f.Schema)-1] }, fault.Malformed, ""},
		"schema goes on":         {func(f *format.FileMetaData) { f.Schema = append(f.Schema, f.Schema[len(f.Schema)-1]) }, fault.Malformed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table, err := fromBytes(edited(t, "pyarrow-list", c.change), source.ReadOptions{})
			if err == nil {
				_, err = sourcetest.ReadAll(table, 8)
			}
			if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "cannot be decoded") {
				t.Errorf("found %v, expected %v: %s", err, c.err, c.want)
			}
		})
	}
}

// TestEncryptedAndCut opens files that start or end with other magic bytes than Parquet's.
func TestEncryptedAndCut(t *testing.T) {
	t.Parallel()
	whole := edited(t, "pyarrow-list", func(*format.FileMetaData) {})
	with := func(at int, text string) []byte {
		return append(append(bytes.Clone(whole[:at]), text...), whole[at+len(text):]...)
	}
	for name, c := range map[string]struct {
		file []byte
		err  error
		want string
	}{
		"encrypted footer":        {with(len(whole)-4, "PARE"), fault.Unsupported, "the file is encrypted"},
		"encrypted, at the start": {with(0, "PARE"), fault.Unsupported, "the file is encrypted"},
		"other file":              {with(0, "PK\x03\x04"), fault.Malformed, "not a Parquet file"},
		"cut":                     {whole[:len(whole)-1], fault.Truncated, fmt.Sprintf("at byte %d: found % x, expected", len(whole)-5, whole[len(whole)-5:len(whole)-1])},
		"11 bytes":                {[]byte("PAR1\x00\x00\x00PAR1"), fault.Truncated, "too few for a Parquet file"},
		"footer of 4 GiB":         {with(len(whole)-8, "\xff\xff\xff\xff"), fault.Malformed, "a footer of 4294967295 bytes"},
		"no Thrift":               {with(footerStart(whole), "\xff\xff\xff"), fault.Malformed, "the footer is damaged"},
	} {
		if _, err := fromBytes(c.file, source.ReadOptions{}); !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found %v, expected %v: %s", name, err, c.err, c.want)
		}
	}
}
