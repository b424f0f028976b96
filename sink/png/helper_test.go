package png_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	stdpng "image/png"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/png"
	"github.com/idxport/idxport/sink/publish"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// newFolder returns a folder to fill, and what publishes it and reads its files, by name relative to the folder.
func newFolder(t testing.TB) (*publish.Folder, func() map[string][]byte) {
	t.Helper()
	target := filepath.Join(t.TempDir(), "train")
	set, err := publish.Prepare([]publish.Target{{Path: target, Folder: true}}, publish.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(set.Discard)
	return set.Folder(0), func() map[string][]byte {
		t.Helper()
		if err := set.Commit(); err != nil {
			t.Fatal(err)
		}
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

// describe is the schema of a whole table.
func describe(rows int64, columns ...source.Column) *schema.Schema {
	return &schema.Schema{Columns: columns, Rows: rows, Source: rows}
}

func images(d idx.DType, shape ...int) source.Column {
	return source.Column{Name: "image", DType: d, Shape: shape}
}

func labels(d idx.DType, classes ...string) source.Column {
	return source.Column{Name: "label", DType: d, Classes: classes}
}

// write writes one batch, and returns the error of the first call that has one.
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

// convert writes one batch, which must succeed, and returns the files without the manifest.
func convert(t *testing.T, s *schema.Schema, o png.Options, first int64, data ...[]byte) map[string][]byte {
	t.Helper()
	folder, finish := newFolder(t)
	if err := write(folder, s, o, first, data...); err != nil {
		t.Fatal(err)
	}
	files := finish()
	delete(files, "_manifest.json")
	return files
}

// decode decodes a file, which must end with the image.
func decode(t *testing.T, file []byte) image.Image {
	t.Helper()
	r := bytes.NewReader(file)
	m, err := stdpng.Decode(r)
	if err != nil {
		t.Fatal(err)
	}
	if r.Len() > 0 {
		t.Errorf("found %d bytes after the image", r.Len())
	}
	return m
}

// names lists the names of files in order, with spaces between.
func names(files map[string][]byte) string {
	return strings.Join(slices.Sorted(maps.Keys(files)), " ")
}

// sequence is n bytes that differ from their neighbours, none of them 0.
func sequence(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(1 + i*37%255)
	}
	return data
}

// little are elements of 16 or 32 bits as batches have them.
func little[T int16 | int32 | float32](values ...T) []byte {
	var buf bytes.Buffer
	_ = binary.Write(&buf, binary.LittleEndian, values) // a bytes.Buffer takes everything
	return buf.Bytes()
}
