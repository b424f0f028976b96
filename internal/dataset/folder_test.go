package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
)

func TestFolder(t *testing.T) {
	t.Parallel()
	emnist := []string{
		"emnist-letters-train-images-idx3-ubyte.gz 9 28 28", "emnist-letters-train-labels-idx1-ubyte.gz 9",
		"emnist-letters-test-images-idx3-ubyte.gz 4 28 28", "emnist-letters-test-labels-idx1-ubyte.gz 4",
		"emnist-letters-mapping.txt=1 65 97",
	}
	const stray = "other.idx 3"
	for name, test := range map[string]struct {
		files   []string
		options Options
		want    []string
		notes   []string // parts of notes; none other than these
	}{
		"four files": {fourFiles, Options{}, []string{
			"train/FOLDER/?: image=train-images-idx3-ubyte label=train-labels-idx1-ubyte",
			"test/FOLDER/?: image=t10k-images-idx3-ubyte label=t10k-labels-idx1-ubyte"}, nil},
		"--split t10k": {fourFiles, Options{Split: []string{"T10K"}}, []string{
			"test/FOLDER/?: image=t10k-images-idx3-ubyte label=t10k-labels-idx1-ubyte"}, nil},
		"--dataset": {fourFiles[2:], Options{Dataset: "kmnist"}, []string{
			"test/FOLDER/kmnist: image=t10k-images-idx3-ubyte label=t10k-labels-idx1-ubyte"}, nil},
		"dots": {[]string{"train-images.idx3-ubyte 2 3 3", "train-labels.idx1-ubyte 2"}, Options{}, []string{
			"train/FOLDER/?: image=train-images.idx3-ubyte label=train-labels.idx1-ubyte"}, nil},
		".idx after the published names": {[]string{"train-images-idx3-ubyte.idx.zst 5 2 2", "train-labels-idx1-ubyte.idx 5"}, Options{}, []string{
			"train/FOLDER/?: image=train-images-idx3-ubyte.idx.zst label=train-labels-idx1-ubyte.idx"}, nil},
		"emnist": {emnist, Options{}, []string{
			"train/emnist-letters/emnist-letters: image=emnist-letters-train-images-idx3-ubyte.gz label=emnist-letters-train-labels-idx1-ubyte.gz",
			"test/emnist-letters/emnist-letters: image=emnist-letters-test-images-idx3-ubyte.gz label=emnist-letters-test-labels-idx1-ubyte.gz"}, nil},
		"--dataset none": {emnist[:2], Options{Dataset: "none"}, []string{
			"train/emnist-letters/?: image=emnist-letters-train-images-idx3-ubyte.gz label=emnist-letters-train-labels-idx1-ubyte.gz"}, nil},
		"qmnist": {[]string{
			"qmnist-test-images-idx3-ubyte.gz 5 28 28", "qmnist-test-labels-idx1-ubyte.gz 5", "qmnist-test-labels-idx2-int.gz 5 8",
			"qmnist-test-labels.tsv.gz=7	4", "xnist-images-idx3-ubyte 9 28 28", "xnist-labels-idx2-int 9 8"}, Options{}, []string{
			"test/qmnist/qmnist: image=qmnist-test-images-idx3-ubyte.gz label=qmnist-test-labels-idx2-int.gz",
			"nist/xnist/qmnist: image=xnist-images-idx3-ubyte label=xnist-labels-idx2-int"},
			[]string{"skipped qmnist-test-labels-idx1-ubyte.gz: qmnist-test-labels-idx2-int.gz has the same labels and more"}},
		"qmnist's plain labels": {[]string{"qmnist-test-labels-idx1-ubyte.gz 5"}, Options{}, []string{
			"test/qmnist/qmnist: label=qmnist-test-labels-idx1-ubyte.gz"}, []string{"no images found for qmnist-test-labels-idx1-ubyte.gz"}},
		"kannada": {[]string{
			"X_kannada_MNIST_train-idx3-ubyte.gz 6 28 28", "y_kannada_MNIST_train-idx1-ubyte.gz 6",
			"X_dig_MNIST-idx3-ubyte.gz 3 28 28", "y_dig_MNIST-idx1-ubyte.gz 3"}, Options{}, []string{
			"train/kannada-mnist/kannada-mnist: image=X_kannada_MNIST_train-idx3-ubyte.gz label=y_kannada_MNIST_train-idx1-ubyte.gz",
			"dig/dig-mnist/kannada-mnist: image=X_dig_MNIST-idx3-ubyte.gz label=y_dig_MNIST-idx1-ubyte.gz"}, nil},
		"plain and compressed": {slices.Concat(fourFiles[:2], []string{"train-images-idx3-ubyte.gz 60000 28 28", "train-labels-idx1-ubyte.gz 60000"}),
			Options{}, []string{"train/FOLDER/?: image=train-images-idx3-ubyte label=train-labels-idx1-ubyte"},
			[]string{"train-images-idx3-ubyte is read, and not train-images-idx3-ubyte.gz,", "train-labels-idx1-ubyte is read, and not train-labels-idx1-ubyte.gz,"}},
		"a bad twin": {[]string{"train-labels-idx1-ubyte.gz=<html>", "train-labels-idx1-ubyte 7"}, Options{},
			[]string{"train/FOLDER/?: label=train-labels-idx1-ubyte"}, []string{"train-labels-idx1-ubyte.gz: at byte 0: found an HTML", "no images found"}},
		"other files": {[]string{"README.md=x", "a.csv=1,2", "training.pt=x", ".hidden-idx1-ubyte=x", ".train.idxport-1234.partial=x",
			".train.parquet.idxport=", "k49-train-imgs.npz=PK", "labels.txt=a", "images=x", "raw/foo-idx1-ubyte=x", "pack.idx=\xfftOc....", "t10k-images-idx3-ubyte 1 2 2"},
			Options{}, []string{"test/t10k-images/?: image=t10k-images-idx3-ubyte"}, []string{"skipped, not IDX: ", "no labels found for t10k"}},
		"formats lost": {[]string{"test10k-labels 5", "test10k-patterns 5 28 28"}, Options{},
			[]string{"test10k/FOLDER/?: image=test10k-patterns label=test10k-labels"}, nil},
		"tables without splits": {[]string{"My_A.idx 3 2", "b-images.idx 5 2 2", "b-labels.idx 5", "images.idx 1 2 2"}, Options{},
			[]string{"/images/?: image=images.idx", "/b/?: image=b-images.idx label=b-labels.idx", "/My_A/?: data=My_A.idx"}, []string{"no labels found for images.idx"}},
		"a stray beside": {append([]string{stray}, fourFiles[:2]...), Options{}, []string{
			"train/FOLDER/?: image=train-images-idx3-ubyte label=train-labels-idx1-ubyte", "/other/?: data=other.idx"}, nil},
		"--dataset among several": {slices.Concat(emnist, fourFiles, []string{"emnist-digits-train-labels-idx1-ubyte 2"}), Options{Dataset: "emnist-digits"},
			[]string{"train/emnist-digits/emnist-digits: label=emnist-digits-train-labels-idx1-ubyte"}, []string{"no images found"}},
		"--dataset for the files without a prefix": {slices.Concat(emnist, fourFiles[:2], []string{stray}), Options{Dataset: "mnist"},
			[]string{"train/FOLDER/mnist: image=train-images-idx3-ubyte label=train-labels-idx1-ubyte"}, nil},
		"unselected splits are not looked at": {slices.Concat(fourFiles[:2], []string{"t10k-images-idx3-ubyte=<html>"}), Options{Split: []string{"train"}},
			[]string{"train/FOLDER/?: image=train-images-idx3-ubyte label=train-labels-idx1-ubyte"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t, test.files...)
			splits := must.Get(Find([]Input{{Path: dir}}, &testProber{}, test.options))(t)
			for i := range test.want {
				test.want[i] = strings.ReplaceAll(test.want[i], "FOLDER", filepath.Base(dir))
			}
			if got := summaries(splits); !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
			checkNotes(t, splits, test.notes)
		})
	}
}

// checkNotes requires one note for every part, and no other.
func checkNotes(t *testing.T, splits []Split, parts []string) {
	t.Helper()
	all := notes(splits)
	for _, part := range parts {
		if !strings.Contains(all, part) {
			t.Errorf("no note %q in\n%s", part, all)
		}
	}
	lines := 0
	if all != "" {
		lines = 1 + strings.Count(all, "\n")
	}
	if lines != len(parts) {
		t.Errorf("got %d notes, want %d:\n%s", lines, len(parts), all)
	}
}

func TestFolderErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files   []string
		options Options
		want    error
		message []string // parts of the message
		hint    string   // part of the hint
	}{
		"empty":      {nil, Options{}, fault.NotFound, []string{": found no IDX files"}, "train-images-idx3-ubyte.gz"},
		"subfolders": {[]string{"MNIST/raw/train-images-idx3-ubyte 1 2 2", "x/y/z/t10k-images-idx3-ubyte 1 2 2"}, Options{}, fault.NotFound, nil, filepath.Join("MNIST", "raw")},
		"one index":  {[]string{"pack.idx=\xfftOc...."}, Options{}, fault.NotFound, []string{"skipped, not IDX: ", "pack.idx: at byte 0: "}, ""},
		"dash and dot": {[]string{"train-images-idx3-ubyte 1 2 2", "train-images.idx3-ubyte 1 2 2"}, Options{}, fault.Usage,
			[]string{"train-images-idx3-ubyte", "train-images.idx3-ubyte"}, "give the files to use"},
		"two formats": {[]string{"train-labels-idx1-ubyte 3", "train-labels-idx1-int 3"}, Options{}, fault.Usage,
			[]string{"train-labels-idx1-ubyte", "train-labels-idx1-int"}, "give the files to use"},
		"twins that differ": {[]string{"train-labels-idx1-ubyte 3", "train-labels-idx1-ubyte.gz 4"}, Options{}, fault.Usage,
			[]string{"train-labels-idx1-ubyte: this file is uint8 3, but its compressed copy train-labels-idx1-ubyte.gz is uint8 4"}, "out of date"},
		"two data sets": {[]string{"emnist-letters-test-labels-idx1-ubyte 3", "qmnist-test-labels-idx1-ubyte 3", "t10k-labels-idx1-ubyte 2"}, Options{},
			fault.Usage, []string{"files like t10k-labels-idx1-ubyte", "emnist-letters", "qmnist"}, "--dataset emnist-letters or --dataset qmnist"},
		"two unknown sets": {[]string{"a-train-images-idx3-ubyte 3 2 2", "b-train-images-idx3-ubyte 3 2 2"}, Options{Dataset: "mnist"},
			fault.Usage, []string{"a-train-images-idx3-ubyte", "b-train-images-idx3-ubyte"}, "give the files to use"},
		"the wrong data set": {[]string{"emnist-letters-test-labels-idx1-ubyte 3"}, Options{Dataset: "emnist-balanced"}, fault.Usage,
			[]string{"emnist-letters", "expected emnist-balanced"}, "--dataset none"},
		"no such split": {fourFiles, Options{Split: []string{"train", "dig"}}, fault.Usage, []string{`no split "dig"`}, "it has train, test"},
		"not IDX": {[]string{"train-images-idx3-ubyte=<html>", "train-labels-idx1-ubyte 3"}, Options{}, idx.ErrMagic,
			[]string{"train-images-idx3-ubyte: at byte 0: found an HTML"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Find([]Input{{Path: folder(t, test.files...)}}, &testProber{}, test.options)
			if !errors.Is(err, test.want) {
				t.Fatalf("got %v, want %v", err, test.want)
			}
			for _, part := range test.message {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("no %q in %q", part, err)
				}
			}
			if hint := fault.HintOf(err); !strings.Contains(hint, test.hint) || strings.Contains(hint, filepath.Join("x", "y", "z")) {
				t.Errorf("hint %q, want %q", hint, test.hint)
			}
		})
	}
}

// A data set is recognised by its labels, with which its images must agree. What the user names is
// used, whatever the files are, but what file names say is not.
func TestFolderByHash(t *testing.T) {
	t.Parallel()
	const (
		unnamed = ": the classes have no names without --dataset"
		doubt   = "judging by its labels, this is Fashion-MNIST, but not by its images" + unnamed
		asked   = "judging by --dataset, this is Fashion-MNIST, but not by its "
	)
	mnist := func(i int) string { return published(t, "mnist", i) }
	fashion := func(i int) string { return published(t, "fashion-mnist", i) }
	for name, test := range map[string]struct {
		asked  string
		files  []string
		hashes []string // of the first files; an empty one cannot be read
		want   []string // data set and evidence of each split, after its doubt
		note   string
	}{
		"all": {"", fourFiles,
			[]string{fashion(trainImages), fashion(trainLabels), fashion(testImages), fashion(testLabels)},
			[]string{"fashion-mnist by its labels", "fashion-mnist by its labels"}, ""},
		"images of no published shape": {"", []string{"train-images-idx3-ubyte 60000 32 32", fourFiles[1]}, []string{"0", mnist(trainLabels)},
			[]string{"mnist by its labels"}, ""},
		"images of another": {"", fourFiles, []string{mnist(trainImages), fashion(trainLabels), "0", fashion(testLabels)},
			[]string{doubt, doubt}, ""},
		"images alone go with the others": {"", fourFiles[:3], []string{"", mnist(trainLabels), mnist(testImages)},
			[]string{"mnist by its labels", "mnist by the labels of another split"}, "no labels found"},
		"images alone do not go with others": {"", fourFiles[:3], []string{"", fashion(trainLabels), mnist(testImages)},
			[]string{"fashion-mnist by its labels", strings.Replace(doubt, "its labels", "the labels of another split", 1)},
			"no labels found"},
		"labels of one's own do not": {"", fourFiles, []string{"", mnist(trainLabels)},
			[]string{"mnist by its labels", ""}, ""},
		"mixed": {"", fourFiles, []string{"", mnist(trainLabels), "", fashion(testLabels)},
			[]string{"mnist by its labels", "fashion-mnist by its labels"}, "different data sets: fashion-mnist, mnist"},
		"unknown": {"", fourFiles, []string{mnist(trainImages), "0"}, []string{"", ""}, ""},
		"qmnist, renamed": {"", []string{"train-labels-idx2-int 60000 8"}, []string{published(t, "qmnist", 0)},
			[]string{"qmnist by its labels"}, "no images found"},
		"named by files": {"", []string{"fashion-mnist-" + fourFiles[0], "fashion-mnist-" + fourFiles[1]}, []string{mnist(trainImages)},
			[]string{"judging by the file names, this is Fashion-MNIST, but not by its images" + unnamed}, ""},
		"asked for, other labels":   {"fashion-mnist", fourFiles[:2], []string{"", mnist(trainLabels)}, []string{asked + "labelsfashion-mnist by --dataset"}, ""},
		"asked for, other images":   {"fashion-mnist", fourFiles[:2], []string{mnist(trainImages)}, []string{asked + "imagesfashion-mnist by --dataset"}, ""},
		"asked for, unknown images": {"fashion-mnist", fourFiles[:2], []string{"0", "0"}, []string{"fashion-mnist by --dataset"}, ""},
		"asked for, the same names": {"qmnist", fourFiles[:2], []string{mnist(trainImages), mnist(trainLabels)}, []string{"qmnist by --dataset"}, ""},
		"none":                      {"none", fourFiles[:2], []string{mnist(trainImages), mnist(trainLabels)}, []string{""}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hashes := map[string]string{}
			for i, sum := range test.hashes {
				hashes[strings.Fields(test.files[i])[0]] = sum
			}
			splits := must.Get(Find([]Input{{Path: folder(t, test.files...)}}, &testProber{hashes: hashes}, Options{Dataset: test.asked}))(t)
			for i, s := range splits {
				got := s.Doubt
				if s.Dataset != nil {
					got += s.Dataset.Name + " by " + s.Evidence
				}
				if got != test.want[i] {
					t.Errorf("%s: got %q, want %q", s.Name, got, test.want[i])
				}
			}
			if all := notes(splits); !strings.Contains(all, test.note) || test.note == "" && all != "" {
				t.Errorf("notes %q, want %q", all, test.note)
			}
		})
	}
}

func TestFolderFollowsLinks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("making links needs a privilege")
	}
	dir := folder(t, "store/blob 4 2 2", "link/other=x")
	for name, target := range map[string]string{
		"train-images-idx3-ubyte": "../store/blob", "dangling-idx1-ubyte": "nowhere", "folder-idx1-ubyte": "../store"} {
		must.Do(t, os.Symlink(target, filepath.Join(dir, "link", name)))
	}
	splits := must.Get(Find([]Input{{Path: filepath.Join(dir, "link")}}, &testProber{}, Options{}))(t)
	if want := []string{"train/train-images/?: image=train-images-idx3-ubyte"}; !slices.Equal(summaries(splits), want) {
		t.Errorf("got %q, want %q", summaries(splits), want)
	}
}
