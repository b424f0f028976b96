package dataset

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/idxport/idxport/internal/fault"
)

func TestFiles(t *testing.T) {
	t.Parallel()
	const named, reversed = "emnist-letters-train-images-idx3-ubyte.gz", "label=" + labels + " image=" + images
	dir := folder(t, append([]string{"left.idx 3 2", "right.idx 3 2", named + " 60000 28 28", "blob 3", ".idx 3",
		"...idx 3", "qmnist-test-labels-idx1-ubyte 60000", "train-extra-labels-idx1-ubyte 60000"}, fourFiles...)...)
	for name, test := range map[string]struct {
		args    string // ParseInput after FOLDER/ was put before paths
		options Options
		want    string
	}{
		"a pair":      {args: images + " " + labels, want: "train/train-images/?: " + trainPair},
		"its order":   {args: labels + " " + images, want: "train/train-labels/?: " + reversed},
		"lone images": {args: "t10k-images-idx3-ubyte", want: "test/t10k-images/?: image=t10k-images-idx3-ubyte"},
		"labels that look like a column": {args: images + " train-extra-labels-idx1-ubyte",
			want: "train/train-images/?: image=" + images + " label=train-extra-labels-idx1-ubyte"},
		"named":             {args: "a=left.idx b=right.idx", want: "/left/?: a=left.idx b=right.idx"},
		"one named":         {args: "left.idx b=right.idx", want: "/left/?: data=left.idx b=right.idx"},
		"no IDX name":       {args: "blob", want: "/blob/?: data=blob"},
		"a name of nothing": {args: ".idx", want: "/data/?: data=.idx"},
		"a name of dots":    {args: "...idx", want: "/data/?: data=...idx"},
		"mixed splits": {args: "image=" + images + " label=qmnist-test-labels-idx1-ubyte",
			want: "/train-images/qmnist: image=" + images + " label=qmnist-test-labels-idx1-ubyte"},
		"labels called so": {args: images + " label=" + labels, want: "train/train-images/?: " + trainPair},
		"standard input":   {args: "-", want: "/stdin/?: data=-"},
		"images and stdin": {args: images + " label=-", want: "train/train-images/?: image=" + images + " label=-"},
		"by name":          {args: named, want: "train/emnist-letters-train-images/emnist-letters: image=" + named},
		"--dataset":        {args: "blob", options: Options{Dataset: "mnist"}, want: "/blob/mnist: data=blob"},
		"--dataset none": {args: named, options: Options{Dataset: "none"},
			want: "train/emnist-letters-train-images/?: image=" + named},
		"--split": {args: "t10k-labels-idx1-ubyte", options: Options{Split: []string{"t10k", "test"}},
			want: "test/t10k-labels/?: label=t10k-labels-idx1-ubyte"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkFind(t, dir, test.args, test.options, []string{test.want}, nil)
		})
	}
}

func TestFilesErrors(t *testing.T) {
	t.Parallel()
	const emnist = "emnist-letters-train-labels-idx1-ubyte"
	dir := folder(t, append([]string{"left.idx 3 2", "right.idx 3 2", emnist + " 3", "bad.idx=\x00\x00\x08\x03\x00",
		"swapped-images.idx 3", "swapped-labels.idx 3 28 28"}, fourFiles...)...)
	const twice, noSplit = "would both be the column ", `no split "test"`
	imageIs := func(name string) string { return "image=" + filepath.Join(dir, name) }
	testSplit := Options{Split: []string{"test"}}
	for name, test := range map[string]refusal{
		"one name twice": {args: "left.idx right.idx", want: fault.Usage, message: twice + `"data"`,
			hint: "name them: left="},
		"two splits": {args: labels + " t10k-labels-idx1-ubyte", want: fault.Usage, message: twice + `"label"`,
			hint: "of one split, or a folder, such as "},
		"mixed splits": {args: images + " t10k-labels-idx1-ubyte", want: fault.Usage,
			message: "different splits: " + images + ", t10k-l", hint: "image=FILE label="},
		"a given name twice": {args: "label=left.idx " + labels, want: fault.Usage, message: twice + `"label"`,
			hint: "name them: image="},
		"swapped": {args: "swapped-images.idx swapped-labels.idx", want: ErrSwapped, message: "swapped-images.idx",
			hint: imageIs("swapped-labels.idx")},
		"names swapped": {args: "image=" + labels + " label=" + images, want: ErrSwapped, message: "swapped",
			hint: imageIs(images)},
		"the wrong data set": {args: emnist, options: Options{Dataset: "mnist"}, want: fault.Usage,
			message: "judging by the file names, this is emnist-letters, expected mnist", hint: "--dataset none"},
		"not in the split": {args: labels, options: testSplit, want: fault.Usage, message: noSplit,
			hint: "it has train"},
		"no split": {args: "left.idx", options: testSplit, want: fault.Usage, message: noSplit,
			hint: "leave out --split"},
		"damaged": {args: "bad.idx", want: fault.Truncated,
			message: "bad.idx: at byte 5: the input ends inside the header"},
		"stdin twice":  {args: "a=- b=-", want: fault.Usage},
		"no such file": {args: "none", want: fs.ErrNotExist, message: filepath.Join(dir, "none")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.check(t, dir)
		})
	}
}
