package png

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
)

// What is no folder of images, and what stands in one where an image or a folder should.
func TestOddFolders(t *testing.T) {
	t.Parallel()
	good := pixels(t, 3, 2, grey)
	folder := func(name string) func(string) error {
		return func(dir string) error { return os.Mkdir(filepath.Join(dir, name), 0o777) }
	}
	for name, c := range map[string]struct {
		files map[string][]byte
		also  func(dir string) error
		says  string // empty: it is taken
		rows  int64
	}{
		"a folder called as an image": {map[string][]byte{"a.png": good}, folder("b.png"), "", 1},
		"an empty class folder":       {map[string][]byte{"0/a.png": good}, folder("1"), "", 1},
		"a folder of notes":           {map[string][]byte{"a.png": good, "notes/x.txt": {1}}, nil, "", 1},
		"hidden files":                {map[string][]byte{"a.png": good, ".b.png": {1}, "__MACOSX/a.png": {1}, ".cache/c.png": {1}}, nil, "", 1},
		"metadata.csv is a folder":    {map[string][]byte{"0/a.png": good}, folder(metadataName), "", 1},
		"an empty metadata.csv":       {map[string][]byte{"0/a.png": good, metadataName: {}}, nil, "", 1},
		"metadata.csv of a quote":     {map[string][]byte{"0/a.png": good, metadataName: []byte("\"file_name,label\n")}, nil, metadataName, 0},
		"metadata.csv with a mark":    {map[string][]byte{"a.png": good, metadataName: []byte("\xef\xbb\xbffile_name,label\na.png,7\n")}, nil, "", 1},
		"a quoted mark":               {map[string][]byte{"a.png": good, metadataName: []byte("\xef\xbb\xbf\"file_name\",\"label\"\na.png,7\n")}, nil, "", 1},
		"images below a class folder": {map[string][]byte{"0/a.png": good, "0/more/b.png": good}, nil, "found 1 images in 0/more", 0},
		"notes below a class folder":  {map[string][]byte{"0/a.png": good, "0/more/b.txt": {1}}, nil, "", 1},
		"labels that are text":        {map[string][]byte{"0/a.png": good, metadataName: []byte("file_name,label\n0/a.png,cat\n")}, nil, "", 1},
		"lines of other files":        {map[string][]byte{"x/a.png": good, metadataName: []byte("file_name,label\ny/b.png,3\nx/a.png,4\n")}, nil, "", 1},
		"a class folder without line": {map[string][]byte{"x/a.png": good, "y/b.png": good, metadataName: []byte("file_name,label\nx/a.png,4\n")}, nil, "no label for the class folder y", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := makeFolder(t, c.files)
			if c.also != nil {
				if err := c.also(dir); err != nil {
					t.Fatal(err)
				}
			}
			table, err := Open(dir, source.ReadOptions{})
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("found %v, expected %q", err, c.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer table.Close()
			if _, err := readAll(table, 10); err != nil || table.Rows() != c.rows {
				t.Errorf("found %d rows, expected %d, and %v", table.Rows(), c.rows, err)
			}
		})
	}
	file := filepath.Join(t.TempDir(), "x.png")
	if err := os.WriteFile(file, good, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, file + " is not there"} {
		if _, err := Open(path, source.ReadOptions{}); err == nil {
			t.Errorf("%s was opened", path)
		}
	}
}

// Folders without images have no label that matters: they leave numbers what they are, and are named where folders are counted.
func TestFoldersWithoutImages(t *testing.T) {
	t.Parallel()
	good := pixels(t, 3, 2, grey)
	for name, c := range map[string]struct {
		files map[string][]byte
		want  []byte // labels
		note  string
	}{
		"numbers":       {map[string][]byte{"5/0.png": good, "10/1.png": good, "tmp/x.txt": {1}}, []byte{5, 10}, "labels are the names of the class folders"},
		"names":         {map[string][]byte{"cat/0.png": good, "dog/1.png": good, "annotations/x.xml": {1}}, []byte{1, 2}, "annotations has no images, and is counted"},
		"text as label": {map[string][]byte{"0.png": good, metadataName: []byte("file_name,label\n0.png,cat\n")}, nil, "as those of metadata.csv are not all integers"},
	} {
		table := open(t, makeFolder(t, c.files), source.ReadOptions{})
		data, err := readAll(table, 10)
		if err != nil {
			t.Fatal(err)
		}
		var found []byte
		if len(data) > 1 {
			found = data[1]
		}
		if notes := strings.Join(table.Notes(), "\n"); !slices.Equal(found, c.want) || !strings.Contains(notes, c.note) {
			t.Errorf("%s: found %d, %q, expected %d, %q", name, found, notes, c.want, c.note)
		}
	}
}

// A class with two names has none, and neither has any other; names of labels that could not be told apart from numbers of rows are none.
func TestNamesInMetadata(t *testing.T) {
	t.Parallel()
	good := pixels(t, 3, 2, grey)
	for name, c := range map[string]struct {
		lines string
		want  []string
	}{
		"names":           {"a.png,0,cat\nb.png,2,dog\n", []string{"cat", "", "dog"}},
		"two of a label":  {"a.png,0,cat\nb.png,0,dog\n", nil},
		"none of a label": {"a.png,0,\nb.png,1,dog\n", []string{"", "dog"}},
		"below 0":         {"a.png,-1,cat\nb.png,1,dog\n", nil},
		"too far":         {fmt.Sprintf("a.png,%d,cat\nb.png,1,dog\n", maxClasses), nil},
	} {
		table := open(t, makeFolder(t, map[string][]byte{"a.png": good, "b.png": good, metadataName: []byte("file_name,label,class\n" + c.lines)}), source.ReadOptions{})
		if found := table.Columns()[1].Classes; !slices.Equal(found, c.want) {
			t.Errorf("%s: found %q, expected %q", name, found, c.want)
		}
	}
}

// What happens to the files after they were listed: gone, replaced by a folder, grown beyond any image.
func TestFilesThatChange(t *testing.T) {
	t.Parallel()
	good := pixels(t, 3, 2, grey)
	for name, c := range map[string]struct {
		change func(path string) error
		kind   error
	}{
		"gone":     {os.Remove, os.ErrNotExist},
		"a folder": {func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o777)) }, nil},
		"grown":    {func(path string) error { return os.WriteFile(path, slices.Concat(good, make([]byte, 10<<20)), 0o666) }, fault.Unsupported},
		"cut":      {func(path string) error { return os.Truncate(path, 40) }, fault.Malformed},
	} {
		for _, class := range []string{"", "0"} {
			t.Run(name+" "+class, func(t *testing.T) {
				t.Parallel()
				last := filepath.ToSlash(filepath.Join(class, "b.png"))
				dir := makeFolder(t, map[string][]byte{filepath.ToSlash(filepath.Join(class, "a.png")): good, last: good})
				table := open(t, dir, source.ReadOptions{})
				if err := c.change(filepath.Join(dir, filepath.FromSlash(last))); err != nil {
					t.Fatal(err)
				}
				_, err := readAll(table, 1)
				if err == nil || c.kind != nil && !errors.Is(err, c.kind) || !strings.Contains(err.Error(), "b.png") {
					t.Errorf("found %v, expected %v about b.png", err, c.kind)
				}
			})
		}
	}
	table := open(t, makeFolder(t, map[string][]byte{"a.png": good}), source.ReadOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := table.Read(ctx, &source.Raw{Cap: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v", err)
	}
}
