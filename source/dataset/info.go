package dataset

import (
	"fmt"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/idx"
)

// An Info is what is known of a published data set.
type Info struct {
	Name   string // as --dataset takes it
	Title  string // as its authors write it
	Splits []SplitInfo
	// ImageShape is the shape of one image, rows before columns once the images stand upright.
	ImageShape []int
	// Classes names the labels: Classes[v] is the name of label v, empty where there is no such label.
	Classes []string
	// FirstLabel is the smallest label: 0, or 1 in EMNIST Letters.
	FirstLabel int
	// Transposed tells that images are stored column after column, so that they stand upright only when transposed.
	Transposed bool
	// LabelColumns names the columns of a label file of rank 2, the first being "label"; nil where labels are single numbers.
	LabelColumns []string
	License      string // as the publisher calls it; empty if no statement by them is known
	Homepage     string // URL
}

// A SplitInfo is one split of a published data set.
type SplitInfo struct {
	Name    string // "train", "test", …
	Records int64
	// Labels are the published label files, for telling the data set by its labels. Empty where they are not known.
	Labels []LabelFile
}

// A LabelFile identifies a published file of labels.
type LabelFile struct {
	Header idx.Header
	SHA256 string // of the decompressed payload after the header, hexadecimal
}

// DatasetNone is the name that turns off the identification of data sets.
const DatasetNone = "none"

// Lookup finds the data set that is called name, or whose files are, in any case and with or without dashes, underscores and spaces. The
// error lists the known ones.
func Lookup(name string) (Info, error) {
	known := Known()
	names := make([]string, len(known))
	for i, d := range known {
		if plainName(d.Name) == plainName(name) || plainName(d.Title) == plainName(name) {
			return d, nil
		}
		names[i] = d.Name
		for _, p := range prefixes {
			if p.dataset == d.Name && p.split == "" && plainName(p.prefix) == plainName(name) {
				return d, nil
			}
		}
	}
	advice := DidYouMean(name, names)
	if plainName(name) == "fmnist" { // which is nearer to mnist
		advice = DidYouMean("fashion-mnist", names)
	}
	if advice == "" {
		advice = "`idxport datasets` lists them with their splits"
	}
	return Info{}, fault.New(fault.Usage, "unknown data set %q, expected one of %s, or %s", name, strings.Join(names, ", "), DatasetNone).WithHint("%s", advice)
}

// plainName keeps the letters and digits of a name, lower case.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_ .", r) {
			return -1
		}
		return r
	}, lowerASCII(name))
}

// DidYouMean is the hint for a name that is not among names: those it begins ("emnist"), else the
// closest if that is close; or empty. The case of letters does not count, nor do dashes.
func DidYouMean(name string, names []string) string {
	var family []string
	for _, n := range names {
		if name != "" && strings.HasPrefix(plainName(n), plainName(name)) {
			family = append(family, n)
		}
	}
	if closest := Nearest(name, names); len(family) == 0 && closest != "" {
		family = []string{closest}
	}
	if len(family) == 0 {
		return ""
	}
	return fmt.Sprintf("did you mean %s?", strings.Join(family, ", "))
}

// Nearest is the closest of names, the first of several, if it is close; or empty.
func Nearest(name string, names []string) (closest string) {
	least := 1 + len(name)/3
	for _, n := range names {
		if d := editDistance(plainName(name), plainName(n)); d <= least {
			closest, least = n, d-1
		}
	}
	return closest
}

// editDistance is Levenshtein's: how many bytes must be inserted, removed or replaced to make b of a.
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
