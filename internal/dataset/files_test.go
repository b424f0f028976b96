package dataset

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/test/must"
)

func TestFiles(t *testing.T) {
	t.Parallel()
	dir := folder(t, append([]string{"left.idx 3 2", "right.idx 3 2", "emnist-letters-train-images-idx3-ubyte.gz 60000 28 28", "notes.txt=x",
		"lonely-images.idx 3 2 2", "blob 3", ".idx 3", "...idx 3", "qmnist-test-labels-idx1-ubyte 60000",
		"images.idx 2352", "labels.idx 3 1", "train-extra-labels-idx1-ubyte 60000"}, fourFiles...)...)
	for name, test := range map[string]struct {
		args    string // ParseInput after FOLDER/ was put before paths
		options Options
		want    string
		notes   []string
	}{
		"a pair":                         {"train-images-idx3-ubyte train-labels-idx1-ubyte", Options{}, "train/train-images/?: image=train-images-idx3-ubyte label=train-labels-idx1-ubyte", nil},
		"its order":                      {"train-labels-idx1-ubyte train-images-idx3-ubyte", Options{}, "train/train-labels/?: label=train-labels-idx1-ubyte image=train-images-idx3-ubyte", nil},
		"lone images":                    {"t10k-images-idx3-ubyte", Options{}, "test/t10k-images/?: image=t10k-images-idx3-ubyte", nil},
		"labels that look like a column": {"train-images-idx3-ubyte train-extra-labels-idx1-ubyte", Options{}, "train/train-images/?: image=train-images-idx3-ubyte label=train-extra-labels-idx1-ubyte", nil},
		"lone labels":                    {"t10k-labels-idx1-ubyte", Options{}, "test/t10k-labels/?: label=t10k-labels-idx1-ubyte", nil},
		"named":                          {"a=left.idx b=right.idx", Options{}, "/left/?: a=left.idx b=right.idx", nil},
		"one named":                      {"left.idx b=right.idx", Options{}, "/left/?: data=left.idx b=right.idx", nil},
		"no IDX name":                    {"blob", Options{}, "/blob/?: data=blob", nil},
		"a name of nothing":              {".idx", Options{}, "/data/?: data=.idx", nil},
		"a name of dots":                 {"...idx", Options{}, "/data/?: data=...idx", nil},
		"mixed splits": {"train-images-idx3-ubyte qmnist-test-labels-idx1-ubyte", Options{}, "/train-images/qmnist: image=train-images-idx3-ubyte label=qmnist-test-labels-idx1-ubyte",
			[]string{"different splits"}},
		"labels called so": {"t10k-images-idx3-ubyte label=t10k-labels-idx1-ubyte", Options{}, "test/t10k-images/?: image=t10k-images-idx3-ubyte label=t10k-labels-idx1-ubyte", nil},
		"standard input":   {"-", Options{}, "/stdin/?: data=-", nil},
		"images and stdin": {"train-images-idx3-ubyte label=-", Options{}, "train/train-images/?: image=train-images-idx3-ubyte label=-", nil},
		"by name":          {"emnist-letters-train-images-idx3-ubyte.gz", Options{}, "train/emnist-letters-train-images/emnist-letters: image=emnist-letters-train-images-idx3-ubyte.gz", nil},
		"--dataset":        {"blob", Options{Dataset: "mnist"}, "/blob/mnist: data=blob", nil},
		"--dataset none":   {"emnist-letters-train-images-idx3-ubyte.gz", Options{Dataset: "none"}, "train/emnist-letters-train-images/?: image=emnist-letters-train-images-idx3-ubyte.gz", nil},
		"--split": {"t10k-labels-idx1-ubyte", Options{Split: []string{"t10k", "test"}}, "test/t10k-labels/?: label=t10k-labels-idx1-ubyte",
			nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			splits := must.Get(Find(inputsIn(dir, test.args), &testProber{}, test.options))(t)
			if got := summaries(splits); !slices.Equal(got, []string{test.want}) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			checkNotes(t, splits, test.notes)
		})
	}
}

// inputsIn parses arguments whose paths are relative to dir.
func inputsIn(dir, args string) []Input {
	var inputs []Input
	for _, arg := range strings.Fields(args) {
		in := ParseInput(arg)
		if in.Path != source.Stdin {
			in.Path = filepath.Join(dir, in.Path)
		}
		inputs = append(inputs, in)
	}
	return inputs
}

func TestFilesErrors(t *testing.T) {
	t.Parallel()
	dir := folder(t, append([]string{"left.idx 3 2", "right.idx 3 2", "emnist-letters-train-labels-idx1-ubyte 3", "bad.idx=\x00\x00\x08\x03\x00",
		"swapped-images.idx 3", "swapped-labels.idx 3 28 28", "a.idx 3", "b.idx 3"}, fourFiles...)...)
	for name, test := range map[string]struct {
		args    string
		options Options
		want    error
		message string
		hint    string
	}{
		"one name twice":     {"left.idx right.idx", Options{}, fault.Usage, `would both be the column "data"`, "name them: left="},
		"two lists":          {"a.idx b.idx", Options{}, fault.Usage, `would both be the column "data"`, "name them: left="},
		"two splits":         {"train-labels-idx1-ubyte t10k-labels-idx1-ubyte", Options{}, fault.Usage, `would both be the column "label"`, "one split at a time"},
		"a given name twice": {"label=left.idx train-labels-idx1-ubyte", Options{}, fault.Usage, `would both be the column "label"`, "name them: image="},
		"swapped":            {"swapped-images.idx swapped-labels.idx", Options{}, ErrSwapped, "swapped-images.idx", "image=" + filepath.Join(dir, "swapped-labels.idx")},
		"swapped, in order":  {"swapped-labels.idx swapped-images.idx", Options{}, ErrSwapped, "swapped-images.idx", "image=" + filepath.Join(dir, "swapped-labels.idx")},
		"names swapped":      {"image=train-labels-idx1-ubyte label=train-images-idx3-ubyte", Options{}, ErrSwapped, "swapped", "image=" + filepath.Join(dir, "train-images-idx3-ubyte")},
		"the wrong data set": {"emnist-letters-train-labels-idx1-ubyte", Options{Dataset: "mnist"}, fault.Usage, "judging by the file names, this is emnist-letters, expected mnist", "--dataset none"},
		"not in the split":   {"train-labels-idx1-ubyte", Options{Split: []string{"test"}}, fault.Usage, `no split "test"`, "it has train"},
		"no split":           {"left.idx", Options{Split: []string{"test"}}, fault.Usage, `no split "test"`, "leave out --split"},
		"damaged":            {"bad.idx", Options{}, fault.Truncated, "bad.idx: at byte 5: the input ends inside the header", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Find(inputsIn(dir, test.args), &testProber{}, test.options)
			if !errors.Is(err, test.want) {
				t.Fatalf("got %v, want %v", err, test.want)
			}
			if !strings.Contains(err.Error(), test.message) || !strings.Contains(fault.HintOf(err), test.hint) {
				t.Errorf("got %q, hint %q, want %q, hint %q", err, fault.HintOf(err), test.message, test.hint)
			}
		})
	}
}

// Standard input can be read only once.
func TestFilesDoesNotProbeStreams(t *testing.T) {
	t.Parallel()
	inputs := []Input{{Path: source.Stdin, Name: "label"}}
	p := &testProber{}
	splits := must.Get(Find(inputs, p, Options{}))(t)
	if len(p.probed) > 0 {
		t.Errorf("probed %q", p.probed)
	}
	for _, f := range splits[0].Files {
		if len(f.Header.Dims) != 0 {
			t.Errorf("%s: header %v", f.Path, f.Header)
		}
	}
}

func TestFilesByLabels(t *testing.T) {
	t.Parallel()
	dir := folder(t, "l-train-labels.idx 60000", "p.idx 60000 28 28")
	p := &testProber{hashes: map[string]string{"l-train-labels.idx": published(t, "mnist", trainLabels)}}
	splits := must.Get(Find(inputsIn(dir, "image=p.idx l-train-labels.idx"), p, Options{}))(t)
	if want := "train/p/mnist: image=p.idx label=l-train-labels.idx"; summary(splits[0]) != want || splits[0].Evidence != "its labels" {
		t.Errorf("got %q by %q, want %q", summary(splits[0]), splits[0].Evidence, want)
	}
}
