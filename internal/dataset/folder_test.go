package dataset

import (
	"cmp"
	"path/filepath"
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
	const emnistTrain = "image=emnist-letters-" + images + ".gz label=emnist-letters-" + labels + ".gz"
	const qmnistPlain, qmnistLabels = "qmnist-test-labels-idx1-ubyte.gz", "qmnist-test-labels-idx2-int.gz"
	const stray, trainOnly, testOnly = "other.idx 3", "train/FOLDER/?: " + trainPair, "test/FOLDER/?: " + testPair
	for name, test := range map[string]struct {
		files   []string
		options Options
		want    []string
		notes   []string // parts of notes; none other than these
	}{
		"four files":   {files: fourFiles, want: []string{trainOnly, testOnly}},
		"--split t10k": {files: fourFiles, options: Options{Split: []string{"T10K"}}, want: []string{testOnly}},
		"--dataset": {files: fourFiles[2:], options: Options{Dataset: "kmnist"},
			want: []string{"test/FOLDER/kmnist: " + testPair}},
		"emnist": {files: emnist, want: []string{"train/emnist-letters/emnist-letters: " + emnistTrain,
			"test/emnist-letters/emnist-letters: " + strings.ReplaceAll(emnistTrain, "train", "test")}},
		"qmnist": {files: []string{
			"qmnist-test-images-idx3-ubyte.gz 5 28 28", qmnistPlain + " 5", qmnistLabels + " 5 8",
			"qmnist-test-labels.tsv.gz=7	4", "xnist-images-idx3-ubyte 9 28 28", "xnist-labels-idx2-int 9 8"},
			want: []string{"test/qmnist/qmnist: image=qmnist-test-images-idx3-ubyte.gz label=" + qmnistLabels,
				"nist/xnist/qmnist: image=xnist-images-idx3-ubyte label=xnist-labels-idx2-int"},
			notes: []string{"skipped " + qmnistPlain + ": " + qmnistLabels + " has the same labels and more"}},
		"qmnist's plain labels": {files: []string{qmnistPlain + " 5"},
			want:  []string{"test/qmnist/qmnist: label=" + qmnistPlain},
			notes: []string{"no images found for " + qmnistPlain}},
		"kannada": {files: []string{"X_kannada_MNIST_train-idx3-ubyte 6 28 28", "y_kannada_MNIST_train-idx1-ubyte 6",
			"X_dig_MNIST-idx3-ubyte.gz 3 28 28", "y_dig_MNIST-idx1-ubyte.gz 3"},
			want: []string{"train/kannada-mnist/kannada-mnist: " +
				"image=X_kannada_MNIST_train-idx3-ubyte label=y_kannada_MNIST_train-idx1-ubyte",
				"dig/dig-mnist/kannada-mnist: image=X_dig_MNIST-idx3-ubyte.gz label=y_dig_MNIST-idx1-ubyte.gz"}},
		"extensions": {files: []string{"t10k.images 3 2 2", "T10K.Labels 3", "train.images=text"},
			want: []string{"test/FOLDER/?: image=t10k.images label=T10K.Labels"}},
		"a bad twin": {files: []string{labels + ".gz=<html>", labels + " 7"},
			want:  []string{"train/FOLDER/?: label=" + labels},
			notes: []string{labels + ".gz: at byte 0: found an HTML", "no images found"}},
		"other files": {files: []string{"README.md=x", "a.csv=1,2", "training.pt=x", ".hidden-idx1-ubyte=x",
			".train.idxport-1234.partial=x", ".train.parquet.idxport=", "k49-train-imgs.npz=PK", "names.txt=a",
			"images=text", "raw/foo-idx1-ubyte=x", "pack.idx=\xfftOc....", "t10k-images-idx3-ubyte 1 2 2"},
			want:  []string{"test/t10k-images/?: image=t10k-images-idx3-ubyte"},
			notes: []string{"skipped, not IDX: ", "no labels found for t10k"}},
		"formats lost": {files: []string{"test10k-labels 5", "test10k-patterns 5 28 28"},
			want: []string{"test10k/FOLDER/?: image=test10k-patterns label=test10k-labels"}},
		"tables without splits": {
			files: []string{"My_A.idx 3 2", "b-images.idx 5 2 2", "b-labels.idx 5", "images.idx 1 2 2"},
			want: []string{"/images/?: image=images.idx", "/b/?: image=b-images.idx label=b-labels.idx",
				"/My_A/?: data=My_A.idx"},
			notes: []string{"no labels found for images.idx"}},
		"a column of a set called x": {files: []string{"x-images-idx3-ubyte 0 2 2", "x-labels-idx1-ubyte 0",
			"x-weight-idx1-float 0"}, notes: []string{"x-weight-idx1-float is read as the column weight"},
			want: []string{"/x/?: image=x-images-idx3-ubyte label=x-labels-idx1-ubyte weight=x-weight-idx1-float"}},
		"a stray beside": {files: append([]string{stray}, fourFiles[:2]...),
			want: []string{trainOnly, "/other/?: data=other.idx"}},
		"--dataset among several": {files: slices.Concat(emnist, fourFiles, []string{"emnist-digits-" + fourFiles[1]}),
			options: Options{Dataset: "emnist-digits"}, notes: []string{"no images found"},
			want: []string{"train/emnist-digits/emnist-digits: label=emnist-digits-" + labels}},
		"--dataset for the files without a prefix": {files: slices.Concat(emnist, fourFiles[:2], []string{stray}),
			options: Options{Dataset: "mnist"},
			want:    []string{"train/FOLDER/mnist: " + trainPair, "/other/mnist: data=other.idx"}},
		"unselected splits are not looked at": {
			files:   append([]string{"t10k-images-idx3-ubyte=<html>"}, fourFiles[:2]...),
			options: Options{Split: []string{"train"}}, want: []string{trainOnly}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t, test.files...)
			for i := range test.want {
				test.want[i] = strings.ReplaceAll(test.want[i], "FOLDER", filepath.Base(dir))
			}
			checkFind(t, dir, ".", test.options, test.want, test.notes)
		})
	}
}

func TestFolderErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]refusal{
		"empty": {want: fault.NotFound, message: ": found no IDX files", hint: "train-images-idx3-ubyte.gz"},
		"subfolders": {files: []string{"MNIST/raw/train-images-idx3-ubyte 1 2 2", "x/y/z/t10k-images-idx3-ubyte 1 2 2"},
			want: fault.NotFound, hint: "files: "},
		"one index": {files: []string{"pack.idx=\xfftOc...."}, want: fault.NotFound,
			message: "skipped, not IDX: |pack.idx: at byte 0: "},
		"dash and dot": {files: []string{images + " 1 2 2", "train-images.idx3-ubyte 1 2 3"}, want: fault.Usage,
			message: images + "|train-images.idx3-ubyte", hint: "give the files to use"},
		"twins of two shapes": {files: []string{"a-labels-idx1-ubyte 4", "a-labels-idx1-ubyte.gz 2 2"},
			want: fault.Usage, message: "this file (uint8 4) and a-labels-idx1-ubyte.gz (uint8 2×2) differ"},
		"two data sets": {files: []string{"emnist-letters-" + fourFiles[1], "qmnist-" + fourFiles[1], fourFiles[3]},
			want: fault.Usage, message: "files like t10k-labels-idx1-ubyte|emnist-letters|qmnist",
			hint: "--dataset emnist-letters or --dataset qmnist"},
		"two unknown sets": {files: []string{"a-" + fourFiles[0], "b-" + fourFiles[0]}, want: fault.Usage,
			options: Options{Dataset: "mnist"}, message: "a-" + images + "|b-" + images, hint: "give the files to use"},
		"the wrong data set": {
			files: []string{"emnist-letters-" + fourFiles[1]}, options: Options{Dataset: "emnist-balanced"},
			want: fault.Usage, message: "emnist-letters|expected emnist-balanced", hint: "--dataset none"},
		"no such split": {files: fourFiles, options: Options{Split: []string{"train", "dig"}}, want: fault.Usage,
			message: `no split "dig"`, hint: "it has train, test"},
		"a split in one name": {files: []string{"trainimg.idx 3 2 2", "trainlab.idx 3"}, want: fault.Usage,
			message: "trainlab.idx may be two tables or columns", hint: "name every column, such as image="},
		"not IDX": {files: []string{images + "=<html>", labels + " 3"}, want: idx.ErrMagic,
			message: images + ": at byte 0: found an HTML"},
		"the format lost, and the end": {files: []string{"train-images=\x00\x00\x08", labels + " 3"},
			want: fault.Truncated, message: "train-images: at byte 3: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.check(t, folder(t, test.files...))
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

		byLabels, byFlag = "fashion-mnist by its labels", "fashion-mnist by --dataset"
		mnistByLabels    = "mnist by its labels"
	)
	mnist := func(i int) string { return published(t, "mnist", i) }
	fashion := func(i int) string { return published(t, "fashion-mnist", i) }
	mnistPair := []string{mnist(trainImages), mnist(trainLabels)}
	for name, test := range map[string]struct {
		args   string // nothing for all files
		asked  string
		files  []string
		hashes []string // of the first files; an empty one cannot be read
		want   []string // data set and evidence of each split, after its doubt
		note   string
	}{
		"two files": {args: "image=p.idx train-labels.idx", hashes: mnistPair[1:],
			files: []string{"train-labels.idx 60000", "p.idx 60000 28 28"}, want: []string{mnistByLabels}},
		"all": {files: fourFiles, want: []string{byLabels, byLabels},
			hashes: []string{fashion(trainImages), fashion(trainLabels), fashion(testImages), fashion(testLabels)}},
		"images of no published shape": {files: []string{images + " 60000 32 32", fourFiles[1]},
			hashes: []string{"0", mnist(trainLabels)}, want: []string{mnistByLabels}},
		"images of another": {files: fourFiles, want: []string{doubt, doubt},
			hashes: []string{mnist(trainImages), fashion(trainLabels), "0", fashion(testLabels)}},
		"images alone go with the others": {files: fourFiles[:3], note: "no labels found",
			hashes: []string{"", mnist(trainLabels), mnist(testImages)},
			want:   []string{mnistByLabels, "mnist by the labels of another split"}},
		"images alone do not go with others": {files: fourFiles[:3], note: "no labels found",
			hashes: []string{"", fashion(trainLabels), mnist(testImages)},
			want:   []string{byLabels, strings.Replace(doubt, "its labels", "the labels of another split", 1)}},
		"labels of one's own do not": {files: fourFiles, hashes: []string{"", mnist(trainLabels)},
			want: []string{mnistByLabels, ""}},
		"mixed": {files: fourFiles, hashes: []string{"", mnist(trainLabels), "", fashion(testLabels)},
			want: []string{mnistByLabels, byLabels}, note: "different data sets: fashion-mnist, mnist"},
		"unknown": {files: fourFiles, hashes: []string{mnist(trainImages), "0"}, want: []string{"", ""}},
		"qmnist, renamed": {files: []string{"train-labels-idx2-int 60000 8"}, note: "no images found",
			hashes: []string{published(t, "qmnist", 0)}, want: []string{"qmnist by its labels"}},
		"named by files": {files: []string{"fashion-mnist-" + fourFiles[0], "fashion-mnist-" + fourFiles[1]},
			hashes: mnistPair[:1],
			want:   []string{"judging by the file names, this is Fashion-MNIST, but not by its images" + unnamed}},
		"asked for, other labels": {asked: "fashion-mnist", files: fourFiles[:2],
			hashes: []string{"", mnist(trainLabels)}, want: []string{asked + "labels" + byFlag}},
		"asked for, other images and own labels": {asked: "fashion-mnist", files: fourFiles[:2],
			hashes: []string{mnistPair[0], "0"}, want: []string{asked + "images" + byFlag}},
		"asked for, upright": {asked: "emnist-mnist", files: fourFiles[:2], hashes: mnistPair, want: []string{
			"judging by --dataset, this is EMNIST MNIST, but not by its labelsemnist-mnist by --dataset"}},
		"asked for, the same names": {asked: "qmnist", files: fourFiles[:2], hashes: mnistPair,
			want: []string{"qmnist by --dataset"}},
		"none": {asked: "none", files: fourFiles[:2], hashes: mnistPair, want: []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hashes := map[string]string{}
			for i, sum := range test.hashes {
				hashes[strings.Fields(test.files[i])[0]] = sum
			}
			inputs := inputsIn(folder(t, test.files...), cmp.Or(test.args, "."))
			splits := must.Get(Find(inputs, &testProber{hashes: hashes}, Options{Dataset: test.asked}))(t)
			for i, s := range splits {
				got := s.Doubt
				if s.Dataset != nil {
					got += s.Dataset.Name + " by " + s.Evidence
				}
				if got != test.want[i] {
					t.Errorf("%s: got %q, want %q", s.Name, got, test.want[i])
				}
			}
			all := strings.Join(notes(splits), "\n")
			if !strings.Contains(all, test.note) || test.note == "" && all != "" {
				t.Errorf("notes %q, want %q", all, test.note)
			}
		})
	}
}

func TestFolderFollowsLinks(t *testing.T) {
	t.Parallel()
	dir := folder(t, "store/blob 4 2 2", "link/other=x")
	for name, target := range map[string]string{
		"train-images-idx3-ubyte": "../store/blob", "dangling-idx1-ubyte": "nowhere", "folder-idx1-ubyte": "../store"} {
		must.Link(t, target, filepath.Join(dir, "link", name))
	}
	checkFind(t, dir, "link", Options{}, []string{"train/train-images/?: image=train-images-idx3-ubyte"},
		[]string{"no labels found for train-images-idx3-ubyte"})
}
