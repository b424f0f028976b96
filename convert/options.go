package convert

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// Options describe what a conversion reads and writes. Zero values are the defaults. String values
// have the form of the command's flags, which its help explains.
type Options struct {
	Source
	View
	Target
}

// A Source describes what is read.
type Source struct {
	Inputs         []string // folders, files, NAME=FILE, URLs, or - for Stdin
	Split          []string // the splits to read; empty means all
	Dataset        string   // a name known to package dataset, or "none"; empty means detect it
	Classes        string   // file of class names
	Reshape        []int    // other dimensions over the same data; one may be −1
	ByteOrder      string   // big or little
	DType          string   // element type, for inputs that record none or whose type IDX lacks
	Shape          []int    // shape of one record, for inputs that do not record one
	Resize         Size     // to which images are scaled
	Grey           bool     // make images grey
	Header         *bool    // whether CSV begins with column names; nil means detect it
	Salvage        bool     // read the complete records of damaged IDX files
	LabelColumn    string   // name of the label column, or index into labels of several numbers
	MaxRecordBytes int64

	Stdin   io.Reader
	Workers int // number of goroutines; 0 means one per processor
	Events  Events
}

// A Size is the width and height of an image in pixels; zeros mean that there is none.
type Size [2]int

// String returns the size as --resize takes it, or "".
func (s Size) String() string {
	if s[0] == 0 {
		return ""
	}
	return fmt.Sprintf("%dx%d", s[0], s[1])
}

// A View selects columns and rows and transforms images.
type View struct {
	Columns   []string // names, in the order of the output; empty means all
	Rows      string   // A:B, half-open; negative numbers count from the end
	Where     []string // COLUMN=VALUES or COLUMN!=VALUES; a row must meet all conditions
	Holdout   []string // NAME=ROWS or NAME=PERCENT%: random rows of train become a split
	Stratify  bool     // hold out the same share of each label
	Shuffle   bool
	Seed      int64  // of Holdout and Shuffle
	Take      int64  // the maximum number of rows; 0 means all
	Part      string // I/N: the I-th of N equal ranges of what the fields above select; empty means all
	Transpose *bool  // nil means yes if the data set is stored transposed
	Invert    bool
	Channels  string // last or first
}

// A Target describes what is written, and how.
type Target struct {
	Outputs      []string // files, folders, FORMAT=PATH, URLs, or - for Stdout
	To           []string // formats for folders and for Stdout
	Overwrite    bool
	IfChanged    bool // do nothing if all is up to date, else overwrite
	Verify       bool
	Checksum     bool // report the SHA-256 of outputs
	RowsPerFile  int64
	Compression  []string
	Layout       []string
	CSVStyle     string
	ClassFolders string // labels or names
	ClassColumn  bool
	MetadataCSV  bool

	Stdout io.Writer
}

// Events are callbacks that a run calls, one at a time unless it is canceled. Any of them may be
// nil.
type Events struct {
	// Message is called with each note and warning as soon as it is known. The Report has them too.
	Message func(warning bool, text string)
	// Progress is called before a table is read; rows is −1 if its number of rows is unknown. It
	// returns two functions. The first one, update, may be nil; it is called with the number of
	// rows processed so far. The second one, end, is called once the table has been read.
	Progress func(title string, rows int64) (update func(int64), end func())
}

// Limits of options.
const (
	DefaultMaxRecordBytes = 16 << 20
	MaxWorkers            = 4096 // far more than the processors of any machine
	// MaxRecordBytesLimit is the largest Source.MaxRecordBytes, small enough that a 32-bit process
	// can hold several records.
	MaxRecordBytesLimit = min(math.MaxInt32, math.MaxInt/8)
)

// Stdio is the path of standard input and standard output.
const Stdio = source.Stdin

// Choices returns the values that the named flag accepts, or nil if it has no fixed set of values.
func Choices(flag string) (values []string) {
	switch flag {
	case "byte-order":
		return []string{"big", "little"}
	case "channels":
		return []string{"last", "first"}
	case "class-folders":
		return []string{"labels", "names"}
	case "dtype":
		for _, d := range idx.DTypes() {
			values = append(values, d.String())
		}
	case "csv-style":
		for _, s := range csv.Styles() {
			values = append(values, s.Name)
		}
	}
	return values
}

// usagef returns an error about options that are wrong or contradict each other or the inputs.
func usagef(format string, args ...any) *fault.Error { return fault.New(fault.Usage, format, args...) }

// checkOption returns an error unless value is empty or one of the Choices of the flag.
func checkOption(flag, value string) error {
	if value == "" {
		return nil
	}
	return CheckChoice(flag, value, Choices(flag))
}

// CheckChoice returns an error unless the value of a flag is one of known.
func CheckChoice(flag, value string, known []string) error {
	if slices.Contains(known, value) {
		return nil
	}
	last := len(known) - 1
	return usagef("--%s %q, expected %s or %s", flag, value, strings.Join(known[:last], ", "), known[last])
}

// A rowRange is a half-open range of rows as the user wrote it: a negative bound counts from the
// end of the table. If given is not set, there is no range.
type rowRange struct {
	given       bool
	first, last int64
	open        bool // there is no last row: the range extends to the end
}

// parseRows parses A:B, where either number may be missing.
func parseRows(s string) (rowRange, error) {
	a, b, ok := strings.Cut(s, ":")
	r := rowRange{given: true, open: b == ""}
	var firstErr, lastErr error
	if a != "" {
		r.first, firstErr = strconv.ParseInt(a, 10, 64)
	}
	if b != "" {
		r.last, lastErr = strconv.ParseInt(b, 10, 64)
	}
	if !ok || firstErr != nil || lastErr != nil {
		return rowRange{}, usagef("--rows %q, expected A:B", s).
			WithHint("for example --rows 0:1000 for the first thousand, --rows -100: for the last hundred")
	}
	return r, nil
}

// relative reports whether r depends on the number of rows.
func (r rowRange) relative() bool { return r.given && (r.open || r.first < 0 || r.last < 0) }

// resolve returns the rows that r selects from a table of total rows; total may be −1, for unknown,
// unless r is relative. As with Python's slices, rows beyond the end are ignored if it is known.
func (r rowRange) resolve(total int64) (first, last int64, err error) {
	first, last = r.first, r.last
	if !r.open && first > last && (first < 0) == (last < 0) {
		return 0, 0, usagef("--rows %s is empty: it ends before it begins", r)
	}
	if r.open {
		last = total
	}
	if first < 0 {
		first = max(0, first+total)
	}
	if last < 0 {
		last = max(0, last+total)
	}
	if total >= 0 {
		first, last = min(first, total), min(last, total)
	}
	if first > last {
		return 0, 0, usagef("--rows %s is empty in a table of %s", r, display.Count(total, "row"))
	}
	return first, last, nil
}

func (r rowRange) String() string {
	if r.open {
		return fmt.Sprintf("%d:", r.first)
	}
	return fmt.Sprintf("%d:%d", r.first, r.last)
}

// A part is the i-th of n ranges, which together are all rows.
type part struct{ i, n int64 }

// parsePart parses I/N.
func parsePart(s string) (part, error) {
	index, count, _ := strings.Cut(s, "/")
	i, badIndex := strconv.ParseUint(index, 10, 31)
	n, badCount := strconv.ParseUint(count, 10, 31)
	if badIndex != nil || badCount != nil || i < 1 || i > n {
		return part{}, usagef("--part %q, expected I/N, with numbers from 1 to N", s).
			WithHint("for example --part 3/8 for the third of eight, or --part $((INDEX + 1))/8 for an index from 0")
	}
	return part{int64(i), int64(n)}, nil
}

// of returns the part of the rows first to last−1. Parts are as numpy.array_split makes them: the
// first ones have one row more than the others if the rows cannot be divided equally.
func (p part) of(first, last int64) (from, to int64) {
	each, more := (last-first)/p.n, (last-first)%p.n
	start := func(i int64) int64 { return first + i*each + min(i, more) }
	return start(p.i - 1), start(p.i)
}

// rowOptions holds the parsed --where and --holdout of a View. The options that choose rows apply
// in this order: --rows, --where, --holdout, --shuffle, --take, --part.
type rowOptions struct {
	conditions []condition
	holdouts   []holdout
}

// A condition is a parsed --where argument: the value of the column must be one of values or, if
// negated is set, none of them. Values are numbers and ranges or, as rowTest decides, class names.
type condition struct {
	text, column, values string
	negated              bool
}

// A holdout is a parsed --holdout argument: a number of rows, or a percentage of them.
type holdout struct {
	text, name string
	rows       *big.Rat // a number of rows, or a percentage if percent is set
	percent    bool
}

// selectsClasses reports whether rows are selected by the names of their classes.
func (o rowOptions) selectsClasses() bool {
	return slices.ContainsFunc(o.conditions, func(c condition) bool { return c.column == schema.ClassName })
}

// parseRowOptions parses the options of a view.
func parseRowOptions(o View) (parsed rowOptions, err error) {
	for _, text := range o.Where {
		column, values, ok := strings.Cut(text, "=")
		c := condition{text: text, values: values}
		c.column, c.negated = strings.CutSuffix(column, "!")
		if !ok || c.column == "" || values == "" {
			return parsed, usagef("--where %q, expected COLUMN=VALUES or COLUMN!=VALUES", text).
				WithHint("for example --where label=0,1 or --where label=3-7 or --where class=Sneaker")
		}
		parsed.conditions = append(parsed.conditions, c)
	}
	for _, text := range o.Holdout {
		name, amount, _ := strings.Cut(text, "=")
		h := holdout{text: text, name: name}
		amount, h.percent = strings.CutSuffix(amount, "%")
		var ok bool
		if h.rows, ok = new(big.Rat).SetString(amount); !ok || !holdoutAmount().MatchString(amount) || !h.percent && !h.rows.IsInt() || name == "" {
			return parsed, usagef("--holdout %q, expected NAME=ROWS or NAME=PERCENT%%", text).
				WithHint("for example --holdout validation=5000 or --holdout validation=10%%")
		}
		if !holdoutName().MatchString(name) {
			return parsed, usagef("--holdout %q: the name of a split begins with a letter, and consists of letters, digits, _ and -", text)
		}
		if slices.ContainsFunc(parsed.holdouts, func(other holdout) bool { return other.name == name }) {
			return parsed, usagef("--holdout %s is given twice", name)
		}
		parsed.holdouts = append(parsed.holdouts, h)
	}
	for i, name := range o.Columns {
		switch {
		case name == "":
			return parsed, usagef("--columns %q: a name is empty", strings.Join(o.Columns, ","))
		case slices.Contains(o.Columns[:i], name):
			return parsed, usagef("--columns: %q is given twice", name)
		}
	}
	switch {
	case o.Take < 0:
		return parsed, usagef("--take %d, expected at least 0", o.Take)
	case o.Stratify && parsed.holdouts == nil:
		return parsed, usagef("--stratify is for --holdout").WithHint("add --holdout validation=10%%")
	case o.Seed != 0 && parsed.holdouts == nil && !o.Shuffle:
		return parsed, usagef("--seed is for --holdout and --shuffle")
	}
	return parsed, nil
}

var (
	holdoutName   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`) })
	holdoutAmount = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{1,18}(\.[0-9]{1,9})?$`) })
)

// Version is the version of the program. It is written into outputs: only the same version is
// guaranteed to write the same bytes.
const Version = "0.1.0"
