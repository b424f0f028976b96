package formats

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
)

// A million labels in a dictionary of one entry are a few bytes: the size of the values does not
// bound the size of the file.
func TestLeastSizeIsNoMoreThanTheFile(t *testing.T) {
	t.Parallel()
	s := &schema.Schema{Rows: 1 << 20, Columns: []source.Column{
		{Name: "image", DType: idx.Uint8, Shape: []int{2, 2}}, {Name: "label", DType: idx.Int32}}}
	f, _ := Named("parquet")
	if got := f.MinSize(s, Options{Compression: compressed.Codec{Name: "none"}}); got != 4<<20 {
		t.Errorf("found %d bytes, expected the size of the images", got)
	}
	if got := f.MinSize(s, Options{Compression: compressed.Codec{Name: "none"}, Layout: "huggingface"}); got != 0 {
		t.Errorf("found %d bytes in PNG files, expected 0: they compress", got)
	}
	for codec, o := range map[string]Options{"the default": {}, "gzip": {Compression: compressed.Codec{Name: "gzip"}}} {
		if got := f.MinSize(s, o); got != 0 {
			t.Errorf("found %d bytes with %s, expected 0: it compresses", got, codec)
		}
	}
}

func TestLoadLineOfImages(t *testing.T) {
	t.Parallel()
	folder, _ := Named("png")
	if found, want := folder.LoadLine("out/train", nil, Options{MetadataCSV: true}),
		`from datasets import load_dataset; data = load_dataset("imagefolder", data_dir="out/train", split="train")`; found != want {
		t.Errorf("found %s, expected %s", found, want)
	}
	f, _ := Named("parquet")
	const want = `from datasets import load_dataset; data = load_dataset("parquet", data_files="a.parquet", split="train")`
	if found := f.LoadLine("a.parquet", nil, Options{Layout: "huggingface"}); found != want {
		t.Errorf("found %s, expected %s", found, want)
	}
}

// In the layout columns of Parquet, a column of one value takes next to nothing.
func TestLeastSizeOfColumns(t *testing.T) {
	t.Parallel()
	f, _ := Named("parquet")
	s := &schema.Schema{Rows: 1 << 20, SourceRows: 1 << 20, Columns: []source.Column{{Name: "image", DType: idx.Uint8, Shape: []int{2, 2}}}}
	if got := f.MinSize(s, Options{Compression: compressed.Codec{Name: "none"}, Layout: "columns"}); got != 0 {
		t.Errorf("found %d bytes, expected 0", got)
	}
}

// TestLeastSizeOfImages checks that the bound is positive and not above the size of the file.
func TestLeastSizeOfImages(t *testing.T) {
	t.Parallel()
	s := &schema.Schema{Rows: 3, SourceRows: 3, Columns: []source.Column{{Name: "image", DType: idx.Uint8, Shape: []int{1, 1}}}}
	for _, name := range []string{"tar", "npy"} {
		f, _ := Named(name)
		var out bytes.Buffer
		k := must.Get(f.Open(Output{Writer: &out}, s, Options{}))(t)
		step := must.Get(k.Encode(context.Background(), schema.Batch{Rows: 3, Columns: [][]byte{{1, 2, 3}}}))(t)
		must.Do(t, errors.Join(step(), k.Close()))
		if least := f.MinSize(s, Options{}); least <= 0 || least > int64(out.Len()) {
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
