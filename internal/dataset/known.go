package dataset

import (
	"cmp"
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source/idx"
)

// An Info describes a published data set.
type Info struct {
	Name         string // as in the option --dataset
	Title        string // as its authors write it
	Splits       []SplitInfo
	Files        []PublishedFile // those whose hashes are known
	ImageShape   []int           // of one upright image, rows before columns
	Classes      []string        // Classes[v] is the name of label v, empty where there is no such label
	Transposed   bool            // images are stored column by column, and must be transposed to be upright
	LabelColumns []string        // of a label file of rank 2, "label" first; nil if labels are single numbers
	License      string          // as the publisher names it; empty if unknown
	Homepage     string          // URL
}

// A SplitInfo is one split of a published data set.
type SplitInfo struct {
	Name    string // "train", "test", …
	Records int64
}

// A PublishedFile identifies a published file of labels or images.
type PublishedFile struct {
	Role   Role
	Header idx.Header
	Hashed int64  // number of records that SHA256 is about: all labels or the first images
	SHA256 string // of the decompressed records, hexadecimal
}

// DatasetNone is the name that disables the recognition of data sets.
const DatasetNone = "none"

// Lookup finds the data set by its name or title, ignoring case, dashes, underscores, dots and
// spaces. The error lists the known names.
func Lookup(name string) (Info, error) {
	for _, d := range Known() {
		if plainName(d.Name) == plainName(name) || plainName(d.Title) == plainName(name) {
			return d, nil
		}
	}
	names := knownNames()
	advice := DidYouMean(name, names)
	if plainName(name) == "fmnist" { // which is nearer to mnist
		advice = DidYouMean("fashion-mnist", names)
	}
	return Info{}, fault.New(fault.Usage, "unknown data set %q, expected one of %s", name, strings.Join(names, ", ")).
		WithHint("%s", cmp.Or(advice, "`idxport datasets` lists them with their splits"))
}

// plainName returns a name in lower case, without dashes, underscores, dots and spaces.
func plainName(name string) string {
	return strings.Join(strings.FieldsFunc(lowerASCII(name), isSeparator), "")
}

// DidYouMean returns the hint for a name that is not among names: those that begin with it
// ("emnist"), or else the nearest one; it is empty if there is none. Case and dashes do not count.
func DidYouMean(name string, names []string) string {
	family := slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		return name == "" || !strings.HasPrefix(plainName(n), plainName(name))
	})
	if closest := Nearest(name, names); len(family) == 0 && closest != "" {
		family = []string{closest}
	}
	if last := len(family) - 1; last >= 0 {
		return "did you mean " + strings.TrimPrefix(strings.Join(family[:last], ", ")+" or "+family[last], " or ") + "?"
	}
	return ""
}

// Nearest returns the nearest of names, the first if several are equally near, or "" if none is
// near.
func Nearest(name string, names []string) (closest string) {
	limit := 1 + (len(name)+1)/4
	for _, n := range names {
		if d := editDistance(plainName(name), plainName(n)); d <= limit {
			closest, limit = n, d-1
		}
	}
	return closest
}

// editDistance returns the Levenshtein distance: how many bytes must be inserted, removed or
// replaced to turn a into b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

const (
	digits    = "0 1 2 3 4 5 6 7 8 9"
	uppercase = "A B C D E F G H I J K L M N O P Q R S T U V W X Y Z"
	lowercase = "a b c d e f g h i j k l m n o p q r s t u v w x y z"

	// unmerged are the small letters that ByMerge and Balanced distinguish from the capitals; the
	// other 15 are merged with them.
	unmerged = "a b d e f g h n q r t"
)

// Known returns the published data sets; the caller may change them. MNIST, Fashion-MNIST, QMNIST
// and Kannada-MNIST are described at their homepages, Kannada-MNIST also in
// https://arxiv.org/abs/1908.01242.
func Known() []Info {
	return slices.Concat([]Info{{
		Name: "mnist", Title: "MNIST", Classes: strings.Fields(digits), ImageShape: []int{28, 28},
		Splits: []SplitInfo{{"train", 60000}, {"test", 10000}},
		Files: []PublishedFile{
			file("1feba77c54802fa5339a11837ea4b2866434b83314ec45192930f1df69120c13", 60000),
			file("c8d7b3ac57a59fa463cbbcdc21a53485e2990f12ca46d0fef62dd86cadfd67a3", 60000, 28, 28),
			file("ddeff807876a9661a1110d45c266c86239a3a1b7d37da0c3716a7a683c852ff5", 10000),
			file("8a004a2f81a80f4866259cbb77cf37af89315036b298b250b4d45c24aaa92048", 10000, 28, 28),
		},
		// The licence is given in https://keras.io/api/datasets/mnist/.
		License: "CC BY-SA 3.0", Homepage: "http://yann.lecun.com/exdb/mnist/",
	}, {
		Name: "fashion-mnist", Title: "Fashion-MNIST", ImageShape: []int{28, 28},
		Classes: []string{"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
			"Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"},
		Splits: []SplitInfo{{"train", 60000}, {"test", 10000}},
		Files: []PublishedFile{
			file("657fbd221bfc9f4198cc14b5619cc33ec57c58dd0e47af4d99d6650759e869a7", 60000),
			file("9fd5e05238929f78618002dd971c29d7154e418c5e6c5159dcbc48bead93a90f", 60000, 28, 28),
			file("3d0e6c6ea990b53b6f8f500a41cac93881d981b315f84578b7d915342ade01e9", 10000),
			file("d8c9b85550f6c8fa33478e27cb3fe70fd34b4cc96e6ab91b911853b51fb3d527", 10000, 28, 28),
		},
		License: "MIT", Homepage: "https://github.com/zalandoresearch/fashion-mnist",
	}, {
		// The hiragana of codh.rois.ac.jp/kmnist/dataset/kmnist/kmnist_classmap.csv, here in romaji
		// as in torchvision. Kuzushiji-49 is published only as .npz.
		Name: "kmnist", Title: "Kuzushiji-MNIST", ImageShape: []int{28, 28},
		Classes: strings.Fields("o ki su tsu na ha ma ya re wo"),
		Splits:  []SplitInfo{{"train", 60000}, {"test", 10000}},
		License: "CC BY-SA 4.0", Homepage: "https://github.com/rois-codh/kmnist",
	}}, emnist(), []Info{{
		// https://github.com/facebookresearch/qmnist#22-using-the-qmnist-extended-labels
		Name: "qmnist", Title: "QMNIST", ImageShape: []int{28, 28}, Classes: strings.Fields(digits),
		LabelColumns: strings.Fields("label hsf_series writer digit_index nist_class nist_index duplicate unused"),
		Splits:       []SplitInfo{{"train", 60000}, {"test", 60000}, {"nist", 402953}},
		Files: []PublishedFile{
			file("69d38b36ac9b86f1b198ee9b2fa7434a2013be2947fc11b5d8a94beb36d9a1da", 60000, 8),
			file("3aee714dbd3fe270d84d9cbcc928d0858cdd5e52022ffca569ac263dadb6276f", 60000, 8),
			file("345d044ae3c895fa4a9bb02d95611b705912608481cf5613f70445a1ae95485b", 60000),
			file("d556770422073ac750292f93cd4ad6887cb9d3914df601faeeadb47a32ce3ecf", 402953, 8),
		},
		License: "BSD-style", Homepage: "https://github.com/facebookresearch/qmnist",
	}, {
		// The split dig, published as Dig-MNIST, was written by people who do not use the script.
		Name: "kannada-mnist", Title: "Kannada-MNIST", ImageShape: []int{28, 28}, Classes: strings.Fields(digits),
		Splits:   []SplitInfo{{"train", 60000}, {"test", 10000}, {"dig", 10240}},
		Homepage: "https://github.com/vinayprabhu/Kannada_MNIST",
	}})
}

// file returns a published file: of labels, of QMNIST's eight numbers per label, or of images.
func file(sha256 string, dims ...int64) PublishedFile {
	p := PublishedFile{Label, idx.Header{DType: idx.Uint8, Dims: dims}, dims[0], sha256}
	switch len(dims) {
	case 2:
		p.Header.DType = idx.Int32
	case 3:
		p.Role, p.Hashed = Image, 100
	}
	return p
}

// emnist returns the six sets of EMNIST. The images are stored transposed:
// https://github.com/tensorflow/datasets/issues/812. The classes are those of the published mapping
// files; of a label with two letters it is the capital, which comes first there. The counts are
// from https://www.tensorflow.org/datasets/catalog/emnist, those of Letters, which has only a part
// there, from https://galilai-group.github.io/stable-datasets/datasets/e_mnist.
func emnist() []Info {
	sets := []struct {
		name, classes string
		train, test   int64
	}{
		{"Balanced", digits + " " + uppercase + " " + unmerged, 112800, 18800},
		{"ByClass", digits + " " + uppercase + " " + lowercase, 697932, 116323},
		{"ByMerge", digits + " " + uppercase + " " + unmerged, 697932, 116323},
		{"Digits", digits, 240000, 40000},
		{"Letters", " " + uppercase, 124800, 20800}, // labels 1…26
		{"MNIST", digits, 60000, 10000},
	}
	infos := make([]Info, len(sets))
	for i, s := range sets {
		infos[i] = Info{
			Name: "emnist-" + strings.ToLower(s.name), Title: "EMNIST " + s.name, ImageShape: []int{28, 28},
			Classes: strings.Split(s.classes, " "), Transposed: true,
			Splits:   []SplitInfo{{"train", s.train}, {"test", s.test}},
			Homepage: "https://www.nist.gov/itl/products-and-services/emnist-dataset",
		}
	}
	return infos
}
