package formats

import "testing"

func TestLoadLineOfImages(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ format, path, want string }{
		{"png", "out/train", `load_dataset("imagefolder", data_dir="out/train", split="train")`},
		{"parquet", "a.parquet", `load_dataset("parquet", data_files="a.parquet", split="train")`},
	} {
		f, _ := Named(test.format)
		want := "from datasets import load_dataset; data = " + test.want
		if found := f.LoadLine(test.path, nil, Options{Layout: "huggingface"}); found != want {
			t.Errorf("found %s, expected %s", found, want)
		}
	}
}
