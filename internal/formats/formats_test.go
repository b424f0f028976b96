package formats

import (
	"testing"
)

func TestLoadLineOfImages(t *testing.T) {
	t.Parallel()
	folder, _ := Named("png")
	if found, want := folder.LoadLine("out/train", nil, Options{Layout: "huggingface"}),
		`from datasets import load_dataset; data = load_dataset("imagefolder", data_dir="out/train", split="train")`; found != want {
		t.Errorf("found %s, expected %s", found, want)
	}
	f, _ := Named("parquet")
	const want = `from datasets import load_dataset; data = load_dataset("parquet", data_files="a.parquet", split="train")`
	if found := f.LoadLine("a.parquet", nil, Options{Layout: "huggingface"}); found != want {
		t.Errorf("found %s, expected %s", found, want)
	}
}
