package source

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/source/idx"
)

// Texts makes integers of a column of texts: whole numbers are these numbers, and class names are
// their places in a list. Names are never numbered by themselves, because the numbers would depend
// on the rows that a file happens to have.
type Texts struct {
	DType  idx.DType
	Names  []string // by label; nil: the texts are numbers
	labels map[string]int64
}

// NewTexts returns how the texts of a column become integers. sample are the texts of some rows, at
// least of the first one. The error is that of UnknownNames if o.Classes has none of them.
func NewTexts(sample []string, o ReadOptions) (*Texts, *fault.Error) {
	t := &Texts{DType: idx.Uint8}
	numbers := true
	for _, text := range sample {
		n, ok := wholeNumber(text)
		if numbers = numbers && ok; n < 0 || n > math.MaxUint8 {
			t.DType = idx.Int32
		}
	}
	if numbers {
		if o.DType.Valid() && !o.DType.Float() {
			t.DType = o.DType
		}
		return t, nil
	}
	if !slices.ContainsFunc(sample, func(text string) bool { return text != "" && slices.Contains(o.Classes, text) }) {
		return nil, UnknownNames(sample)
	}
	t.Names, t.labels = o.Classes, map[string]int64{}
	for i, name := range o.Classes {
		if name != "" {
			t.labels[name] = int64(i)
		}
	}
	if t.DType = idx.Int32; len(o.Classes) <= 1<<8 {
		t.DType = idx.Uint8
	}
	return t, nil
}

// wholeNumber returns the number whose usual decimal form is text.
func wholeNumber(text string) (n int64, ok bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == text
}

// Put stores the integer for text at the start of dst.
func (t *Texts) Put(dst []byte, text string) *fault.Error {
	n, known := t.labels[text]
	if t.labels == nil {
		n, known = wholeNumber(text)
	}
	least, most := t.DType.Limits()
	switch {
	case !known && t.labels != nil:
		return fault.New(fault.Malformed, "found the name %q, expected one of the %d names of the classes",
			text, len(t.labels)).WithHint("add the name to the file of --classes")
	case !known || n < least || n > most:
		return fault.New(fault.Malformed, "found the text %q, expected a whole number of the type %v", text, t.DType).
			WithHint("choose a type that holds all values, such as --dtype int32, " +
				"or leave the column out with --columns")
	}
	Put(dst, t.DType, n)
	return nil
}

// maxNames is the largest number of names, of usual length, that a message lists.
const maxNames = 100

// UnknownNames returns the error for names, in any order, whose labels no list has.
func UnknownNames(names []string) *fault.Error {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	if all := strings.Join(names, ", "); len(names) > maxNames || len(all) > 40*maxNames {
		return fault.New(fault.Usage, "found names, whose numbers are not known: %.400s…", all).
			WithHint("leave the column out with --columns, " +
				"or list all names in the order of their numbers in a file for --classes")
	}
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = text.Quote(name)
	}
	return fault.New(fault.Usage, "found names, whose numbers are not known: %s", strings.Join(names, ", ")).
		WithHint("list them in the order of their numbers, and add --classes classes.txt: "+
			`printf '%%s\n' %s > classes.txt; or leave the column out with --columns`, strings.Join(words, " "))
}
