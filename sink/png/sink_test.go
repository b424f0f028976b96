package png_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	stdpng "image/png"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/publish"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/png"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sinktest"
)

// newFolder returns a folder to fill, and a function that publishes it and returns its files, by
// name relative to the folder.
func newFolder(t testing.TB) (*publish.Folder, func() map[string][]byte) {
	t.Helper()
	target := filepath.Join(t.TempDir(), "train")
	set := must.Get(publish.Prepare([]publish.Target{{Path: target, Folder: true}}, publish.Options{}))(t)
	t.Cleanup(set.Discard)
	return set.Folder(0), func() map[string][]byte {
		t.Helper()
		must.Do(t, set.Commit())
		files, root := map[string][]byte{}, os.DirFS(target)
		must.Do(t, fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files[name], err = fs.ReadFile(root, name)
			}
			return err
		}))
		return files
	}
}

// describe returns the schema of a whole table.
func describe(rows int64, columns ...source.Column) *schema.Schema {
	return &schema.Schema{Columns: columns, Rows: rows, SourceRows: rows}
}

func images(d idx.DType, shape ...int) source.Column {
	return source.Column{Name: "image", DType: d, Shape: shape}
}

func labels(d idx.DType, classes ...string) source.Column {
	return source.Column{Name: "label", DType: d, Classes: classes}
}

// write writes one batch and returns the first error.
func write(folder *publish.Folder, s *schema.Schema, o sink.Options, first int64, data ...[]byte) error {
	k, err := png.New(folder, s, o)
	if err != nil {
		return err
	}
	rows := len(data[0]) / s.Columns[0].RecordSize()
	step, err := k.Encode(context.Background(), schema.Batch{First: first, Rows: rows, Columns: data})
	if err != nil {
		return err
	}
	if err := step(); err != nil {
		return err
	}
	return k.Close()
}

// convert writes one batch, which must succeed, and returns the files.
func convert(t *testing.T, s *schema.Schema, o sink.Options, first int64, data ...[]byte) map[string][]byte {
	t.Helper()
	folder, finish := newFolder(t)
	must.Do(t, write(folder, s, o, first, data...))
	return finish()
}

// names lists the names of files in order, separated by spaces.
func names(files map[string][]byte) string { return strings.Join(slices.Sorted(maps.Keys(files)), " ") }

// sequence returns n bytes that differ from their neighbours and are not 0.
func sequence(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(1 + i*37%255)
	}
	return data
}

// TestPixels compares the memory of image/png, in the colour model of each kind, with what the
// elements of a record of 1×2 pixels mean.
func TestPixels(t *testing.T) {
	t.Parallel()
	eight := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	for name, tt := range map[string]struct {
		column source.Column
		record []byte
		want   string
	}{
		"gray":           {images(idx.Uint8, 1, 2), []byte{1, 2}, "*image.Gray [1 2]"},
		"gray, first":    {images(idx.Uint8, 1, 1, 2), []byte{1, 2}, "*image.Gray [1 2]"},
		"gray, last":     {images(idx.Uint8, 1, 2, 1), []byte{1, 2}, "*image.Gray [1 2]"},
		"16 bits":        {images(idx.Int16, 1, 2), sinktest.Little[int16](258, 3), "*image.Gray16 [1 2 0 3]"},
		"16 bits, first": {images(idx.Int16, 1, 1, 2), sinktest.Little[int16](258, 3), "*image.Gray16 [1 2 0 3]"},
		"RGB":            {images(idx.Uint8, 1, 2, 3), eight[:6], "*image.RGBA [1 2 3 255 4 5 6 255]"},
		"RGBA":           {images(idx.Uint8, 1, 2, 4), eight, "*image.NRGBA [1 2 3 4 5 6 7 8]"},
		"RGB, first":     {images(idx.Uint8, 3, 1, 2), eight[:6], "*image.RGBA [1 3 5 255 2 4 6 255]"},
		"RGBA, first":    {images(idx.Uint8, 4, 1, 2), eight, "*image.NRGBA [1 3 5 7 2 4 6 8]"},
	} {
		other := bytes.Repeat([]byte{9, 0}, len(tt.record)/2) // the first of two rows
		files := convert(t, describe(2, tt.column), sink.Options{}, 0, append(other, tt.record...))
		m := must.Get(stdpng.Decode(bytes.NewReader(files["1.png"])))(t)
		pixels := reflect.ValueOf(m).Elem().FieldByName("Pix").Bytes()
		found := fmt.Sprintf("%T %v", m, pixels)
		if found != tt.want || m.Bounds() != image.Rect(0, 0, 2, 1) || len(files) != 2 {
			t.Errorf("%s: found %s of %v in %s, expected %s of 2×1 in two files",
				name, found, m.Bounds(), names(files), tt.want)
		}
	}
}

func TestNamesOfFiles(t *testing.T) {
	t.Parallel()
	ten := []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}
	letters := append([]string{""}, strings.Split("abcdefghijklmnopqrstuvwxyz", "")...)
	pixel := images(idx.Uint8, 1, 1)
	for name, tt := range map[string]struct {
		s     *schema.Schema
		o     sink.Options
		first int64
		data  [][]byte
		want  string
	}{
		"digits": {describe(11, pixel, labels(idx.Uint8, ten...)), sink.Options{}, 0,
			[][]byte{sequence(3), {5, 0, 5}}, "0/01.png 5/00.png 5/02.png"},
		"letters": {describe(10, pixel, labels(idx.Uint8, letters...)), sink.Options{}, 0,
			[][]byte{sequence(3), {26, 1, 10}}, "01/1.png 10/2.png 26/0.png"},
		"range": {&schema.Schema{Columns: []source.Column{pixel, labels(idx.Uint8, ten...)}, Rows: 2,
			SourceRows: 60000}, sink.Options{}, 998,
			[][]byte{sequence(2), {7, 7}}, "7/00998.png 7/00999.png"},
		"last row": {describe(1001, pixel), sink.Options{}, 999, [][]byte{sequence(2)}, "0999.png 1000.png"},
		"labels unknown": {describe(2, pixel, labels(idx.Uint8)), sink.Options{MaxLabel: -1}, 0,
			[][]byte{sequence(2), {255, 9}}, "009/1.png 255/0.png"},
		"signed bytes, unknown": {describe(1, pixel, labels(idx.Int8)), sink.Options{}, 0, [][]byte{sequence(1), {127}},
			"127/0.png"},
		"short, unknown": {describe(1, pixel, labels(idx.Int16)), sink.Options{}, 0,
			[][]byte{sequence(1), sinktest.Little[int16](32767)}, "32767/0.png"},
		"int, unknown": {describe(2, pixel, labels(idx.Int32)), sink.Options{}, 0,
			[][]byte{sequence(2), sinktest.Little[int32](7, 2147483647)}, "0000000007/0.png 2147483647/1.png"},
		"largest label": {describe(2, pixel, labels(idx.Int32)), sink.Options{MaxLabel: 12}, 0,
			[][]byte{sequence(2), sinktest.Little[int32](7, 12)}, "07/0.png 12/1.png"},
		"classes before largest label": {describe(1, pixel, labels(idx.Uint8, ten...)), sink.Options{MaxLabel: 100}, 0,
			[][]byte{sequence(1), {7}}, "7/0.png"},
		"named classes": {describe(2, pixel, labels(idx.Uint8, "T-shirt/top", "Ankle boot")),
			sink.Options{Layout: "names"}, 0,
			[][]byte{sequence(2), {1, 0}}, ".idxport-classes Ankle_boot/0.png T-shirt_top/1.png"},
		"named labels": {describe(1, pixel, labels(idx.Uint8, "T-shirt/top", "Ankle boot")),
			sink.Options{Layout: "labels"}, 0, [][]byte{sequence(1), {1}}, "1/0.png"},
		"any integer is the label": {describe(1, source.Column{Name: "y", DType: idx.Uint8, Classes: ten}, pixel),
			sink.Options{}, 0, [][]byte{{3}, sequence(1)}, "3/0.png"},
		"label by name": {describe(1, source.Column{Name: "writer", DType: idx.Int32}, labels(idx.Uint8, ten...),
			pixel), sink.Options{Layout: "huggingface"}, 0,
			[][]byte{sinktest.Little[int32](2), {4}, sequence(1)}, "4/0.png metadata.csv"},
	} {
		if got := names(convert(t, tt.s, tt.o, tt.first, tt.data...)); got != tt.want {
			t.Errorf("%s: found %s, expected %s", name, got, tt.want)
		}
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	pixel := images(idx.Uint8, 1, 1)
	for name, tt := range map[string]struct {
		s            *schema.Schema
		layout, want string // a part of the only note
	}{
		"nothing to say":   {describe(1, pixel, labels(idx.Uint8)), "", ""},
		"ordered names":    {describe(1, pixel, labels(idx.Uint8, "", "ant", "bee")), "names", ""},
		"disordered names": {describe(1, pixel, labels(idx.Uint8, "bee", "ant")), "names", "order of the labels"},
		"order of labels":  {describe(1, pixel, labels(idx.Uint8, "bee", "ant")), "", ""},
		"case of names":    {describe(1, pixel, labels(idx.Uint8, "ant", "Bee")), "names", "order of the labels"},
	} {
		folder, _ := newFolder(t)
		notes := strings.Join(must.Get(png.New(folder, tt.s, sink.Options{Layout: tt.layout}))(t).Notes(), "\n")
		if (notes == "") != (tt.want == "") || !strings.Contains(notes, tt.want) {
			t.Errorf("%s: found the notes %q, expected %q in them", name, notes, tt.want)
		}
	}
}

var _ sink.Sizer = (*png.Sink)(nil)

func TestContract(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]sink.Options{"images": {}, "metadata.csv": {Layout: "huggingface"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sinktest.Run(t, func(t *testing.T, s *schema.Schema) (sink.Sink, func() map[string][]byte, error) {
				folder, finish := newFolder(t)
				k, err := png.New(folder, s, o)
				return k, finish, err
			}, sinktest.Images(), sinktest.Unlabelled())
		})
	}
}
