package dataset

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
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
		"mnist": {70000, 10}, "fashion-mnist": {70000, 10}, "kmnist": {70000, 10}, "qmnist": {60000 + 60000 + 402953, 10},
		"emnist-balanced": {131600, 47}, "emnist-byclass": {814255, 62}, "emnist-bymerge": {814255, 47},
		"emnist-digits": {280000, 10}, "emnist-letters": {145600, 26}, "emnist-mnist": {70000, 10},
		"kannada-mnist": {60000 + 10000 + 10240, 10},
	}
	for _, d := range Known() {
		var records int64
		for _, s := range d.Splits {
			if records += s.Records; d.Transposed && s.Labels != nil { // idxport writes the same labels beside upright images
				t.Errorf("%s %s: found hashes of labels, expected none", d.Name, s.Name)
			}
		}
		labels := 0
		seen := map[string]bool{}
		for v, c := range d.Classes {
			if (c != "") != (v >= d.FirstLabel) || c != "" && seen[c] {
				t.Errorf("%s: label %d is named %q", d.Name, v, c)
			}
			if seen[c] = true; c != "" {
				labels++
			}
		}
		want := totals[d.Name]
		if records != want.records || labels != want.labels {
			t.Errorf("%s: got %d records and %d labels, want %d and %d", d.Name, records, labels, want.records, want.labels)
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
	for _, test := range []struct {
		dataset string
		label   int
		want    string
	}{
		{"emnist-balanced", 0, "\x30"}, {"emnist-balanced", 10, "\x41"}, {"emnist-balanced", 36, "\x61"}, {"emnist-balanced", 46, "\x74"},
		{"emnist-byclass", 10, "\x41"}, {"emnist-byclass", 36, "\x61"}, {"emnist-byclass", 61, "\x7a"},
		{"emnist-letters", 1, "\x41"}, {"emnist-letters", 26, "\x5a"},
		{"fashion-mnist", 0, "T-shirt/top"}, {"fashion-mnist", 9, "Ankle boot"}, {"kmnist", 3, "tsu"},
	} {
		d := must.Get(Lookup(test.dataset))(t)
		if got := d.Classes[test.label]; got != test.want {
			t.Errorf("%s: label %d is %q, want %q", test.dataset, test.label, got, test.want)
		}
	}
}

func TestKnownLabelFiles(t *testing.T) {
	t.Parallel()
	sum := regexp.MustCompile(`^[0-9a-f]{64}$`)
	seen := map[string]bool{}
	for _, d := range Known() {
		for _, s := range d.Splits {
			for _, l := range s.Labels {
				if !sum.MatchString(l.SHA256) || seen[l.SHA256] {
					t.Errorf("%s %s: hash %q", d.Name, s.Name, l.SHA256)
				}
				seen[l.SHA256] = true
				if l.Header.Records() != s.Records {
					t.Errorf("%s %s: labels are %s, want %d records", d.Name, s.Name, l.Header, s.Records)
				}
				if len(l.Header.Dims) == 2 && l.Header.Dims[1] != int64(len(d.LabelColumns)) {
					t.Errorf("%s %s: labels are %s, but %d columns have names", d.Name, s.Name, l.Header, len(d.LabelColumns))
				}
				p := &testProber{hashes: map[string]string{"x": strings.ToUpper(l.SHA256)}}
				found := finder{Prober: p}.byLabels(&Split{Files: []File{{Path: "x", Name: "label", Header: l.Header}}})
				if found == nil || found.Name != d.Name {
					t.Errorf("%s %s: not found by its labels", d.Name, s.Name)
				}
			}
		}
	}
	p, other := &testProber{}, File{Name: "label", Header: idx.Header{DType: idx.Uint8, Dims: []int64{59999}}}
	if (finder{Prober: p}).byLabels(&Split{Files: []File{other}}) != nil || p.probed != nil {
		t.Error("labels of no published shape were hashed")
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
		"mnits": "did you mean mnist?", "fashion": "did you mean fashion-mnist?", "emnist": "did you mean emnist-balanced, emnist-byclass, ", "kanada-mnist": "did you mean kannada-mnist?",
		"cifar": "`idxport datasets`", "": "`idxport datasets`",
	} {
		_, err := Lookup(name)
		if !errors.Is(err, fault.Usage) || !strings.Contains(err.Error(), "expected one of mnist, fashion-mnist, kmnist,") {
			t.Errorf("%q: got %v", name, err)
			continue
		}
		if got := fault.HintOf(err); !strings.HasPrefix(got, hint) {
			t.Errorf("%q: hint %q, want %q", name, got, hint)
		}
	}
}
