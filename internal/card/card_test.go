package card

import (
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/layout"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
)

// TestText checks the keys that the datasets library reads: features, splits and configs, as its
// push_to_hub writes them.
func TestText(t *testing.T) {
	t.Parallel()
	got := string(Card{
		Name: "a: b\n|c", License: "MIT", Sources: []string{"x-idx3-ubyte", "y-idx1-ubyte"}, Version: "1.2.3",
		Features: layout.Features(&schema.Schema{Columns: []source.Column{
			image, {Name: "label", DType: idx.Uint8, Classes: []string{"", `T-shirt "/" top`, "no"}},
			{Name: "writer: id", DType: idx.Int32},
		}}),
		Splits: []Split{
			{Name: "train", Rows: 900, Files: 2, Bytes: 12345}, {Name: "test", Rows: 100, Files: 1, Bytes: 655}},
	}.Text())
	const want = `---
pretty_name: "a: b\n|c"
task_categories:
- image-classification
license: "mit"
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

var image = source.Column{Name: "image", DType: idx.Uint8, Shape: []int{28, 28}}

// TestMerge checks that the card has the columns of every split.
func TestMerge(t *testing.T) {
	t.Parallel()
	label := source.Column{Name: "label", DType: idx.Uint8, Classes: []string{"cat", "dog"}}
	unnamed, reordered, float := label, label, label
	unnamed.Classes, reordered.Classes, float.DType = nil, []string{"dog", "cat"}, idx.Float32
	for _, test := range []struct {
		name          string
		first, second []source.Column
		want          int // 0: refused
	}{
		{"the same", []source.Column{image, label}, []source.Column{image, label}, 2},
		{"the second has no labels", []source.Column{image, label}, []source.Column{image}, 2},
		{"the first has no labels", []source.Column{image}, []source.Column{image, label}, 2},
		{"names in one", []source.Column{image, label}, []source.Column{image, unnamed}, 0},
		{"names in another order", []source.Column{image, label}, []source.Column{image, reordered}, 0},
		{"other numbers", []source.Column{image, unnamed}, []source.Column{image, float}, 0},
	} {
		first := must.Get(Merge(nil, &schema.Schema{Columns: test.first}))(t)
		all, err := Merge(first, &schema.Schema{Columns: test.second})
		if len(all) != test.want || (err != nil) != (test.want == 0) {
			t.Errorf("%s: found %v, %v, expected %d features", test.name, all, err, test.want)
		}
	}
}

// Only images with class labels are a task of classification.
func TestTask(t *testing.T) {
	t.Parallel()
	label := source.Column{Name: "label", DType: idx.Uint8, Classes: []string{"a", "b"}}
	number := source.Column{Name: "label", DType: idx.Int32}
	for _, c := range []struct {
		columns []source.Column
		want    bool
	}{
		{[]source.Column{image, label}, true},
		{[]source.Column{image}, false},
		{[]source.Column{label}, false},
		{[]source.Column{image, number}, false},
	} {
		text := string(Card{Name: "x", Features: layout.Features(&schema.Schema{Columns: c.columns})}.Text())
		if got := strings.Contains(text, "image-classification"); got != c.want {
			t.Errorf("%v: found %v, expected %v in\n%s", c.columns, got, c.want, text)
		}
	}
}

// A card with a control character is not YAML (1.2.2, section 5.1).
func TestQuoted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": `""`, "a: b": `"a: b"`, "é\"": `"é\""`, "h\x7f": `"h\u007f"`, "\u0085\u009f": `"\u0085\u009f"`,
		"\u00a0": "\"\u00a0\"", "\n": `"\n"`,
	} {
		if got := quoted(text); got != want {
			t.Errorf("%q: found %s, expected %s", text, got, want)
		}
	}
}

func TestSizeCategory(t *testing.T) {
	t.Parallel()
	for rows, want := range map[int64]string{0: "n<1K", 999: "n<1K", 1000: "1K<n<10K", 60_000: "10K<n<100K",
		8_100_000: "1M<n<10M", 1 << 40: "n>1B"} {
		if got := sizeCategory(rows); got != want {
			t.Errorf("%d rows: found %s, expected %s", rows, got, want)
		}
	}
}
