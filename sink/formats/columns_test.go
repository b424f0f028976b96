package formats

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// TestLeastSizeOfImages: what is said before is no more than the file, and not nothing.
func TestLeastSizeOfImages(t *testing.T) {
	t.Parallel()
	s := &schema.Schema{Rows: 3, Source: 3, Columns: []source.Column{{Name: "image", DType: idx.Uint8, Shape: []int{1, 1}}}}
	for _, name := range []string{"tar", "npy"} {
		f, _ := Named(name)
		var out bytes.Buffer
		k, err := f.Open(Output{Writer: &out}, s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		step, err := k.Encode(context.Background(), schema.Batch{Rows: 3, Columns: [][]byte{{1, 2, 3}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(step(), k.Close()); err != nil {
			t.Fatal(err)
		}
		if least := f.LeastSize(s, Options{}); least <= 0 || least > int64(out.Len()) {
			t.Errorf("%s: found %d bytes, expected at most the file's %d", name, least, out.Len())
		}
	}
}

func TestLoadLines(t *testing.T) {
	t.Parallel()
	image := source.Column{Name: "image", DType: idx.Uint8, Shape: []int{28, 28}}
	label := source.Column{Name: "label", DType: idx.Uint8}
	for _, test := range []struct {
		format, want string
		columns      []source.Column
	}{
		{"npy", `import numpy as np; array = np.load("a", mmap_mode="r")`, []source.Column{image}},
		{"tar", `import webdataset as wds; samples = wds.WebDataset("a", shardshuffle=False).decode("pil").to_tuple("png", "cls")`,
			[]source.Column{image, label}},
		{"tar", `import webdataset as wds; samples = wds.WebDataset("a", shardshuffle=False).decode("pil").to_tuple("png")`,
			[]source.Column{image}},
	} {
		f, _ := Named(test.format)
		if got := f.LoadLine("a", &schema.Schema{Columns: test.columns}, Options{}); got != test.want {
			t.Errorf("found %s, expected %s", got, test.want)
		}
	}
}
