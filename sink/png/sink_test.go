package png_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	stdpng "image/png"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
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
		return readFiles(t, target)
	}
}

// readFiles reads all files below dir.
func readFiles(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
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
func write(folder *publish.Folder, s *schema.Schema, o png.Options, first int64, data ...[]byte) error {
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
func convert(t *testing.T, s *schema.Schema, o png.Options, first int64, data ...[]byte) map[string][]byte {
	t.Helper()
	folder, finish := newFolder(t)
	must.Do(t, write(folder, s, o, first, data...))
	files := finish()
	return files
}

// decode decodes a file, which must end after the image.
func decode(t *testing.T, file []byte) image.Image {
	t.Helper()
	r := bytes.NewReader(file)
	m := must.Get(stdpng.Decode(r))(t)
	if r.Len() > 0 {
		t.Errorf("found %d bytes after the image", r.Len())
	}
	return m
}

// names lists the names of files in order, separated by spaces.
func names(files map[string][]byte) string {
	return strings.Join(slices.Sorted(maps.Keys(files)), " ")
}

// sequence returns n bytes that differ from their neighbours and are not 0.
func sequence(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(1 + i*37%255)
	}
	return data
}

// little returns elements of 16 or 32 bits as in a batch.
func little[T int16 | int32 | float32](values ...T) []byte {
	var buf bytes.Buffer
	_ = binary.Write(&buf, binary.LittleEndian, values) // into memory: cannot fail
	return buf.Bytes()
}

// TestPixels checks that image/png decodes the samples of the table, in the colour model for their
// kind.
func TestPixels(t *testing.T) {
	t.Parallel()
	const rows, h, w = 3, 4, 5
	for name, tt := range map[string]struct {
		column   source.Column
		channels string
		// at returns the bytes of a pixel in image/png's memory, from the record's elements.
		at func(record []byte, y, x int) []byte
	}{
		"gray":         {images(idx.Uint8, h, w), "", func(r []byte, y, x int) []byte { return r[y*w+x:][:1] }},
		"gray, first":  {images(idx.Uint8, 1, h, w), "first", func(r []byte, y, x int) []byte { return r[y*w+x:][:1] }},
		"gray, last":   {images(idx.Uint8, h, w, 1), "last", func(r []byte, y, x int) []byte { return r[y*w+x:][:1] }},
		"gray, either": {images(idx.Uint8, h, w), "first", func(r []byte, y, x int) []byte { return r[y*w+x:][:1] }},
		"16 bits": {images(idx.Int16, h, w), "", func(r []byte, y, x int) []byte {
			return []byte{r[2*(y*w+x)+1], r[2*(y*w+x)]} // Gray16 is big-endian
		}},
		"16 bits, first": {images(idx.Int16, 1, h, w), "first", func(r []byte, y, x int) []byte {
			return []byte{r[2*(y*w+x)+1], r[2*(y*w+x)]}
		}},
		"RGB":  {images(idx.Uint8, h, w, 3), "", func(r []byte, y, x int) []byte { return append(slices.Clone(r[3*(y*w+x):][:3]), 255) }},
		"RGBA": {images(idx.Uint8, h, w, 4), "last", func(r []byte, y, x int) []byte { return r[4*(y*w+x):][:4] }},
		"RGB, first": {images(idx.Uint8, 3, h, w), "first", func(r []byte, y, x int) []byte {
			return []byte{r[y*w+x], r[h*w+y*w+x], r[2*h*w+y*w+x], 255}
		}},
		"RGBA, first": {images(idx.Uint8, 4, h, w), "first", func(r []byte, y, x int) []byte {
			return []byte{r[y*w+x], r[h*w+y*w+x], r[2*h*w+y*w+x], r[3*h*w+y*w+x]}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			size := tt.column.RecordSize()
			data := sequence(rows * size)
			if tt.column.DType == idx.Int16 {
				for i := range data {
					data[i] &= 0x7F // no negative values
				}
			}
			files := convert(t, describe(rows, tt.column), png.Options{Channels: tt.channels}, 0, data)
			if got := names(files); got != "0.png 1.png 2.png" {
				t.Fatalf("found the files %s, expected 0.png 1.png 2.png", got)
			}
			for row := range rows {
				m := decode(t, files[fmt.Sprint(row, ".png")])
				record := data[row*size : (row+1)*size]
				if m.Bounds() != image.Rect(0, 0, w, h) {
					t.Fatalf("found bounds %v, expected %d×%d", m.Bounds(), w, h)
				}
				for y := range h {
					for x := range w {
						if got, want := pixel(m, y, x), tt.at(record, y, x); !slices.Equal(got, want) {
							t.Fatalf("row %d, pixel %d,%d: found %v in %T, expected %v", row, y, x, got, m, want)
						}
					}
				}
			}
		})
	}
}

// pixel returns the bytes of a pixel in memory, nil for colour models that are never written.
func pixel(m image.Image, y, x int) []byte {
	switch m := m.(type) {
	case *image.Gray:
		return m.Pix[m.PixOffset(x, y):][:1]
	case *image.Gray16:
		return m.Pix[m.PixOffset(x, y):][:2]
	case *image.RGBA: // image/png's type for RGB without alpha
		return m.Pix[m.PixOffset(x, y):][:4]
	case *image.NRGBA:
		return m.Pix[m.PixOffset(x, y):][:4]
	}
	return nil
}

func TestNamesOfFiles(t *testing.T) {
	t.Parallel()
	ten := []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}
	letters := append([]string{""}, strings.Split("abcdefghijklmnopqrstuvwxyz", "")...)
	pixel := images(idx.Uint8, 1, 1)
	for name, tt := range map[string]struct {
		s     *schema.Schema
		o     png.Options
		first int64
		data  [][]byte
		want  string
	}{
		"digits": {describe(11, pixel, labels(idx.Uint8, ten...)), png.Options{}, 0,
			[][]byte{sequence(3), {5, 0, 5}}, "0/01.png 5/00.png 5/02.png"},
		"letters": {describe(10, pixel, labels(idx.Uint8, letters...)), png.Options{}, 0,
			[][]byte{sequence(3), {26, 1, 10}}, "01/1.png 10/2.png 26/0.png"},
		"range": {&schema.Schema{Columns: []source.Column{pixel, labels(idx.Uint8, ten...)}, Rows: 2, SourceRows: 60000}, png.Options{}, 998,
			[][]byte{sequence(2), {7, 7}}, "7/00998.png 7/00999.png"},
		"last row": {describe(1001, pixel), png.Options{}, 999,
			[][]byte{sequence(2)}, "0999.png 1000.png"},
		"labels unknown":        {describe(2, pixel, labels(idx.Uint8)), png.Options{MaxLabel: -1}, 0, [][]byte{sequence(2), {255, 9}}, "009/1.png 255/0.png"},
		"signed bytes, unknown": {describe(1, pixel, labels(idx.Int8)), png.Options{}, 0, [][]byte{sequence(1), {127}}, "127/0.png"},
		"short, unknown":        {describe(1, pixel, labels(idx.Int16)), png.Options{}, 0, [][]byte{sequence(1), little[int16](32767)}, "32767/0.png"},
		"int, unknown": {describe(2, pixel, labels(idx.Int32)), png.Options{}, 0,
			[][]byte{sequence(2), little[int32](7, 2147483647)}, "0000000007/0.png 2147483647/1.png"},
		"largest label": {describe(2, pixel, labels(idx.Int32)), png.Options{MaxLabel: 12}, 0,
			[][]byte{sequence(2), little[int32](7, 12)}, "07/0.png 12/1.png"},
		"classes before largest label": {describe(1, pixel, labels(idx.Uint8, ten...)), png.Options{MaxLabel: 100}, 0,
			[][]byte{sequence(1), {7}}, "7/0.png"},
		"named classes": {describe(2, pixel, labels(idx.Uint8, "T-shirt/top", "Ankle boot")), png.Options{ClassFolders: "names"}, 0,
			[][]byte{sequence(2), {1, 0}}, ".idxport-classes Ankle_boot/0.png T-shirt_top/1.png"},
		"named labels": {describe(1, pixel, labels(idx.Uint8, "T-shirt/top", "Ankle boot")), png.Options{ClassFolders: "labels"}, 0,
			[][]byte{sequence(1), {1}}, "1/0.png"},
		"any integer is the label": {describe(1, source.Column{Name: "y", DType: idx.Uint8, Classes: ten}, pixel), png.Options{}, 0,
			[][]byte{{3}, sequence(1)}, "3/0.png"},
		"label by name": {describe(1, source.Column{Name: "writer", DType: idx.Int32}, labels(idx.Uint8, ten...), pixel), png.Options{MetadataCSV: true}, 0,
			[][]byte{little[int32](2), {4}, sequence(1)}, "4/0.png metadata.csv"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := names(convert(t, tt.s, tt.o, tt.first, tt.data...)); got != tt.want {
				t.Errorf("found %s, expected %s", got, tt.want)
			}
		})
	}
}

// TestRowOutOfRange writes a row that the schema does not have.
func TestRowOutOfRange(t *testing.T) {
	t.Parallel()
	folder, _ := newFolder(t)
	if err := write(folder, describe(2, images(idx.Uint8, 1, 1)), png.Options{}, 2, sequence(1)); err == nil || errors.Is(err, fault.Usage) {
		t.Errorf("row 2 of 2: found the error %v, expected one of a wrong schema", err)
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	pixel := images(idx.Uint8, 1, 1)
	for name, tt := range map[string]struct {
		s    *schema.Schema
		o    png.Options
		want []string // a part of each note
	}{
		"nothing to say":   {describe(1, pixel, labels(idx.Uint8)), png.Options{}, nil},
		"ordered names":    {describe(1, pixel, labels(idx.Uint8, "", "ant", "bee")), png.Options{ClassFolders: "names"}, nil},
		"disordered names": {describe(1, pixel, labels(idx.Uint8, "bee", "ant")), png.Options{ClassFolders: "names"}, []string{"order of the labels"}},
		"order of labels":  {describe(1, pixel, labels(idx.Uint8, "bee", "ant")), png.Options{}, nil},
		"case of names":    {describe(1, pixel, labels(idx.Uint8, "ant", "Bee")), png.Options{ClassFolders: "names"}, []string{"order of the labels"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder, _ := newFolder(t)
			k := must.Get(png.New(folder, tt.s, tt.o))(t)
			notes := k.Notes()
			if len(notes) != len(tt.want) {
				t.Fatalf("found the notes %q, expected %q", notes, tt.want)
			}
			for i, want := range tt.want {
				if !strings.Contains(notes[i], want) {
					t.Errorf("found the note %q, expected %q in it", notes[i], want)
				}
			}
		})
	}
}

var _ sink.Sizer = (*png.Sink)(nil)

func TestContract(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]png.Options{"images": {}, "metadata.csv": {MetadataCSV: true}} {
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
