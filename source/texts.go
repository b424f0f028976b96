package source

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/source/idx"
)

// Texts makes integers of a column of texts: whole numbers are these numbers, and class names are
// their places in a list. Names are never numbered by themselves, because the numbers would depend
// on the rows that a file happens to have.
type Texts struct {
	DType  idx.DType
	Names  []string         // by label; nil: the texts are numbers
	labels map[string]int64 // of names, also of those that the texts are not; or truthValues
	truths bool             // the texts are truthValues
}

var truthValues = map[string]int64{"false": 0, "False": 0, "FALSE": 0, "true": 1, "True": 1, "TRUE": 1}

// NewTexts returns how the texts of a column become integers. sample are the texts of some rows, at
// least of the first one. Texts of which o.Classes has some are names. If it has none, and the
// texts are neither numbers nor truth values, the error is that of unknownNames.
func NewTexts(sample []string, o ReadOptions) (*Texts, *fault.Error) {
	t, twice := &Texts{DType: idx.Uint8, labels: map[string]int64{}}, ""
	for i, name := range o.Classes {
		name = norm.NFC.String(strings.TrimSpace(name)) // macOS has another form
		if _, again := t.labels[name]; again && name != "" {
			twice = name
		}
		t.labels[name] = int64(i)
	}
	delete(t.labels, "")
	isTruth := func(s string) bool { _, is := truthValues[strings.TrimSpace(s)]; return is }
	numbers, named, truths := true, false, !slices.ContainsFunc(o.Classes, isTruth) // else the list decides
	for _, text := range sample {
		n, isNumber := wholeNumber(text)
		_, isName := t.labels[norm.NFC.String(strings.TrimSpace(text))]
		numbers, named, truths = numbers && isNumber, named || isName, truths && isTruth(text)
		if n < 0 || n > math.MaxUint8 {
			t.DType = idx.Int32
		}
	}
	switch {
	case !numbers && named && twice != "":
		return nil, fault.New(fault.Malformed, "%q is the name of several labels, expected one", twice).
			WithHint("give each label a name of its own where the table was written, " + hintLeave)
	case !numbers && named:
		t.Names, t.DType = o.Classes, idx.Int32
		if len(o.Classes) <= 1<<8 {
			t.DType = idx.Uint8
		}
	case !numbers && truths:
		t.labels, t.truths = truthValues, true
	case !numbers:
		return nil, unknownNames(sample, o.Classes != nil)
	case o.DType.Valid() && !o.DType.Float():
		t.DType = o.DType
	}
	return t, nil
}

// wholeNumber returns the number whose usual decimal form is text, but for spaces around it and for
// .0 after it, which pandas writes where labels are missing.
func wholeNumber(text string) (n int64, ok bool) {
	text = strings.TrimSuffix(strings.TrimSpace(text), ".0")
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == text
}

// HintType is the hint for an integer that its type cannot hold.
const HintType = "give a type of up to 32 bits with --dtype; below 2^53, cast it to float64; " + hintLeave
const hintLeave = "or leave the column out with --columns"

// Put stores the integer for text in dst. It fails for a number that is the name of another label.
func (t *Texts) Put(dst []byte, text string) *fault.Error {
	text = strings.TrimSpace(text)
	n, known := wholeNumber(text)
	_, _, isNumber := ParseNumber([]byte(text), 64)
	label, isName := t.labels[norm.NFC.String(text)]
	if t.Names != nil || t.truths || isName && !isNumber { // also a name after rows of numbers
		n, known = label, isName
	}
	least, most := t.DType.Limits()
	switch {
	case isName && isNumber && label != n:
		return fault.New(fault.Usage, "found %q, which may be a label, or the name of label %d", text, label).
			WithHint("if it is a label, leave out --classes; if it is a name, write names that are "+
				"no numbers, such as class-%s, there and in the file of --classes", text)
	case !known && t.Names != nil:
		return fault.New(fault.Malformed, "found the name %q, expected the name of a class (%d known)",
			text, len(t.labels)).WithHint("add the name to the file of --classes or, if it is empty, fill it in")
	case !known && t.truths:
		return fault.New(fault.Usage, "found %q, expected true or false, as before it", text).
			WithHint("list all texts in the order of their numbers in a file for --classes, " + hintLeave)
	case !known:
		return fault.New(fault.Malformed, "found the text %q, expected a whole number, as before it", text).
			WithHint("list all names, also those that are numbers, in a file for --classes, " + hintLeave)
	case n < least || n > most:
		return fault.New(fault.Malformed, "found %q, expected a value of type %v", text, t.DType).WithHint(HintType)
	}
	Put(dst, t.DType, n)
	return nil
}

// ImageName matches names of files that have the extension of an image, also in columns of tables.
var ImageName = text.Pattern(`(?i)\.(png|jpe?g|bmp|gif|tiff?|webp)$`)

// unknownNames returns the error for names, in any order, that the list, if there is one, lacks.
func unknownNames(names []string, listed bool) *fault.Error {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	all := strings.Join(names, ", ")
	switch {
	case names[0] == "":
		return fault.New(fault.Malformed, "found an empty text among names").WithHint("fill it in, " + hintLeave)
	case !slices.ContainsFunc(names, func(name string) bool { _, _, ok := ParseNumber([]byte(name), 64); return !ok }):
		return fault.New(fault.Usage, "found numbers with leading zeros, fractions, or over 64 bits: %.400s", all).
			WithHint("cast the column to numbers where it was written, " + hintLeave)
	case strings.Trim(all, "[]0123456789., ") == "" && strings.ContainsAny(names[0], " ,"):
		return fault.New(fault.Usage, "found lists of numbers as texts: %.100s", all).
			WithHint("cast the column to lists of numbers where it was written, " + hintLeave)
	case ImageName().MatchString(names[len(names)-1]):
		return fault.New(fault.Usage, "found what may be the names of images, which are not followed: %.400s", all).
			WithHint("convert their folder, with this table as metadata.csv and this column as file_name, " + hintLeave)
	case listed || len(names) > 100 || len(all) > 4000: // too many for a message
		return fault.New(fault.Usage, "found names, whose numbers are not known: %.400s…", all).
			WithHint("list all names in the order of their numbers in a file for --classes, " + hintLeave)
	}
	for i, name := range names {
		names[i] = text.Quote(name)
	}
	return fault.New(fault.Usage, "found names, whose numbers are not known: %s", all).
		WithHint("list them, and any of other rows, in the order of their numbers, and add --classes class-order.txt: "+
			`printf '%%s\n' %s > class-order.txt; `+hintLeave, strings.Join(names, " "))
}

// ParseNumber reads text as a float of that many bits. integer reports whether it has only digits,
// and perhaps a sign; ok is false if it is not a number, or one beyond the type. Go's hexadecimal
// floats and underscores are not numbers here.
func ParseNumber(text []byte, bits int) (v float64, integer, ok bool) {
	integer, ok = true, true
	for _, c := range text {
		integer = integer && (c >= '0' && c <= '9' || c == '-' || c == '+')
		ok = ok && c|0x20 != 'x' && c != '_'
	}
	if len(text) == 0 || text[0] >= 'A' && bytes.IndexByte([]byte("INin"), text[0]) < 0 {
		return 0, false, false // without the garbage of an error
	}
	v, err := strconv.ParseFloat(string(text), bits)
	return v, integer, ok && err == nil
}

// PutText stores the number in text as the element at the start of dst. It returns false if text is
// not a number that d can hold. Floats round fractions, but not integers.
func PutText(d idx.DType, dst, text []byte) (fits bool) {
	if !d.Float() {
		smallest, largest := d.Limits()
		n, err := strconv.ParseInt(string(text), 10, 32)
		if err != nil { // such as 7.0 or 2.5e1
			v, _, ok := ParseNumber(text, 64)
			if n = int64(v); !ok || float64(n) != v {
				return false
			}
		}
		Put(dst, d, n)
		return n >= smallest && n <= largest
	}
	v, integer, ok := ParseNumber(text, 8*d.Size())
	if ok && integer && math.Abs(v) >= 1<<24 { // float32 holds all integers below this
		ok = strconv.FormatFloat(math.Abs(v), 'f', 0, 64) == string(bytes.TrimLeft(text, "+-0"))
	}
	Put(dst, d, v)
	return ok
}
