package card

import (
	"testing"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// TestText has the keys that datasets read, as its own push_to_hub writes them: features, splits and configs.
func TestText(t *testing.T) {
	t.Parallel()
	got := string(Card{
		Name: "a: b\n|c", License: "MIT", Sources: []string{"x-idx3-ubyte", "y-idx1-ubyte"}, Version: "1.2.3",
		Schema: &schema.Schema{Columns: []source.Column{
			{Name: "image", DType: idx.Uint8, Shape: []int{28, 28}},
			{Name: "label", DType: idx.Uint8, Classes: []string{"", `T-shirt "/" top`, "no"}},
			{Name: "writer: id", DType: idx.Int32},
		}},
		Splits: []Split{{Name: "train", Rows: 900, Files: 2, Bytes: 12345}, {Name: "test", Rows: 100, Files: 1, Bytes: 655}},
	}.Text())
	const want = `---
pretty_name: "a: b\n|c"
task_categories:
- image-classification
size_categories:
- 1K<n<10K
dataset_info:
  features:
  - name: "image"
    dtype: image
  - name: "label"
    dtype:
      class_label:
        names:
          '0': "N/A"
          '1': "T-shirt \"/\" top"
          '2': "no"
  - name: "writer: id"
    dtype: int32
  splits:
  - name: "train"
    num_bytes: 12345
    num_examples: 900
  - name: "test"
    num_bytes: 655
    num_examples: 100
  download_size: 13000
  dataset_size: 13000
configs:
- config_name: default
  data_files:
  - split: "train"
    path: "data/train-*"
  - split: "test"
    path: "data/test-*"
---

# a: b  c

| split | rows | files | bytes |
|---|--:|--:|--:|
| train | 900 | 2 | 12345 |
| test | 100 | 1 | 655 |

License: MIT

Made by idxport 1.2.3 of x-idx3-ubyte, y-idx1-ubyte.

`
	if got != want {
		t.Errorf("found %s", got)
	}
}

func TestSizeCategory(t *testing.T) {
	t.Parallel()
	for rows, want := range map[int64]string{0: "n<1K", 999: "n<1K", 1000: "1K<n<10K", 60_000: "10K<n<100K", 8_100_000: "1M<n<10M", 1 << 40: "n>1B"} {
		if got := sizeCategory(rows); got != want {
			t.Errorf("%d rows: found %s, expected %s", rows, got, want)
		}
	}
}
