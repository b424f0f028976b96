package png

import (
	"context"
	"path/filepath"
	"slices"
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

// written returns the folder that sink/png makes of table, whose labels have the names classes.
func written(t *testing.T, table source.Table, classes []string, o sinkpng.Options) string {
	t.Helper()
	target := filepath.Join(t.TempDir(), "test")
	set := must.Get(publish.Prepare([]publish.Target{{Path: target, Folder: true}}, publish.Options{}))(t)
	defer set.Discard()
	s := schema.Of(table)
	if classes != nil {
		s.Columns[1].Classes = classes
	}
	k := must.Get(sinkpng.New(set.Folder(0), s, o))(t)
	if _, err := pipeline.Run(context.Background(), table, s, []sink.Sink{k}, pipeline.Options{}); err != nil {
		t.Fatal(err)
	}
	must.Do(t, set.Commit())
	return target
}

var fashion = []string{"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag",
	"Ankle boot"}

func TestWhatTheSinkWritesComesBack(t *testing.T) {
	t.Parallel()
	const images = "image=testdata/fashion-mnist/t10k-images-idx3-ubyte.gz"
	const labels = "label=testdata/fashion-mnist/t10k-labels-idx1-ubyte.gz"
	for _, c := range []struct {
		about   string
		files   []string
		classes []string
		o       sinkpng.Options
	}{
		{"class folders by label", []string{images, labels}, nil, sinkpng.Options{}},
		{"no labels", []string{images}, nil, sinkpng.Options{}},
		{"metadata.csv has the names", []string{images, labels}, fashion, sinkpng.Options{Layout: "huggingface"}},
		{"class folders by name", []string{images, labels}, fashion, sinkpng.Options{Layout: "names"}},
		{"colours", []string{"image=testdata/tiny/uint8-2x5x7x3.idx"}, nil, sinkpng.Options{}},
		{"alpha", []string{"image=testdata/tiny/uint8-2x5x7x4.idx"}, nil, sinkpng.Options{}},
		{"16 bits", []string{"image=testdata/tiny/int16-3x7x9-nonnegative.idx"}, nil, sinkpng.Options{}},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			table := open(t, written(t, sourcetest.OpenIDX(t, c.files...), c.classes, c.o), source.ReadOptions{})
			columns, data := table.Columns(), must.Get(sourcetest.ReadAll(table, 1000))(t)
			sourcetest.Same(t, columns, data, c.files...)
			if len(columns) > 1 && !slices.Equal(columns[1].Classes, c.classes) {
				t.Errorf("found the classes %q, expected %q", columns[1].Classes, c.classes)
			}
		})
	}
}
