package tar_test

import (
	archive "archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	stdpng "image/png"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/tar"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sinktest"
)

// A file is a member of an archive.
type file struct{ name, content string }

// write writes one batch that begins with the row first, and returns the archive or the first
// error.
func write(s *schema.Schema, o sink.Options, first int64, data ...[]byte) ([]byte, error) {
	var out bytes.Buffer
	k, err := tar.New(&out, s, o)
	if err != nil {
		return nil, err
	}
	rows := len(data[0]) / s.Columns[0].RecordSize()
	step, err := k.Encode(context.Background(), schema.Batch{First: first, Rows: rows, Columns: data})
	if err != nil {
		return nil, err
	}
	if out.Len() > 0 {
		return nil, errors.New("something was written before the first step")
	}
	if err := errors.Join(step(), k.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// read reads an archive with archive/tar. Every header must be as documented, and nothing may
// follow the end.
func read(t *testing.T, data []byte) []file {
	t.Helper()
	if len(data)%512 != 0 || !bytes.HasSuffix(data, make([]byte, 1024)) {
		t.Errorf("found %d bytes, expected blocks of 512, two of zeros at the end", len(data))
	}
	source := bytes.NewReader(data)
	r := archive.NewReader(source)
	var files []file
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must.Do(t, err)
		content := must.Get(io.ReadAll(r))(t)
		if h.Typeflag != archive.TypeReg || h.Mode != 0o644 || h.Uid != 0 || h.Gid != 0 || h.Uname != "" ||
			h.Gname != "" || h.ModTime.Unix() != 0 || h.Format != archive.FormatUSTAR {
			t.Errorf("found the header %+v", h)
		}
		files = append(files, file{h.Name, string(content)})
	}
	if source.Len() > 0 {
		t.Errorf("found %d bytes after the end", source.Len())
	}
	return files
}

// names lists the names of files, separated by spaces.
func names(files []file) string {
	var all []string
	for _, f := range files {
		all = append(all, f.name)
	}
	return strings.Join(all, " ")
}

var (
	pixel = source.Column{Name: "image", DType: idx.Uint8, Shape: []int{1, 1}}
	label = source.Column{Name: "label", DType: idx.Uint8}
)

// describe returns the schema of a whole table.
func describe(rows int64, columns ...source.Column) *schema.Schema {
	return &schema.Schema{Columns: columns, Rows: rows, SourceRows: rows}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		s     *schema.Schema
		first int64
		data  [][]byte
		want  string
	}{
		"labels": {describe(2, pixel, label), 0, [][]byte{{1, 2}, {7, 0}},
			"000000.png 000000.cls 000001.png 000001.cls"},
		"no labels": {describe(1, pixel), 0, [][]byte{{1}}, "000000.png"},
		"range": {&schema.Schema{Columns: []source.Column{pixel}, Rows: 2, SourceRows: 60000}, 998,
			[][]byte{{1, 2}}, "000998.png 000999.png"},
		"seven digits": {&schema.Schema{Columns: []source.Column{pixel}, Rows: 1, SourceRows: 1_000_001}, 5,
			[][]byte{{1}}, "0000005.png"},
		"six digits": {describe(1_000_000, pixel), 999_999, [][]byte{{1}}, "999999.png"},
		"largest": {describe(math.MaxInt64, pixel, label), math.MaxInt64 - 1, [][]byte{{1}, {1}},
			"9223372036854775806.png 9223372036854775806.cls"},
		"scalars": {describe(1, pixel, label, source.Column{Name: "writer", DType: idx.Int32}), 0,
			[][]byte{{1}, {1}, sinktest.Little[int32](3)},
			"000000.png 000000.cls 000000.json"},
	} {
		data := must.Get(write(tt.s, sink.Options{}, tt.first, tt.data...))(t)
		if got := names(read(t, data)); got != tt.want {
			t.Errorf("%s: found %s, expected %s", name, got, tt.want)
		}
	}
}

// TestContents compares pixels decoded by image/png, decimal labels and JSON with values written
// down by hand.
func TestContents(t *testing.T) {
	t.Parallel()
	s := describe(2, source.Column{Name: "writer", DType: idx.Int32},
		source.Column{Name: `a "b" <c>`, DType: idx.Float32},
		source.Column{Name: "image", DType: idx.Uint8, Shape: []int{3, 1, 2}},
		source.Column{Name: "label", DType: idx.Int16},
		source.Column{Name: "d", DType: idx.Float64}, source.Column{Name: "e", DType: idx.Int8})
	negative := math.Copysign(0, -1)
	files := read(t, must.Get(write(s, sink.Options{}, 0, sinktest.Little[int32](math.MinInt32, 59),
		sinktest.Little(float32(0.1), float32(math.Inf(-1))), []byte{1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16},
		sinktest.Little[int16](-7, 32767), sinktest.Little(negative, 1e300), []byte{0x80, 5}))(t))
	if got, want := names(files), "000000.png 000000.cls 000000.json 000001.png 000001.cls 000001.json"; got != want {
		t.Fatalf("found %s, expected %s", got, want)
	}
	for i, want := range map[int]string{
		1: "-7", 4: "32767",
		2: `{"writer":-2147483648,"a \"b\" <c>":0.1,"d":-0.0,"e":-128}`,
		5: `{"writer":59,"a \"b\" <c>":-Infinity,"d":1e+300,"e":5}`,
	} {
		if got := files[i].content; got != want {
			t.Errorf("%s: found %s, expected %s", files[i].name, got, want)
		}
	}
	for i, want := range map[int]string{0: "[1 3 5 255 2 4 6 255]", 3: "[11 13 15 255 12 14 16 255]"} {
		m := must.Get(stdpng.Decode(strings.NewReader(files[i].content)))(t)
		if rgb, ok := m.(*image.RGBA); !ok || m.Bounds() != image.Rect(0, 0, 2, 1) || fmt.Sprint(rgb.Pix) != want {
			t.Errorf("%s: found %v, expected %s", files[i].name, m, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	wide := source.Column{Name: "image", DType: idx.Int16, Shape: []int{1, 2}}
	for name, tt := range map[string]struct {
		s             *schema.Schema
		data          [][]byte
		want          error
		message, hint string // parts
	}{
		"rows unknown": {&schema.Schema{Columns: []source.Column{pixel}, Rows: -1, SourceRows: -1}, nil, fault.Usage,
			"file names", "Parquet"},
		"float": {describe(1, source.Column{Name: "x", DType: idx.Float32, Shape: []int{28, 28}}), nil, fault.Usage,
			`column "x" is float32`, "npy"},
		"a vector": {describe(1, pixel, source.Column{Name: "features", DType: idx.Float32, Shape: []int{8}}), nil,
			fault.Usage, `cannot hold "features"`, "--columns"},
		"two images": {describe(1, pixel, wide), nil, fault.Usage, "2 columns of images", "one of them"},
		"negative pixel": {describe(20, wide), [][]byte{sinktest.Little[int16](0, 32767, 1, -5)}, fault.Unsupported,
			"row 11: tar: found the value -5", "npy"},
	} {
		var err error
		if tt.data == nil {
			_, err = tar.New(io.Discard, tt.s, sink.Options{})
		} else {
			_, err = write(tt.s, sink.Options{}, 10, tt.data...)
		}
		if hint := fault.HintOf(err); !errors.Is(err, tt.want) || !strings.Contains(err.Error(), "tar: ") ||
			!strings.Contains(err.Error(), tt.message) || !strings.Contains(hint, tt.hint) {
			t.Errorf("%s: found %q and the hint %q, expected %q and %q in them", name, err, hint, tt.message, tt.hint)
		}
	}
	if _, err := write(describe(2, pixel), sink.Options{}, 2, []byte{1}); err == nil || errors.Is(err, fault.Usage) {
		t.Errorf("row 2 of 2: found the error %v, expected one of a wrong schema", err)
	}
}

// TestBatchSize checks that a batch of images that cannot be compressed takes no more than
// BatchSize.
func TestBatchSize(t *testing.T) {
	t.Parallel()
	const rows = 8
	s := describe(rows, source.Column{Name: "image", DType: idx.Uint8, Shape: []int{40, 50}}, label,
		source.Column{Name: "x", DType: idx.Float64})
	pixels := make([]byte, rows*2000)
	for i := range pixels {
		pixels[i] = byte(uint32(i*i) * 2654435761 >> 24)
	}
	k := must.Get(tar.New(io.Discard, s, sink.Options{}))(t)
	floats := bytes.Repeat(sinktest.Little(-math.MaxFloat64), rows)
	data := must.Get(write(s, sink.Options{}, 0, pixels, make([]byte, rows), floats))(t)
	if got := int64(len(data)) - 1024; got > k.BatchSize(rows) || got < rows*2000 {
		t.Errorf("found %d bytes, expected at least those of the pixels and at most BatchSize, %d",
			got, k.BatchSize(rows))
	}
}

func TestContract(t *testing.T) {
	t.Parallel()
	scalars := sinktest.Images()
	scalars.Name, scalars.Rows = "scalars", 70
	for _, d := range idx.DTypes() {
		scalars.Columns = append(scalars.Columns, source.Column{Name: d.String(), DType: d})
	}
	open := func(w io.Writer, s *schema.Schema) (sink.Sink, error) { return tar.New(w, s, sink.Options{}) }
	sinktest.RunWriter(t, open, sinktest.Images(), sinktest.Unlabelled(), scalars)
}
