package dataset

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The published names and their meanings, from the pages listed in known.go.
func TestParsePublishedNames(t *testing.T) {
	t.Parallel()
	type want struct {
		dataset, split string
		role           Role
	}
	names := map[string]want{
		// MNIST, Fashion-MNIST and KMNIST share these four, so they do not identify the data set.
		"train-images-idx3-ubyte.gz": {"", "train", Image},
		"train-labels-idx1-ubyte.gz": {"", "train", Label},
		"t10k-images-idx3-ubyte.gz":  {"", "test", Image},
		"t10k-labels-idx1-ubyte.gz":  {"", "test", Label},
		"train-images.idx3-ubyte":    {"", "train", Image},
		"t10k-labels-idx1.ubyte":     {"", "test", Label},
		"t10k-labels.idx1":           {"", "test", Label},

		"qmnist-train-images-idx3-ubyte.gz": {"qmnist", "train", Image},
		"qmnist-train-labels-idx2-int.gz":   {"qmnist", "train", Label},
		"qmnist-test-images-idx3-ubyte.gz":  {"qmnist", "test", Image},
		"qmnist-test-labels-idx2-int.gz":    {"qmnist", "test", Label},
		"qmnist-test-labels-idx1-ubyte.gz":  {"qmnist", "test", Label},
		"xnist-images-idx3-ubyte.xz":        {"qmnist", "nist", Image},
		"xnist-labels-idx2-int.xz":          {"qmnist", "nist", Label},

		"X_kannada_MNIST_train-idx3-ubyte.gz": {"kannada-mnist", "train", Image},
		"y_kannada_MNIST_train-idx1-ubyte.gz": {"kannada-mnist", "train", Label},
		"X_kannada_MNIST_test-idx3-ubyte.gz":  {"kannada-mnist", "test", Image},
		"y_kannada_MNIST_test-idx1-ubyte.gz":  {"kannada-mnist", "test", Label},
		"X_dig_MNIST-idx3-ubyte.gz":           {"kannada-mnist", "dig", Image},
		"y_dig_MNIST-idx1-ubyte.gz":           {"kannada-mnist", "dig", Label},

		"kmnist-train-imgs-idx3-ubyte": {"kmnist", "train", Image}, // as in .npz: https://github.com/rois-codh/kmnist

		"mnist8m-patterns-idx3-ubyte": {"", "", Image},
		"mnist8m-labels-idx1-ubyte":   {"", "", Label},
	}
	for _, set := range strings.Fields("balanced byclass bymerge digits letters mnist") {
		for _, split := range strings.Fields("train test") {
			names["emnist-"+set+"-"+split+"-images-idx3-ubyte.gz"] = want{"emnist-" + set, split, Image}
			names["emnist-"+set+"-"+split+"-labels-idx1-ubyte.gz"] = want{"emnist-" + set, split, Label}
		}
	}
	for name, w := range names {
		repacked := strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".xz") + ".zst"
		for _, spelling := range []string{name, strings.ToUpper(name), filepath.Join("a.b-train", name), repacked} {
			n := ParseName(spelling)
			if got := (want{n.Dataset, n.Split, n.Role}); got != w {
				t.Errorf("%s: got %+v, want %+v", spelling, got, w)
			}
			if n.Format == "" {
				t.Errorf("%s: not taken for IDX", spelling)
			}
		}
	}
}

func TestParseName(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]Name{
		"Train-Images-IDX3-ubyte.IDX.zst": {
			Split: "train", Role: Image, Stem: "Train-Images", Format: "idx3-ubyte", Compression: "zst"},
		"foo-train_labels_idx1_byte.bin": {
			Split: "train", Role: Label, Prefix: "foo", Stem: "foo-train_labels", Format: "idx1-byte"},
		"DL_X_train.idx":             {Split: "train", Role: Image, Prefix: "dl", Stem: "DL_X_train", Format: "idx"},
		"y-test.idx.bz2":             {Split: "test", Role: Label, Stem: "y-test", Format: "idx", Compression: "bz2"},
		"x-train-labels.idx":         {Split: "train", Role: Label, Prefix: "x", Stem: "x-train-labels", Format: "idx"},
		"training_labels":            {Split: "train", Role: Label, Stem: "training_labels"},
		"train_x":                    {Split: "train", Role: Image, Stem: "train_x"},
		"train-x-idx1-float":         {Split: "train", Role: Data, Prefix: "x", Stem: "train-x", Format: "idx1-float"},
		"evalX":                      {Split: "eval", Role: Image, Stem: "evalX"},
		"imagesTest.idx":             {Split: "test", Role: Image, Stem: "imagesTest", Format: "idx"},
		"t10k-labels.idx1-ubyte.idx": {Split: "test", Role: Label, Stem: "t10k-labels", Format: "idx1-ubyte"},
		"idx1-ubyte.idx":             {Role: Data, Format: "idx1-ubyte"},
		"testset":                    {Split: "test", Role: Data, Prefix: "set", Stem: "testset"},
		// There is no type long, and a rank is at most 255.
		"a-idx2-long.idx": {Role: Data, Prefix: "a-idx2-long", Stem: "a-idx2-long", Format: "idx"},
		"a-idx300-ubyte":  {Role: Data, Prefix: "a-idx300-ubyte", Stem: "a-idx300-ubyte"},
		"README.md":       {Role: Data, Prefix: "readme-md", Stem: "README.md"},
		".gz":             {Role: Data, Compression: "gz"},
		"x":               {Role: Data, Prefix: "x", Stem: "x"}, // the coordinate, not X_
	} {
		if got := ParseName(path); got != want {
			t.Errorf("%s: got %+v, want %+v", path, got, want)
		}
	}
}

// For any name: it begins with the stem, its words are of known kinds, and the compression changes
// nothing else.
func FuzzParseName(f *testing.F) {
	for _, s := range []string{"train-images-idx3-ubyte.gz", "X_dig_MNIST-idx3-ubyte", "İ.idx", "\xff-labels.IDX.xz",
		"y-idx1-int.idx.zst", "idx1-int", "", ".", "-._"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		n, base := ParseName(name), filepath.Base(name)
		if !strings.HasPrefix(base, n.Stem) {
			t.Errorf("stem %q does not begin %q", n.Stem, base)
		}
		if !slices.Contains(strings.Split(",train,test,test10k,test50k,nist,dig,val,valid,validation,dev,eval,"+
			"evaluation", ","), n.Split) {
			t.Errorf("split %q", n.Split)
		}
		if n.Dataset != "" && !slices.ContainsFunc(Known(), func(d Info) bool { return d.Name == n.Dataset }) {
			t.Errorf("data set %q is not known", n.Dataset)
		}
		if n.Compression == "" && base == name && name != "." && name != ".." && !strings.ContainsAny(name, `/\`) {
			n.Compression = "gz"
			if packed := ParseName(name + ".gz"); packed != n {
				t.Errorf("%q.gz: got %+v, want %+v", name, packed, n)
			}
		}
	})
}
