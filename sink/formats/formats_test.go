package formats

import (
	"testing"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/compressed"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A million labels in a dictionary of one entry are runs of a few bytes: the size of the values says nothing about the file's.
func TestLeastSizeIsNoMoreThanTheFile(t *testing.T) {
	t.Parallel()
	s := &schema.Schema{Rows: 1 << 20, Columns: []source.Column{
		{Name: "image", DType: idx.Uint8, Shape: []int{2, 2}}, {Name: "label", DType: idx.Int32}}}
	f, _ := Named("parquet")
	if got := f.LeastSize(s, Options{Compression: compressed.Codec{Name: "none"}}); got != 4<<20 {
		t.Errorf("found %d bytes, expected those of the images", got)
	}
	if got := f.LeastSize(s, Options{Compression: compressed.Codec{Name: "none"}, Layout: "huggingface"}); got != 0 {
		t.Errorf("found %d bytes in PNG files, expected 0: they compress", got)
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
	s := &schema.Schema{Rows: 1 << 20, Source: 1 << 20, Columns: []source.Column{{Name: "image", DType: idx.Uint8, Shape: []int{2, 2}}}}
	if got := f.LeastSize(s, Options{Compression: compressed.Codec{Name: "none"}, Layout: "columns"}); got != 0 {
		t.Errorf("found %d bytes, expected 0", got)
	}
}
