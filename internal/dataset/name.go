package dataset

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/source"
)

// A Role is the part that a file has in its table.
type Role int

// The roles, in the order of a table's columns.
const (
	Image Role = iota // images, patterns, X_
	Label             // labels, y_
	Data              // anything else
)

// String returns the name of the role's column.
func (r Role) String() string { return [...]string{"image", "label", "data"}[r] }

// A Name has the parts of the name of a file.
type Name struct {
	Dataset     string // Name of one of Known, if only that data set has the prefix; else empty
	Split       string // as in SplitInfo.Name ("t10k" is "test"), or empty
	Role        Role
	Ambiguous   bool   // the name has words of several roles: images_and_labels
	Prefix      string // the other words, in lower case, joined by dashes; equal for files that belong together
	Stem        string // the base name without format and compression, in the original case
	Format      string // "idx3-ubyte", "idx" for a plain .idx, or empty if the name does not say that this is IDX
	Compression string // "gz", "zst", "xz", "bz2" or empty, according to the name
}

// publishedFormat matches the end of published names, also with other signs for dashes, .bin behind
// it, or downloaded twice. glued matches Xtrain, train_x, trainImages and testset.
var publishedFormat = text.Pattern(`^(?:(.*)[-._])?(idx[12]?[0-9]{1,2})[-._](ubyte|byte|short|int|float|double)` +
	`(?:\.bin)?(?: ?\([0-9]+\))?$`)
var capitals = text.Pattern(`[A-Z]+`)
var glued = text.Pattern(`(?i)^(?:([xy]|im\w+|labels?|data|set)(` + SplitWord + `)|` +
	`(` + SplitWord + `)_?([xy]|im\w+|labels?|data|set))$`)

// SplitWord matches words that name splits: those of sureWord in any name, and those of otherWord,
// which are parts of other names (valid_mask), alone, with data or set, or beside other splits.
const SplitWord = sureWord + `|` + otherWord
const sureWord = `train(?:ing)?|test(?:ing)?|t10k|test[15]0k` // see https://github.com/facebookresearch/qmnist
const otherWord = `val(?:id(?:ation)?)?|dev|eval(?:uation)?`

var splitIn = text.Pattern(`(?s)^(?:(.*)[-_./ ])?(` + sureWord + `)([-_./ ].*)?$|` +
	`^(?:(.*)[-_./ ])?(` + otherWord + `)([-_./ ].*)?$`)

// CutSplit returns the split that a word of name names (t10k is test), name without the word and a
// separator, and whether that is a sure one, which is preferred; if there is none, "", name, false.
func CutSplit(name string) (split, rest string, sure bool) {
	name = unglue(name)
	m := splitIn().FindStringSubmatch(lowerASCII(name))
	if m == nil {
		return "", name, false
	}
	split = strings.TrimSuffix(m[2]+m[5], "ing")
	rest = strings.TrimLeft(name[:len(m[1]+m[4])]+name[len(name)-len(m[3]+m[6]):], "-_./ ")
	return cmp.Or(map[string]string{"t10k": "test"}[split], split), rest, m[2] != ""
}

func unglue(name string) string { return glued().ReplaceAllString(name, "$1$4-$2$3") }

var knownNames = sync.OnceValue(func() (names []string) {
	for _, d := range Known() {
		names = append(names, d.Name)
	}
	return names
})

// cutFormat cuts the format off the end of a name, also before .idx or .idx3: a-idx3-ubyte.idx.
func cutFormat(name string) (stem, format string) {
	if cut, ok := strings.CutSuffix(strings.TrimRight(name, "0123456789"), ".idx"); ok {
		name, format = cut, "idx"
	}
	if m := publishedFormat().FindStringSubmatch(name); m != nil {
		return m[1], m[2] + "-" + m[3]
	}
	return name, format
}

// ParseName parses the base name of path. It accepts every name; parts that it lacks are empty. The
// role and the split are each of the last word that names one, or the role of an x or y that leads
// or is before a split. The other words are the prefix, which may name the data set or the split.
func ParseName(path string) Name {
	n, base := Name{Role: Data}, source.Base(path)
	lower := lowerASCII(base)
	if ext := filepath.Ext(lower); ext != "" && slices.Contains([]string{"gz", "zst", "xz", "bz2"}, ext[1:]) {
		n.Compression, lower = ext[1:], strings.TrimSuffix(lower, ext)
	}
	lower, n.Format = cutFormat(lower)
	n.Stem = base[:len(lower)]
	words := strings.FieldsFunc(unglue(lower), func(r rune) bool { return strings.ContainsRune("-._ ", r) })
	for i := len(words) - 1; i >= 0 && n.Role == Data; i-- {
		if n.Role = roleOf(words[i]); n.Role != Data {
			words = slices.Delete(words, i, i+1)
		}
	}
	n.Ambiguous = slices.ContainsFunc(words, func(w string) bool { return roleOf(w) != Data && roleOf(w) != n.Role })
	isSplit := func(word string) bool { _, rest, _ := CutSplit(word); return rest == "" }
	for i := 0; i < len(words)-1 && n.Role == Data; i++ { // X_train, mnist_y_train; train-x has a column x
		if role, isXY := map[string]Role{"x": Image, "y": Label}[words[i]]; isXY && (i == 0 || isSplit(words[i+1])) {
			n.Role, words = role, slices.Delete(words, i, i+1)
		}
	}
	n.Prefix = strings.Join(words, "-")
	split, rest, sure := CutSplit(n.Prefix)
	if sure || rest == "" || n.Role == Data && (rest == "data" || rest == "set") {
		n.Split, n.Prefix = split, rest
	}
	switch { // names of data sets, and published prefixes that only one has
	case slices.Contains(knownNames(), n.Prefix):
		n.Dataset = n.Prefix
	case n.Prefix == "xnist":
		n.Dataset, n.Split = "qmnist", cmp.Or(n.Split, "nist")
	case n.Prefix == "dig-mnist": // https://github.com/vinayprabhu/Kannada_MNIST/tree/master/data/output_tensors
		n.Dataset, n.Split = "kannada-mnist", cmp.Or(n.Split, "dig")
	}
	return n
}

func roleOf(word string) Role {
	switch word {
	case "image", "images", "imgs", "patterns": // KMNIST .npz; https://leon.bottou.org/projects/infimnist
		return Image
	case "label", "labels":
		return Label
	}
	return Data
}

// setKey returns a key that is equal for the files of one data set, or with the same prefix.
func (n Name) setKey() string { return cmp.Or(n.Dataset, "/"+n.Prefix) }

// ColumnOf returns the name of the column n in the table of other, a file of images or labels:
// weather for train-weather and fine_label for train-fine_label beside train-images, else "".
func (n Name) ColumnOf(other Name) string {
	base, last := n.cutLast()
	theirs, role := other.cutLast()
	isColumn := strings.Contains(last, "_") || n.Split == other.Split && roleOf(last) == Data // also of x-weight
	if base != "" && base == theirs && isColumn && roleOf(role) != Data && columnName().MatchString(last) {
		return n.Stem[len(n.Stem)-len(last):] // in the original case
	}
	rest, ok := n.Prefix, n.Split == other.Split
	if n.Split == "" && other.Split != "" { // as in validation-weather: the word is not alone, so it named no split
		rest, ok = strings.CutPrefix(n.Prefix, other.Split+"-")
	}
	if ok && other.Prefix != "" {
		rest, ok = strings.CutPrefix(n.Prefix, other.Prefix+"-")
	}
	if !ok || n.Role != Data || other.Role == Data || !columnName().MatchString(rest) {
		return ""
	}
	own := n.Stem[max(0, len(n.Stem)-len(rest)):] // in the original case
	if text.IsSame(own, rest) && columnName().MatchString(own) {
		return own
	}
	return rest
}

// ownName matches the stem of an output's column that is not its label: train-fine_label.
var ownName = text.Pattern(`(?i)^(?:` + SplitWord + `)-([\pL_][\pL\pN_]*_labels?)$`)

// ownColumn returns the column that n names even without other files, or "".
func (n Name) ownColumn() string {
	if m := ownName().FindStringSubmatch(n.Stem); m != nil {
		return m[1]
	}
	return ""
}

// Pairs reports whether n and other are named as the images and the labels of one table.
func (n Name) Pairs(other Name) bool {
	return n.Role+other.Role == Label && n.Prefix == other.Prefix && n.Split == other.Split
}

// cutLast returns what is before the last dash of n's stem, and what is after it, in lower case.
func (n Name) cutLast() (base, last string) {
	i := strings.LastIndexByte(n.Stem, '-')
	return lowerASCII(n.Stem[:max(0, i)]), lowerASCII(n.Stem[i+1:])
}

// lowerASCII lowers A…Z and keeps every other byte, so that positions in the result are those in s.
func lowerASCII(s string) string { return capitals().ReplaceAllStringFunc(s, strings.ToLower) }

var yName = text.Pattern(`(?i)(^|[-_. ])(y|targets?)([-_. ]|$)`)

// IsCalledY reports whether a word of the base name of path is y or target, as of labels beside x.
func IsCalledY(path string) bool { return yName().MatchString(source.Base(path)) }
