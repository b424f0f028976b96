package dataset

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
)

// The totals of the EMNIST sets are from
// https://www.nist.gov/itl/products-and-services/emnist-dataset, the others from the homepages.
func TestKnownCounts(t *testing.T) {
	t.Parallel()
	totals := map[string]struct {
		records int64
		labels  int // with a name
	}{
		"mnist": {70000, 10}, "fashion-mnist": {70000, 10}, "kmnist": {70000, 10},
		"emnist-balanced": {131600, 47}, "emnist-byclass": {814255, 62}, "emnist-bymerge": {814255, 47},
		"emnist-digits": {280000, 10}, "emnist-letters": {145600, 26}, "emnist-mnist": {70000, 10},
		"kannada-mnist": {60000 + 10000 + 10240, 10}, "qmnist": {60000 + 60000 + 402953, 10},
	}
	for _, d := range Known() {
		var records int64
		for _, s := range d.Splits {
			// idxport writes the same labels beside upright images.
			if records += s.Records; d.Transposed && d.Files != nil {
				t.Errorf("%s %s: found hashes of labels, expected none", d.Name, s.Name)
			}
		}
		labels := 0
		seen := map[string]bool{}
		for v, c := range d.Classes {
			if (c != "") != (v > 0 || d.Name != "emnist-letters") || c != "" && seen[c] {
				t.Errorf("%s: label %d is named %q", d.Name, v, c)
			}
			if seen[c] = true; c != "" {
				labels++
			}
		}
		if want := totals[d.Name]; records != want.records || labels != want.labels {
			t.Errorf("%s: got %d records and %d labels, want %+v", d.Name, records, labels, want)
		}
		if d.Transposed != strings.HasPrefix(d.Name, "emnist-") {
			t.Errorf("%s: transposed %v", d.Name, d.Transposed)
		}
		delete(totals, d.Name)
	}
	if len(totals) > 0 {
		t.Errorf("not known: %v", totals)
	}
}

// Lines of the published mapping files: label and codepoint.
func TestClassNames(t *testing.T) {
	t.Parallel()
	for name, classes := range map[string]map[int]string{
		"emnist-balanced": {0: "\x30", 10: "\x41", 36: "\x61", 46: "\x74"},
		"emnist-byclass":  {10: "\x41", 36: "\x61", 61: "\x7a"}, "emnist-letters": {1: "\x41", 26: "\x5a"},
		"fashion-mnist": {0: "T-shirt/top", 9: "Ankle boot"}, "kmnist": {3: "tsu"},
	} {
		for label, want := range classes {
			if got := must.Get(Lookup(name))(t).Classes[label]; got != want {
				t.Errorf("%s: label %d is %q, want %q", name, label, got, want)
			}
		}
	}
}

func TestKnownFiles(t *testing.T) {
	t.Parallel()
	sum, seen := regexp.MustCompile(`^[0-9a-f]{64}$`), map[string]bool{}
	for _, d := range Known() {
		for _, p := range d.Files {
			if !sum.MatchString(p.SHA256) || seen[p.SHA256] {
				t.Errorf("%s %s: hash %q", d.Name, p.Header, p.SHA256)
			}
			seen[p.SHA256] = true
			if !slices.ContainsFunc(d.Splits, func(s SplitInfo) bool { return s.Records == p.Header.Records() }) {
				t.Errorf("%s: no split has as many records as %s", d.Name, p.Header)
			}
			if len(p.Header.Dims) == 2 && p.Header.Dims[1] != int64(len(d.LabelColumns)) {
				t.Errorf("%s: labels are %s, but %d columns have names", d.Name, p.Header, len(d.LabelColumns))
			}
			probe := &testProber{hashes: map[string]string{"x": p.SHA256}}
			s := &Split{Files: []File{{Path: "x", Name: p.Role.String(), Header: p.Header}}}
			if found, _ := (finder{Prober: probe}).published(s, p.Role); found == nil || found.Name != d.Name {
				t.Errorf("%s %s: not found by its hash", d.Name, p.Header)
			}
		}
	}
	p, other := &testProber{}, File{Name: "label", Header: idx.Header{DType: idx.Uint8, Dims: []int64{59999}}}
	if found, _ := (finder{Prober: p}).published(&Split{Files: []File{other}}, Label); found != nil || p.probed != nil {
		t.Error("labels of no published shape were hashed")
	}
}

// The samples have the first images of Fashion-MNIST.
func TestKnownImages(t *testing.T) {
	t.Parallel()
	for name, i := range map[string]int{"train": trainImages, "t10k": testImages} {
		path := filepath.Join("..", "..", "testdata", "fashion-mnist", name+"-images-idx3-ubyte.gz")
		data := must.Get(new(testProber).read(path))(t)
		if got := fmt.Sprintf("%x", sha256.Sum256(data[16:][:100*28*28])); got != published(t, "fashion-mnist", i) {
			t.Errorf("%s: found the hash %s", name, got)
		}
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"mnist": "mnist", "MNIST": "mnist", "FashionMNIST": "fashion-mnist", "fashion_mnist": "fashion-mnist",
		"Kuzushiji-MNIST": "kmnist", "EMNIST Letters": "emnist-letters", "Kannada_MNIST": "kannada-mnist",
	} {
		if d, err := Lookup(name); err != nil || d.Name != want {
			t.Errorf("%s: got %q, %v, want %q", name, d.Name, err, want)
		}
	}
	for name, hint := range map[string]string{
		"mnits": "did you mean mnist?", "fashion": "did you mean fashion-mnist?",
		"kanada-mnist": "did you mean kannada-mnist?", "emnist": "did you mean emnist-balanced, emnist-byclass, ",
		"cifar": "`idxport datasets`", "": "`idxport datasets`",
	} {
		_, err := Lookup(name)
		const message = "expected one of mnist, fashion-mnist, kmnist,"
		if !errors.Is(err, fault.Usage) || !strings.Contains(err.Error(), message) ||
			!strings.HasPrefix(fault.HintOf(err), hint) {
			t.Errorf("%q: got %v with the hint %q, want %q and %q", name, err, fault.HintOf(err), message, hint)
		}
	}
}
