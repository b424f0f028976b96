package convert

import (
	"context"
	"errors"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
	"github.com/idxport/idxport/source/idx"
)

// A chosenSplit is a split of the inputs, what --holdout left of one, or what it took from one.
type chosenSplit struct {
	dataset.Split
	rows    *source.Selection // nil means all rows, or the range of --rows
	divided bool              // by --holdout: this is what is left, or what was held out
}

// valueRange matches a number, or two with a dash between them.
var valueRange = sync.OnceValue(func() *regexp.Regexp {
	const number = `(-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)`
	return regexp.MustCompile(`^` + number + `(?:-` + number + `)?$`)
})

// selects reports whether rows are selected by value or at random, or shuffled.
func (o *conversion) selects() bool {
	return o.conditions != nil || o.holdouts != nil || o.Shuffle
}

// chooseRows returns the splits with the rows that the view selects, and those that it holds out.
func (o *conversion) chooseRows(ctx context.Context, splits []dataset.Split) (chosen []chosenSplit, err error) {
	o.needsCount = o.needsCount || o.selects() || o.Take > 0 || o.Part != "" || o.rows.relative()
	for _, s := range splits {
		holdsOut, err := o.holdsOutFrom(s, splits)
		if err != nil {
			return nil, err
		}
		c := chosenSplit{Split: s}
		if !o.selects() {
			chosen = append(chosen, c)
			continue
		}
		if err := o.checkRereadable(o.rereadingFlag(), s); err != nil {
			return nil, err
		}
		scan, err := o.scan(ctx, s, holdsOut && o.Stratify)
		if err != nil {
			return nil, aboutSplit(err, s, splits)
		}
		c.rows = scan.rows
		parts := []chosenSplit{c}
		if holdsOut {
			if parts, err = o.holdOut(c, scan); err != nil {
				return nil, err
			}
		}
		for _, part := range parts {
			if o.Shuffle {
				if err := part.rows.Shuffle(source.NewRandom(uint64(o.Seed), source.ShuffleStream)); err != nil {
					return nil, err
				}
			}
			if o.Take > 0 {
				part.rows = part.rows.Part(0, min(o.Take, part.rows.Len()))
			}
			chosen = append(chosen, part)
		}
	}
	for i, c := range chosen {
		chosen[i].Files = o.needed(c.Split)
	}
	reshaped := func(c chosenSplit) bool {
		return slices.ContainsFunc(c.Files, func(f dataset.File) bool { return f.Reshape != nil })
	}
	if o.Reshape != nil && !slices.ContainsFunc(chosen, reshaped) {
		return nil, usagef("no column of --columns uses --reshape: it gives images other dimensions, not their labels")
	}
	return chosen, nil
}

// aboutSplit returns err with the name of the split s, to which a flag does not apply, and with a
// hint to leave it out, if there are others. all are the splits of the inputs.
func aboutSplit(err error, s dataset.Split, all []dataset.Split) error {
	i := slices.IndexFunc(all, func(other dataset.Split) bool { return other.Name != "" && other.Name != s.Name })
	var found *fault.Error
	if i < 0 || !errors.As(err, &found) || found.Kind != fault.Usage || found.Path != "" {
		return err
	}
	e := *found
	e.Msg = splitTitle(s) + ": " + e.Msg
	return e.WithHint("%s", strings.TrimPrefix(e.Hint+"; to leave this split out, choose others: --split "+shell.Quote(all[i].Name), "; "))
}

// needed returns the files of s that are read: all, or, if each of --columns is a file of its own,
// those files.
func (o *conversion) needed(s dataset.Split) []dataset.File {
	if o.Columns == nil || o.LabelColumn != "" {
		return s.Files
	}
	var files []dataset.File
	for _, name := range o.Columns {
		i := slices.IndexFunc(s.Files, func(f dataset.File) bool { return f.Name == name })
		if i < 0 {
			return s.Files
		}
		f := s.Files[i]
		table, isTable := o.tables[f.Path]
		unstacked := isLabels(f) && s.Dataset != nil && s.Dataset.LabelColumns != nil
		if isTable && !table.Format.OneColumn || unstacked && len(f.Header.Dims) != 1 { // perhaps several columns
			return s.Files
		}
		files = append(files, f)
	}
	return files
}

// wantedColumns returns the columns that a table needs, nil for all: those of --columns and, if
// rows are tested, those of --where. Labels must be found among all columns.
func (o *conversion) wantedColumns(tested bool) []string {
	named := o.LabelColumn != "" && !o.placesLabel()
	if o.Columns == nil || named || tested && (o.Stratify || o.selectsClasses()) {
		return nil
	}
	wanted := slices.Clone(o.Columns)
	for _, c := range o.conditions {
		if tested {
			wanted = append(wanted, c.column)
		}
	}
	return wanted
}

// rereadingFlag returns one of the given flags that need to read the input a second time to select
// rows, for messages.
func (o *conversion) rereadingFlag() string {
	switch {
	case o.conditions != nil:
		return "--where"
	case o.holdouts != nil:
		return "--holdout"
	}
	return "--shuffle"
}

// rowsAndWhere returns the given flags --rows and --where with their values, for messages.
func (o *conversion) rowsAndWhere() string {
	var flags []string
	if o.rows.given {
		flags = append(flags, "--rows "+o.rows.String())
	}
	for _, text := range o.Where {
		flags = append(flags, "--where "+shell.Quote(text))
	}
	return strings.Join(flags, " ")
}

// holdsOutFrom reports whether rows are held out from s: it is train, or the only split of its data
// set. all are the splits of the inputs.
func (o *conversion) holdsOutFrom(s dataset.Split, all []dataset.Split) (bool, error) {
	if o.holdouts == nil {
		return false, nil
	}
	for _, h := range o.holdouts {
		switch {
		case h.name == s.Name:
			return false, usagef("--holdout %s: the inputs have a split %s", h.text, h.name).WithHint("choose another name")
		case s.Name == "" && h.name == "train": // see holdOut
			return false, usagef("--holdout %s: the split that keeps the other rows is called train", h.text).WithHint("choose another name")
		}
	}
	train := slices.ContainsFunc(all, func(s dataset.Split) bool { return s.Name == "train" })
	if !train && len(all) > 1 {
		return false, usagef("--holdout: found the splits %s, expected a split train, or a single split", splitNames(all)).WithHint("choose one with --split")
	}
	return s.Name == "train" || len(all) == 1, nil
}

// holdOut returns what is left of a split, which is named train if it had no name, and what is held
// out from it.
func (o *conversion) holdOut(c chosenSplit, scan scanned) ([]chosenSplit, error) {
	c.divided = true
	random, total := source.NewRandom(uint64(o.Seed), source.HoldOutStream), c.rows.Len()
	if c.Name == "" {
		c.Name = "train"
	}
	chosen := []chosenSplit{c}
	for _, h := range o.holdouts {
		n, left := h.count(total), c.rows.Len()
		if n > left {
			return nil, usagef("--holdout %s takes %s, but split %s has only %s left", h.text, display.Count(n, "row"), c.Name, display.Thousands(left))
		}
		quotas := []int64{n}
		if o.Stratify {
			quotas = source.Quotas(n, c.rows.Strata(scan.strata, scan.labelCount))
		}
		held := c
		held.Name, held.Notes, held.FolderNotes, held.Doubt = h.name, nil, nil, ""
		held.Evidence = dataset.ByOption // else the notes would say a second time how it was recognised
		held.rows = c.rows.HoldOut(scan.strata, quotas, random)
		chosen = append(chosen, held)
	}
	return chosen, nil
}

// count returns the number of rows to hold out of total. A percentage is rounded to a whole number
// of rows, halves up.
func (h holdout) count(total int64) int64 {
	n := new(big.Rat).Set(h.rows)
	if h.percent {
		n.Mul(n, big.NewRat(total, 100))
		n.Add(n, big.NewRat(1, 2))
	}
	whole := new(big.Int).Quo(n.Num(), n.Denom())
	if !whole.IsInt64() {
		return total + 1
	}
	return whole.Int64()
}

// scanned is the result of scan.
type scanned struct {
	rows       *source.Selection
	strata     []uint16 // for each row of the table, the index of its label in the sorted labels
	labelCount int      // number of different labels
}

// maxStrata is the greatest number of different labels that --stratify accepts.
const maxStrata = 1 << 16

// scan finds the rows of s that --rows and --where select and, if stratify is set, the stratum of
// each row. It reads as little as openScalars allows.
func (o *conversion) scan(ctx context.Context, s dataset.Split, stratify bool) (found scanned, err error) {
	whole, err := o.open(ctx, s, o.wantedColumns(true), o.classNames, false)
	if err != nil {
		return found, err
	}
	defer whole.Close() // read-only: an error does not matter
	whole = o.wholeLabels(whole)
	first, last := int64(0), whole.Rows()
	if o.rows.given {
		if first, last, err = o.rows.resolve(whole.Rows()); err != nil {
			return found, err
		}
	}
	labelName, tests, err := o.rowTests(whole, stratify)
	if err != nil {
		return found, err
	}
	t, trusted, err := o.openScalars(ctx, s, whole, tests != nil || stratify)
	if err != nil {
		return found, err
	}
	if t != whole {
		defer t.Close() // read-only: an error does not matter
	}
	found.rows = new(source.Selection)
	if last < whole.Rows() {
		found.rows.StopEarly()
	}
	if trusted {
		for row := range whole.Rows() {
			found.rows.Append(first <= row && row < last)
		}
		return found, nil
	}
	columns, strata := t.Columns(), newStrata()
	for i := range tests {
		tests[i].column = columnIndex(columns, tests[i].name)
	}
	labelIndex := columnIndex(columns, labelName)
	err = source.Each(ctx, t, func(b *source.Raw) error {
		// t may have more rows than whole, which --salvage cuts to its shortest column.
		for i := range min(b.Rows, int(whole.Rows()-b.First)) {
			row := b.First + int64(i)
			failed := slices.ContainsFunc(tests, func(test rowTest) bool { return !test.passes(b, i) })
			found.rows.Append(first <= row && row < last && !failed)
			if stratify {
				if err := strata.add(source.Int(columns[labelIndex].DType, b.Columns[labelIndex], i)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil && found.rows.TableRows() != whole.Rows() {
		err = fault.In(s.Files[0].Path, fault.Changed)
	}
	found.strata, found.labelCount = strata.sorted()
	return found, err
}

// rowTests returns the name of the column to stratify by, or "" if stratify is not set, and the
// tests of the conditions on t.
func (o *conversion) rowTests(t source.Table, stratify bool) (labelName string, tests []rowTest, err error) {
	if i := schema.Of(t).Label(); stratify && i >= 0 {
		labelName = t.Columns()[i].Name
	} else if stratify {
		return "", nil, noLabels("--stratify", t.Columns())
	}
	for _, c := range o.conditions {
		test, err := c.rowTest(t)
		if err != nil {
			return "", nil, err
		}
		tests = append(tests, test)
	}
	return labelName, tests, nil
}

// wholeLabels returns t with integers in place of labels that are stored as floats, if an output or
// a flag needs labels. (The layout huggingface can store other floats, unless they have names.)
func (o *conversion) wholeLabels(t source.Table) source.Table {
	i := columnIndex(t.Columns(), dataset.Label.String())
	if i < 0 || schema.Of(t).Label() >= 0 || !t.Columns()[i].Scalar() {
		return t
	}
	needed := o.Stratify || o.selectsClasses() || o.makes(func(f formats.Format) bool {
		return f.Images || o.ClassColumn && f.ClassColumn || o.isHub(f) && t.Columns()[i].Classes != nil
	})
	if !needed {
		return t
	}
	return source.Cast(t, i, idx.Int32, hintLabel)
}

// openScalars opens the files that must be read to find the rows of s: those of its scalar columns
// if values are needed, otherwise the one with the smallest records, which is read to count them.
// If trusted is set, that file is not compressed, and the count in its header suffices. For a
// table in another format, openScalars returns whole.
func (o *conversion) openScalars(ctx context.Context, s dataset.Split, whole source.Table, values bool) (t source.Table, trusted bool, err error) {
	if o.tables != nil {
		return whole, false, nil
	}
	if values {
		scalars := s
		scalars.Files = slices.DeleteFunc(slices.Clone(s.Files), func(f dataset.File) bool { return !isLabels(f) && len(f.Header.Dims) != 1 })
		if t, err = o.open(ctx, scalars, nil, o.classNames, false); err == nil {
			t = o.wholeLabels(t)
		}
		return t, false, err
	}
	smallest := slices.MinFunc(s.Files, func(a, b dataset.File) int {
		return int(min(max(a.Header.RecordSize()-b.Header.RecordSize(), -1), 1))
	})
	file, err := o.openIDX(ctx, s, smallest, nil)
	if err != nil {
		return nil, false, err
	}
	return file, file.Compression() == compressed.Plain, nil
}

// strata gives each label a number, in the order in which labels are found.
type strata struct {
	number map[int64]uint16
	rows   []uint16
}

func newStrata() *strata { return &strata{number: map[int64]uint16{}} }

func (s *strata) add(label int64) error {
	n, ok := s.number[label]
	if !ok {
		if len(s.number) == maxStrata {
			return usagef("--stratify: found more than %d different labels", maxStrata)
		}
		n = uint16(len(s.number))
		s.number[label] = n
	}
	s.rows = append(s.rows, n)
	return nil
}

// sorted returns the stratum of each row, and the number of strata. Strata are numbered in the
// order of their labels.
func (s *strata) sorted() (rows []uint16, n int) {
	labels := make([]int64, 0, len(s.number))
	for label := range s.number {
		labels = append(labels, label)
	}
	slices.Sort(labels)
	place := make([]uint16, len(labels))
	for i, label := range labels {
		place[s.number[label]] = uint16(i)
	}
	for i, n := range s.rows {
		s.rows[i] = place[n]
	}
	return s.rows, len(labels)
}

// A rowTest is a condition on a column of a table.
type rowTest struct {
	name    string
	column  int // its index in the table that is read
	dtype   idx.DType
	ranges  [][2]float64 // all elements of IDX files are numbers that a float64 holds exactly
	negated bool
}

func (t rowTest) passes(b *source.Raw, row int) bool {
	v := source.Float(t.dtype, b.Columns[t.column], row)
	return t.negated != slices.ContainsFunc(t.ranges, func(r [2]float64) bool { return r[0] <= v && v <= r[1] })
}

// rowTest returns the condition as a test of the rows of t.
func (c condition) rowTest(t source.Table) (test rowTest, err error) {
	columns := t.Columns()
	i, byName := columnIndex(columns, c.column), false
	if i < 0 && c.column == schema.ClassName {
		i, byName = schema.Of(t).Label(), true
	}
	if i < 0 {
		e := usagef("--where %s: no such column, found only %s", c.text, strings.Join(namesOf(columns), ", "))
		switch name := strings.TrimSpace(c.column); {
		case strings.HasSuffix(name, ">") || strings.HasSuffix(name, "<"):
			e = e.WithHint("write the values as a range, as in --where label=5-9")
		case name != c.column && columnIndex(columns, name) >= 0:
			e = e.WithHint("leave out the spaces, as in --where label=1")
		}
		return test, e
	}
	column := columns[i]
	test = rowTest{name: column.Name, dtype: column.DType, negated: c.negated}
	if byName {
		test.ranges, err = c.classRanges(column)
		return test, err
	}
	if !column.Scalar() {
		return test, usagef("--where %s: the records of %s have the shape %s, expected single numbers", c.text, c.column, display.Shape(column.Shape))
	}
	for _, text := range strings.Split(c.values, ",") {
		m := valueRange().FindStringSubmatch(strings.TrimSpace(text))
		if m == nil {
			e := usagef("--where %s: found %q, expected a number, or a range such as 3-7", c.text, text)
			switch {
			case slices.Contains(column.Classes, text):
				e = e.WithHint("to select by name: --where %s", shell.Quote("class="+text))
			case strings.HasPrefix(text, "="):
				e = e.WithHint("write a single =, as in --where label=1")
			}
			return test, e
		}
		low, high := parseNumber(m[1], column.DType), parseNumber(m[1], column.DType)
		if m[2] != "" {
			high = parseNumber(m[2], column.DType)
		}
		if low > high {
			return test, usagef("--where %s: the range %s ends before it begins", c.text, text)
		}
		test.ranges = append(test.ranges, [2]float64{low, high})
	}
	return test, nil
}

// parseNumber returns the number that text, matched by valueRange, has in a column of type d.
func parseNumber(text string, d idx.DType) float64 {
	bits := 64
	if d == idx.Float32 {
		bits = 32
	}
	v, _ := strconv.ParseFloat(text, bits) // infinite if it is too large
	return v
}

// classRanges returns the labels of the classes that the condition names, as ranges of one value.
func (c condition) classRanges(label source.Column) (ranges [][2]float64, err error) {
	known := slices.DeleteFunc(slices.Clone(label.Classes), func(name string) bool { return name == "" })
	if len(known) == 0 {
		return nil, usagef("--where %s: the classes of column %q have no names", c.text, label.Name).WithHint("give the names with --classes FILE or --dataset NAME")
	}
	wanted := strings.Split(c.values, ",")
	if slices.Contains(known, c.values) { // a name may have a comma
		wanted = []string{c.values}
	}
	for _, name := range wanted {
		if !slices.Contains(known, name) {
			return nil, unknown("class", name, slices.Compact(known))
		}
		for v, class := range label.Classes {
			if class == name {
				ranges = append(ranges, [2]float64{float64(v), float64(v)})
			}
		}
	}
	return ranges, nil
}
