package convert

import (
	"bufio"
	"cmp"
	"maps"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/formats"
	"github.com/idxport/idxport/internal/layout"
	"github.com/idxport/idxport/internal/object"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source/idx"
)

// A request is what was asked for: options, checked and parsed.
type request struct {
	Options     // with the defaults filled in, and URLs without their parameters
	args        []dataset.Input
	targets     []target
	choice      rowChoice
	expected    []expectation
	elementType idx.DType                   // of --dtype; 0 if not given
	codecs      map[string]compressed.Codec // by format name; "" is the key for all that compress internally
	layouts     map[string]string           // by format name; "" is the key for all that have layouts
	exact       bool                        // shapes are not guessed
	asStored    bool                        // Inspect does not transform what it reads
	storage     *storage
	stdin       *bufio.Reader
	report      *Report
}

// newRequest checks and parses options. Those about outputs must apply to one if there are any.
func newRequest(o Options, report *Report) (*request, error) {
	r := &request{Options: o, stdin: bufio.NewReader(o.Stdin), report: report,
		storage: &storage{store: &object.Store{Warn: report.warning}, opened: map[string]openedFile{}}}
	if len(o.Inputs) == 0 {
		return nil, usagef("no input").WithHint("give a folder, files, or - for standard input, such as ./mnist")
	}
	if r.MaxRecordBytes == 0 {
		r.MaxRecordBytes = DefaultMaxRecordBytes
	}
	if err := r.checkValues(); err != nil {
		return nil, err
	}
	if i := slices.Index(Choices("dtype"), r.DType); i >= 0 {
		r.elementType = idx.DTypes()[i]
	}
	for _, arg := range o.Inputs {
		if arg == "" {
			return nil, usagef("an input is empty").WithHint("perhaps a shell variable is not set")
		}
		arg, err := r.storage.store.ParseArg(arg)
		if err != nil {
			return nil, err
		}
		r.args = append(r.args, dataset.ParseInput(arg))
	}
	var err error
	if r.Classes, err = r.storage.store.ParseArg(o.Classes); err != nil {
		return nil, err
	}
	if r.choice, err = parseView(o.View); err != nil {
		return nil, err
	}
	if r.expected, err = parseExpect(o.Expect); err != nil || len(o.Outputs) == 0 {
		return r, err
	}
	if r.targets, err = parseTargets(r.storage.store, r.Options, r.choice.part.n); err != nil {
		return nil, err
	}
	if r.codecs, err = parseCompression(o.Compression); err != nil {
		return nil, err
	}
	layoutsOf := func(f formats.Format) []string { return f.Layouts }
	if r.layouts, err = parsePerFormat("layout", o.Layout, layoutsOf); err != nil {
		return nil, err
	}
	return r, r.checkUsed()
}

// checkValues checks the values of single flags.
func (r *request) checkValues() error {
	for _, n := range []struct {
		flag               string
		value, least, most int64
	}{
		{"max-record-bytes", r.MaxRecordBytes, 1, MaxRecordBytesLimit},
		{"workers", int64(r.Workers), 0, MaxWorkers},
		{"take", r.Take, 0, math.MaxInt64},
		{"rows-per-file", r.RowsPerFile, 0, math.MaxInt64},
	} {
		if n.value < n.least || n.value > n.most {
			return usagef("--%s %d, expected %d to %d", n.flag, n.value, n.least, n.most)
		}
	}
	for _, c := range [][2]string{{"dtype", r.DType}, {"channels", r.Channels},
		{"csv-style", r.CSVStyle}, {"class-folders", r.ClassFolders}} {
		if err := checkChoice(c[0], c[1]); err != nil {
			return err
		}
	}
	if r.Dataset == "" || r.Dataset == dataset.DatasetNone {
		return nil
	}
	_, err := dataset.Lookup(r.Dataset)
	return err
}

// formatOptions returns the options for outputs of format f.
func (r *request) formatOptions(f formats.Format) formats.Options {
	codecs := f.Codecs
	if f.Compressible && !r.makes(func(f formats.Format) bool { return f.Codecs != nil }) {
		codecs = f.Compressions() // of whole files, unless --compression is for what others contain
	}
	return formats.Options{Compression: perFormat(r.codecs, f, codecs), Layout: perFormat(r.layouts, f, f.Layouts),
		Style: r.CSVStyle, Channels: r.Channels, ClassFolders: r.ClassFolders, MaxLabel: -1,
		MetadataCSV: r.MetadataCSV, Version: Version}
}

// perFormat returns the value for format f or, if there is none and f accepts such values, the one
// for all formats.
func perFormat[T any](values map[string]T, f formats.Format, accepted []string) T {
	if v, ok := values[f.Name]; ok || accepted == nil {
		return v
	}
	return values[""]
}

// makes reports whether match returns true for the format of any output.
func (r *request) makes(match func(formats.Format) bool) bool {
	return slices.ContainsFunc(r.targets, func(t target) bool { return slices.ContainsFunc(t.formats, match) })
}

// isHub reports whether outputs of f have the layout of the Hugging Face Hub.
func (r *request) isHub(f formats.Format) bool {
	return f.Layouts != nil && r.formatOptions(f).Layout == "huggingface"
}

// placesLabel reports whether --label-column may name the place of the label in text without names
// of columns.
func (r *request) placesLabel() bool {
	return slices.Contains([]string{"first", "last", "none"}, r.LabelColumn)
}

// selects reports whether rows are selected by value or at random, or shuffled.
func (r *request) selects() bool {
	return r.choice.conditions != nil || r.choice.holdouts != nil || r.Shuffle
}

func (r *request) replaces() bool { return r.Overwrite || r.IfChanged }

// needsCount reports whether the number of rows is needed before they are read: headers depend on
// it, the number of digits in file names, and choices of rows.
func (r *request) needsCount() bool {
	return r.selects() || r.Take > 0 || r.Part != "" || r.choice.rows.relative() ||
		r.makes(func(f formats.Format) bool { return f.Folder || f.OneColumn || f.Images })
}

// scratchFolder returns a folder for scratch files: on the file system of the first local target,
// or else that of the system.
func (r *request) scratchFolder() string {
	for _, t := range r.targets {
		folder, _, _ := strings.Cut(t.path, "{")
		info, err := os.Stat(folder)
		if t.path == Stdio || object.IsURL(t.path) || err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			continue // it needs no space here
		}
		for (err != nil || !info.IsDir()) && folder != filepath.Dir(folder) {
			folder = filepath.Dir(folder)
			info, err = os.Stat(folder)
		}
		return folder
	}
	return os.TempDir()
}

// checkUsed returns an error if a flag applies to no output.
func (r *request) checkUsed() error {
	splittable := func(f formats.Format) bool { return f.Splittable }
	classColumn := func(f formats.Format) bool { return f.ClassColumn }
	styled := func(f formats.Format) bool { return f.Styled }
	folder := func(f formats.Format) bool { return f.Folder }
	type rule struct {
		flag    string
		given   bool
		outputs string // those that use it
		used    func(formats.Format) bool
	}
	rules := []rule{
		{"csv-style", r.CSVStyle != "", formats.List(styled), styled},
		{"class-folders", r.ClassFolders != "", "PNG folders", folder},
		{"class-column", r.ClassColumn, formats.List(classColumn), classColumn},
		{"metadata-csv", r.MetadataCSV, "PNG folders", folder},
		{"channels", r.Channels != "", "PNG folders, tar, and the layout huggingface", func(f formats.Format) bool {
			l, err := layout.Get(r.formatOptions(f).Layout)
			return f.Images || f.Layouts != nil && err == nil && l.Images()
		}},
		{"rows-per-file", r.RowsPerFile > 0, formats.List(splittable), splittable},
		{"label-column", r.LabelColumn != "" && !r.placesLabel() && !r.Stratify && !r.choice.byClass(),
			"the label of PNG folders, tar, the layout huggingface, --class-column, --stratify and --where class=…",
			func(f formats.Format) bool { return f.Images || r.ClassColumn && f.ClassColumn || r.isHub(f) }},
	}
	perFormat := func(flag, name, others string, has func(formats.Format) bool) {
		used := func(f formats.Format) bool { return f.Name == name || name == "" && has(f) }
		rules = append(rules, rule{flag, true, cmp.Or(name, others), used})
	}
	for _, name := range slices.Sorted(maps.Keys(r.layouts)) {
		perFormat("layout "+r.layouts[name], name, "Parquet and Arrow",
			func(f formats.Format) bool { return f.Layouts != nil })
	}
	for _, name := range slices.Sorted(maps.Keys(r.codecs)) {
		perFormat("compression "+r.codecs[name].Name, name, "Parquet, Arrow, CSV and IDX",
			func(f formats.Format) bool { return f.Compressions() != nil })
	}
	for _, rule := range rules {
		if rule.given && !r.makes(rule.used) {
			return usagef("no output uses --%s: it is for %s", rule.flag, rule.outputs)
		}
	}
	return nil
}

// A rowRange is a half-open range of rows as the user wrote it: a negative bound counts from the
// end of the table. If given is not set, there is no range.
type rowRange struct {
	text        string
	given       bool
	first, last int64
	open        bool // there is no last row: the range extends to the end
}

// parseRows parses A:B, where either number may be missing; "" means that there is no range.
func parseRows(s string) (rowRange, error) {
	a, b, ok := strings.Cut(s, ":")
	r := rowRange{text: s, given: s != "", open: b == ""}
	var firstErr, lastErr error
	if a != "" {
		r.first, firstErr = strconv.ParseInt(a, 10, 64)
	}
	if b != "" {
		r.last, lastErr = strconv.ParseInt(b, 10, 64)
	}
	if s != "" && !ok || firstErr != nil || lastErr != nil {
		e := usagef("--rows %q, expected A:B", s)
		if !ok && firstErr == nil && r.first >= 0 {
			return rowRange{}, e.WithHint("--rows %d:%d is this row alone, --rows :%[1]d the rows before it", r.first, r.first+1)
		}
		return rowRange{}, e.WithHint("for example --rows 0:1000 for the first thousand, --rows -100: for the last hundred")
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
		return 0, 0, usagef("--rows %s is empty: it ends before it begins", r.text)
	}
	if r.open || !r.given {
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
		return 0, 0, usagef("--rows %s is empty in a table of %s", r.text, text.Count(total, "row"))
	}
	return first, last, nil
}

// A part is the i-th of n ranges, which together are all rows.
type part struct{ i, n int64 }

// parsePart parses I/N; "" means the only part.
func parsePart(s string) (part, error) {
	if s == "" {
		return part{1, 1}, nil
	}
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

// A rowChoice holds the parsed options of a View that choose rows. They apply in this order:
// --rows, --where, --holdout, --shuffle, --take, --part.
type rowChoice struct {
	rows       rowRange
	conditions []condition
	holdouts   []holdout
	part       part
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

// byClass reports whether rows are selected by the names of their classes.
func (c rowChoice) byClass() bool {
	return slices.ContainsFunc(c.conditions, func(c condition) bool { return c.column == schema.ClassName })
}

// parseView parses the options of a view that choose rows, and checks the others.
func parseView(v View) (c rowChoice, err error) {
	if c.rows, err = parseRows(v.Rows); err != nil {
		return c, err
	}
	if c.part, err = parsePart(v.Part); err != nil {
		return c, err
	}
	for _, text := range v.Where {
		condition, err := parseCondition(text)
		if err != nil {
			return c, err
		}
		c.conditions = append(c.conditions, condition)
	}
	for _, text := range v.Holdout {
		h, err := parseHoldout(text)
		if err != nil {
			return c, err
		}
		if slices.ContainsFunc(c.holdouts, func(other holdout) bool { return other.name == h.name }) {
			return c, usagef("--holdout %s is given twice", h.name)
		}
		c.holdouts = append(c.holdouts, h)
	}
	for i, name := range v.Columns {
		if name == "" || slices.Contains(v.Columns[:i], name) {
			return c, usagef("--columns %s: %q is empty or given twice", strings.Join(v.Columns, ","), name)
		}
	}
	switch {
	case v.Stratify && c.holdouts == nil:
		return c, usagef("--stratify is for --holdout").WithHint("add --holdout validation=10%%")
	case v.Seed != 0 && c.holdouts == nil && !v.Shuffle:
		return c, usagef("--seed is for --holdout and --shuffle")
	}
	return c, nil
}

// parseCondition parses COLUMN=VALUES or COLUMN!=VALUES.
func parseCondition(text string) (condition, error) {
	column, values, ok := strings.Cut(text, "=")
	c := condition{text: text, values: values}
	c.column, c.negated = strings.CutSuffix(column, "!")
	if !ok || c.column == "" || values == "" || strings.TrimRight(c.column, "<>") != c.column {
		return c, usagef("--where %q, expected COLUMN=VALUES or COLUMN!=VALUES", text).
			WithHint("for example --where label=0,1 or --where label=3-7 or --where class=Sneaker")
	}
	return c, nil
}

// holdoutArgument matches NAME=ROWS or NAME=PERCENT%.
var holdoutArgument = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]*)=(?:([0-9]{1,18})|([0-9]{1,3}(?:\.[0-9]{1,9})?)%)$`)
})

// parseHoldout parses NAME=ROWS or NAME=PERCENT%.
func parseHoldout(text string) (holdout, error) {
	m := holdoutArgument().FindStringSubmatch(text)
	if m == nil {
		return holdout{}, usagef("--holdout %q, expected NAME=ROWS or NAME=PERCENT%%, where NAME begins with a "+
			"letter, and consists of letters, digits, _ and -", text).
			WithHint("for example --holdout validation=5000 or --holdout validation=10%%")
	}
	h := holdout{text: text, name: m[1], rows: new(big.Rat), percent: m[3] != ""}
	h.rows.SetString(m[2] + m[3])
	return h, nil
}

// count returns the number of rows to hold out of total. A percentage is rounded to a whole number
// of rows, halves up.
func (h holdout) count(total int64) int64 {
	n := new(big.Rat).Set(h.rows)
	if h.percent {
		n.Mul(n, big.NewRat(total, 100))
		n.Add(n, big.NewRat(1, 2))
	}
	return new(big.Int).Quo(n.Num(), n.Denom()).Int64()
}

// An expectation is an element of --expect: a split with its number of rows or, if that is −1, a
// column of all splits.
type expectation struct {
	text, name string
	rows       int64
}

// parseExpect parses the arguments of --expect, lists of SPLIT=ROWS and COLUMN.
func parseExpect(args []string) (all []expectation, err error) {
	for _, arg := range args {
		for text := range strings.SplitSeq(arg, ",") {
			name, count, isSplit := strings.Cut(text, "=")
			e := expectation{text, name, -1}
			if isSplit {
				e.rows, err = strconv.ParseInt(count, 10, 64)
			}
			if name == "" || err != nil || isSplit && e.rows < 0 {
				return nil, usagef("--expect %q, expected SPLIT=ROWS or COLUMN", text).
					WithHint("for example --expect train=60000,test=10000 or --expect image,label")
			}
			all = append(all, e)
		}
	}
	return all, nil
}
