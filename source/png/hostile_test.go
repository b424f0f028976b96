package png

import (
	"errors"
	"image"
	"image/color"
	stdpng "image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
)

// FuzzMetadata reads any metadata.csv beside images: it is refused, or every image has a label and every label that has a name is one of the names.
func FuzzMetadata(f *testing.F) {
	f.Add([]byte("file_name,label\nx/a.png,1\ny/b.png,2\n"))
	f.Add([]byte("\xef\xbb\xbffile_name,label,class\nx/a.png,1,cat\ny/b.png,-2147483648,\"d\"\"og\"\n"))
	f.Add([]byte("class,label,file_name\ncat,2147483647,../x/a.png\ncat,0,y/b.png\ncat,0,y/b.png\n"))
	f.Add([]byte("file_name,label\n\"x/a.png,1\n"))
	good := picturesOf(f, "x/a.png", "y/b.png")
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(good)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, metadataName), text, 0o666); err != nil {
			t.Fatal(err)
		}
		table, err := Open(dir, source.ReadOptions{})
		if err != nil {
			if !errors.Is(err, fault.Malformed) {
				t.Errorf("found %v", err)
			}
			return
		}
		defer table.Close()
		data, err := readAll(table, 10)
		if err != nil || table.Rows() != 2 || len(data) != 2 || len(data[1]) != 2*table.Columns()[1].DType.Size() {
			t.Errorf("found %d rows, %d columns, %v", table.Rows(), len(data), err)
		}
		if n := len(table.Columns()[1].Classes); n > maxClasses {
			t.Errorf("found %d names of classes", n)
		}
	})
}

// picturesOf makes a folder of images of 2×1.
func picturesOf(f *testing.F, names ...string) string {
	f.Helper()
	dir := f.TempDir()
	m := image.NewGray(image.Rect(0, 0, 2, 1))
	m.Set(1, 0, color.White)
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			f.Fatal(err)
		}
		out, err := os.Create(path)
		if err == nil {
			err = errors.Join(stdpng.Encode(out, m), out.Close())
		}
		if err != nil {
			f.Fatal(err)
		}
	}
	return dir
}
