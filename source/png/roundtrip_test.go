package png

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/idxport/idxport/internal/publish"
	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	sinkpng "github.com/idxport/idxport/sink/png"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

// joined joins IDX files of the repository: images, and labels unless that is empty.
func joined(t *testing.T, image, label string, classes []string) source.Table {
	t.Helper()
	var parts []source.Table
	for _, f := range []struct {
		path string
		o    source.Options
	}{{image, source.Options{Name: "image"}}, {label, source.Options{Name: "label", Classes: classes}}} {
		if f.path == "" {
			continue
		}
		part := must.Get(source.OpenIDX("../../"+f.path, f.o))(t)
		parts = append(parts, part)
	}
	all := must.Get(source.Join(false, parts...))(t)
	t.Cleanup(func() { all.Close() })
	return all
}

// written returns the folder that sink/png makes of table.
func written(t *testing.T, table source.Table, o sinkpng.Options) string {
	t.Helper()
	target := filepath.Join(t.TempDir(), "test")
	set := must.Get(publish.Prepare([]publish.Target{{Path: target, Folder: true}}, publish.Options{}))(t)
	defer set.Discard()
	s := schema.Of(table)
	k := must.Get(sinkpng.New(set.Folder(0), s, o))(t)
	if _, err := pipeline.Run(context.Background(), table, s, []sink.Sink{k}, pipeline.Options{}); err != nil {
		t.Fatal(err)
	}
	must.Do(t, set.Commit())
	return target
}

var fashion = []string{"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"}

func TestWhatTheSinkWritesComesBack(t *testing.T) {
	t.Parallel()
	const images, labels = "testdata/fashion-mnist/t10k-images-idx3-ubyte.gz", "testdata/fashion-mnist/t10k-labels-idx1-ubyte.gz"
	for _, c := range []struct {
		about         string
		image, label  string
		classes, want []string
		o             sinkpng.Options
	}{
		{"class folders by label", images, labels, nil, nil, sinkpng.Options{}},
		{"no labels", images, "", nil, nil, sinkpng.Options{}},
		{"metadata.csv has the names", images, labels, fashion, fashion, sinkpng.Options{MetadataCSV: true}},
		{"class folders by name and metadata.csv", images, labels, fashion, fashion, sinkpng.Options{MetadataCSV: true, ClassFolders: "names"}},
		{"colours", "testdata/tiny/uint8-2x5x7x3.idx", "", nil, nil, sinkpng.Options{}},
		{"alpha", "testdata/tiny/uint8-2x5x7x4.idx", "", nil, nil, sinkpng.Options{}},
		{"16 bits", "testdata/tiny/int16-3x7x9-nonnegative.idx", "", nil, nil, sinkpng.Options{}},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			table := open(t, written(t, joined(t, c.image, c.label, c.classes), c.o), source.ReadOptions{})
			expectSame(t, table, joined(t, c.image, c.label, nil))
			if c.label != "" && fmt.Sprint(table.Columns()[1].Classes) != fmt.Sprint(c.want) {
				t.Errorf("found the classes %q, expected %q", table.Columns()[1].Classes, c.want)
			}
		})
	}
}

// expectSame compares table with the IDX files that it was made from.
func expectSame(t *testing.T, table *Table, original source.Table) {
	t.Helper()
	got := must.Get(sourcetest.ReadAll(table, 1000))(t)
	want := must.Get(sourcetest.ReadAll(original, 1000))(t)
	if len(got) != len(want) || table.Rows() != original.Rows() {
		t.Fatalf("found %d columns of %d rows, expected %d of %d", len(got), table.Rows(), len(want), original.Rows())
	}
	for i, c := range original.Columns() {
		found := table.Columns()[i]
		if found.Name != c.Name || found.DType != c.DType || fmt.Sprint(found.Shape) != fmt.Sprint(c.Shape) {
			t.Errorf("found %s %v %v, expected %s %v %v", found.Name, found.DType, found.Shape, c.Name, c.DType, c.Shape)
		}
		if !bytes.Equal(got[i], want[i]) {
			t.Errorf("%s has other values", c.Name)
		}
	}
}
