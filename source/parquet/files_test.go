package parquet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/fault"
	sinkparquet "github.com/idxport/idxport/sink/parquet"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

var errBroken = errors.New("the disk is broken")

// readFailing opens file, skips rows and reads the rest.
func readFailing(file []byte, skip int64, f *sourcetest.FailingReaderAt) error {
	f.File = bytes.NewReader(file)
	table, err := newTable(f, io.NopCloser(nil), int64(len(file)), "test.parquet", asUint8)
	if err != nil {
		return err
	}
	if err := table.Skip(min(skip, table.Rows())); err != nil {
		return err
	}
	_, err = sourcetest.ReadAll(table, 8)
	return err
}

// TestEveryReadMayFail fails each read in turn, in files with all kinds of pages. The error is that
// of the disk or, if the file became shorter, one about the file.
func TestEveryReadMayFail(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{"idxport": written(t, random(100), sinkparquet.Options{}, 8)}
	for _, name := range []string{"pyarrow-list", "pyarrow-png-dictionary", "pyarrow-columns", "duckdb-array-v2"} {
		files[name] = must.Get(os.ReadFile("testdata/" + name + ".parquet"))(t)
	}
	for name, file := range files {
		for _, skip := range []int64{0, 40, 1 << 40} {
			all := &sourcetest.FailingReaderAt{Left: -1}
			if err := readFailing(file, skip, all); err != nil || all.Calls < 3 {
				t.Fatalf("%s from row %d on: found %v after %d reads", name, skip, err, all.Calls)
			}
			for left := range all.Calls {
				for broken, kind := range map[error]error{errBroken: fault.Internal, io.EOF: fault.Truncated} {
					err := readFailing(file, skip, &sourcetest.FailingReaderAt{Left: left, Err: broken})
					if fault.KindOf(err) != kind || kind == fault.Internal && !errors.Is(err, errBroken) {
						t.Errorf("%s, read %d of %d: found %v, expected %v", name, left+1, all.Calls, err, broken)
					}
				}
			}
		}
	}
}

// TestOpenAndClose opens files that are missing or not regular, cancels, and reads after Close.
// Rows that were read before are decoded.
func TestOpenAndClose(t *testing.T) {
	t.Parallel()
	if _, err := Open(filepath.Join(t.TempDir(), "missing"), source.ReadOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("found %v, expected %v", err, fs.ErrNotExist)
	}
	if table, err := Open(t.TempDir(), source.ReadOptions{}); err == nil || table != nil {
		t.Errorf("found %v and %v, expected that a folder is refused", table, err)
	}
	table := must.Get(Open("testdata/pyarrow-list.parquet", source.ReadOptions{}))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := table.Read(ctx, &source.Raw{Cap: 8}); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected %v", err, context.Canceled)
	}
	b := &source.Raw{Cap: 8}
	must.Do(t, errors.Join(table.Read(t.Context(), b), table.Close(), table.Close(), table.Decode(b)))
	if want := encode(idx.Uint8, 12, pixel)[:8*12]; !bytes.Equal(b.Columns[0], want) {
		t.Errorf("found % x, expected % x", b.Columns[0], want)
	}
	if err := table.Read(t.Context(), &source.Raw{Cap: 8}); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("found %v, expected %v", err, fs.ErrClosed)
	}
}

// TestLargePageHeaders reads a page with the minimum and the maximum value in its header, as
// parquet-go writes them.
func TestLargePageHeaders(t *testing.T) {
	t.Parallel()
	h := format.DataPageHeader{NumValues: 1, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE}
	h.Statistics.MaxValue = make([]byte, 2<<20)
	page := pageOf(t, &format.PageHeader{UncompressedPageSize: 4, DataPageHeader: thrift.New(h)}, []byte{7, 0, 0, 0})
	file := columnsOf(t, format.Required, format.Uncompressed, 1, 1, 1, page)
	got := must.Get(fromBytes(file, source.ReadOptions{}))(t)
	sourcetest.Expect(t, got, 2, []source.Column{{Name: "x0", DType: idx.Uint8}}, [][]byte{{7}})
}

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

// TestRefusedFooters opens files whose footers are impossible or unsupported, and decimals of the
// type BYTE_ARRAY, whose column must be cast, not removed.
func TestRefusedFooters(t *testing.T) {
	t.Parallel()
	type footer = format.FileMetaData
	chunk := func(f *footer) *format.ColumnChunk { return &f.RowGroups[0].Columns[0] }
	for want, change := range map[string]func(f *footer){
		`in another file ("other.parquet")`:   func(f *footer) { chunk(f).FilePath = "other.parquet" },
		"the column is encrypted":             func(f *footer) { chunk(f).MetaData.PathInSchema = nil },
		"entries of DOUBLE":                   func(f *footer) { chunk(f).MetaData.Type = format.Double },
		"1099511627776 bytes at byte 4":       func(f *footer) { chunk(f).MetaData.TotalCompressedSize = 1 << 40 },
		"found a column of -1 entries":        func(f *footer) { chunk(f).MetaData.NumValues = -1 },
		"of 4611686018427387904 entries":      func(f *footer) { chunk(f).MetaData.NumValues = 1 << 62 },
		"an entry for each of 64 rows":        func(f *footer) { chunk(f).MetaData.NumValues = 1 },
		"found the compression":               func(f *footer) { chunk(f).MetaData.Codec = 99 },
		"with -1 rows":                        func(f *footer) { f.RowGroups[0].NumRows = -1 },
		"with 9223372036854775807 rows":       func(f *footer) { f.RowGroups[0].NumRows = math.MaxInt64 },
		"found another number of values":      func(f *footer) { f.NumRows, f.RowGroups[0].NumRows = 149, 63 },
		"1 columns, expected 2":               func(f *footer) { f.RowGroups[0].Columns = f.RowGroups[0].Columns[:1] },
		"in the row groups, expected":         func(f *footer) { f.NumRows++ },
		"the schema is empty":                 func(f *footer) { f.Schema = nil },
		"0 columns":                           func(f *footer) { f.Schema = f.Schema[len(f.Schema)-1:] },
		"found a schema of 4 elements":        func(f *footer) { f.Schema = f.Schema[:4] },
		"found a schema of 6 elements":        func(f *footer) { f.Schema = append(f.Schema, f.Schema[4]) },
		"values of the type DECIMAL(5,1)":     func(f *footer) { f.Schema[4] = decimal },
		"expected the children of all groups": func(f *footer) { f.Schema[0].NumChildren.V++ },
	} {
		table, err := fromBytes(edited(t, "pyarrow-list", change), source.ReadOptions{})
		if err == nil {
			_, err = sourcetest.ReadAll(table, 8)
		}
		if checkError(t, err); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}

var decimal = format.SchemaElement{Name: "label", Type: thrift.New(format.Int64),
	LogicalType: format.LogicalType{Value: &format.DecimalType{Scale: 1, Precision: 5}}}

// TestEncryptedAndCut opens files that start or end with other magic bytes than Parquet's.
func TestEncryptedAndCut(t *testing.T) {
	t.Parallel()
	whole := must.Get(os.ReadFile("testdata/pyarrow-list.parquet"))(t)
	with := func(at int, text string) []byte {
		return append(append(bytes.Clone(whole[:at]), text...), whole[at+len(text):]...)
	}
	for want, file := range map[string][]byte{
		": the file is encrypted":      with(len(whole)-4, "PARE"),
		"the file is encrypted":        with(0, "PARE"),
		"not a Parquet file":           with(0, "PK\x03\x04"),
		"the file is cut short":        whole[:len(whole)-1],
		"too few for a Parquet file":   []byte("PAR1\x00\x00\x00PAR1"),
		"a footer of 4294967295 bytes": with(len(whole)-8, "\xff\xff\xff\xff"),
		"the footer is damaged":        with(footerStart(whole), "\xff\xff\xff"),
		"found an HTML or XML page":    append([]byte("<!DOCTYPE html>"), whole...),
	} {
		if _, err := fromBytes(file, source.ReadOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}

// TestPanicsInFooters has a panic while the footer is read, such as one of a decoder.
func TestPanicsInFooters(t *testing.T) {
	t.Parallel()
	_, err := newTable(panicking{}, io.NopCloser(nil), 1<<10, "test.parquet", source.ReadOptions{})
	if !errors.Is(err, fault.Malformed) || !strings.Contains(err.Error(), "test.parquet: the data cannot be decoded: ") {
		t.Errorf("found %v, expected an error about the file", err)
	}
}

type panicking struct{}

func (panicking) ReadAt([]byte, int64) (int, error) { panic("out of order") }
