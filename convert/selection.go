package convert

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/formats"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A chosenSplit is a split of the inputs, what --holdout left of one, or what it took from one.
type chosenSplit struct {
	dataset.Split
	rows    *source.Selection // nil means all rows, or the range of --rows
	divided bool              // by --holdout: this is what is left, or what was held out
	alone   bool              // the run has no other splits
}

// chooseRows returns the splits with the rows that the view selects, and those that it holds out.
func chooseRows(ctx context.Context, in *inputs) (chosen []chosenSplit, err error) {
	r := in.request
	for _, s := range in.splits {
		holdsOut, err := holdsOutFrom(r, s, in.splits)
		if err != nil {
			return nil, err
		}
		if !r.selects() {
			chosen = append(chosen, chosenSplit{Split: s})
			continue
		}
		if err := checkRereadable("--where, --holdout or --shuffle", s); err != nil {
			return nil, err
		}
		found, err := in.scan(ctx, s, holdsOut && r.Stratify)
		if err != nil {
			return nil, aboutSplit(err, s, in.splits)
		}
		parts := []chosenSplit{{Split: s, rows: found.rows}}
		if holdsOut {
			if parts, err = holdOut(r, s, found); err != nil {
				return nil, err
			}
		}
		for _, part := range parts {
			if r.Shuffle {
				if err := part.rows.Shuffle(source.NewRandom(uint64(r.Seed), source.ShuffleStream)); err != nil {
					return nil, err
				}
			}
			if r.Take > 0 {
				part.rows = part.rows.Part(0, min(r.Take, part.rows.Len()))
			}
			chosen = append(chosen, part)
		}
	}
	for i, c := range chosen {
		chosen[i].Files, chosen[i].alone = neededFiles(c.Split, wantedColumns(r, false)), len(chosen) == 1
	}
	return chosen, nil
}

// neededFiles returns the files of s that are read: all, or, if each of the columns that are wanted
// is a file of its own, those files.
func neededFiles(s dataset.Split, wanted []string) []dataset.File {
	isOther := func(f dataset.File) bool { return !slices.Contains(wanted, f.Name) }
	needed := slices.DeleteFunc(slices.Clone(s.Files), isOther)
	if len(needed) != len(wanted) || wanted == nil {
		return s.Files
	}
	return needed
}

// wantedColumns returns the columns that a table needs, nil for all: those of --columns and, if
// rows are tested, those of --where. Labels must be found among all columns.
func wantedColumns(r *request, tested bool) []string {
	if r.Columns == nil || r.LabelColumn != "" && !r.placesLabel() || tested && (r.Stratify || r.choice.byClass()) {
		return nil
	}
	wanted := slices.Clone(r.Columns)
	for _, c := range r.choice.conditions {
		if tested {
			wanted = append(wanted, c.column)
		}
	}
	return wanted
}

// holdsOutFrom reports whether rows are held out from s: it is train, or the only split of its data
// set. all are the splits of the inputs.
func holdsOutFrom(r *request, s dataset.Split, all []dataset.Split) (bool, error) {
	if r.choice.holdouts == nil {
		return false, nil
	}
	train := slices.ContainsFunc(all, func(s dataset.Split) bool { return s.Name == "train" })
	if !train && len(all) > 1 {
		return false, usagef("--holdout: found the splits %s, expected train or a single split", splitNames(all)).
			WithHint("choose one with --split")
	}
	return s.Name == "train" || len(all) == 1, nil
}

// holdOut returns what is left of a split, which is named train if it had no name, and what is held
// out from it.
func holdOut(r *request, s dataset.Split, found scanned) ([]chosenSplit, error) {
	left := chosenSplit{Split: s, rows: found.rows, divided: true}
	if left.Name == "" {
		left.Name = "train"
	}
	random, total := source.NewRandom(uint64(r.Seed), source.HoldOutStream), left.rows.Len()
	chosen := []chosenSplit{left}
	for _, h := range r.choice.holdouts {
		n := h.count(total)
		if n > left.rows.Len() {
			return nil, usagef("--holdout %s takes %s, but split %s has only %s left", h.text, text.Count(n, "row"),
				left.Name, text.Thousands(left.rows.Len()))
		}
		quotas := []int64{n}
		if r.Stratify {
			quotas = source.Quotas(n, left.rows.Strata(found.strata, found.labelCount))
		}
		held := left
		held.Name, held.Notes, held.FolderNotes, held.Doubt = h.name, nil, nil, ""
		held.Evidence = dataset.ByOption // else the notes would say a second time how it was recognised
		held.rows = left.rows.HoldOut(found.strata, quotas, random)
		chosen = append(chosen, held)
	}
	return chosen, nil
}

// scanned is the result of scan.
type scanned struct {
	rows       *source.Selection
	strata     []uint16 // for each row of the table, the index of its label in the sorted labels
	labelCount int      // number of different labels
}

// scan finds the rows of s that --rows and --where select and, if stratify is set, the stratum of
// each row. It reads only files that hold such values.
func (in *inputs) scan(ctx context.Context, s dataset.Split, stratify bool) (found scanned, err error) {
	r := in.request
	whole, err := in.openSplit(ctx, s, wantedColumns(r, true), false)
	if err != nil {
		return found, err
	}
	defer whole.Close() // read-only: an error does not matter
	whole = wholeLabels(r, whole)
	first, last, err := r.choice.rows.resolve(whole.Rows())
	if err != nil {
		return found, err
	}
	found.rows = new(source.Selection)
	if last < whole.Rows() {
		found.rows.StopEarly()
	}
	tests, err := rowTests(r.choice.conditions, whole)
	if err != nil {
		return found, err
	}
	if stratify && schema.Of(whole).Label() < 0 {
		return found, noLabels("--stratify", whole.Columns())
	}
	if tests == nil && !stratify {
		for row := range whole.Rows() {
			found.rows.Append(first <= row && row < last)
		}
		return found, nil
	}
	t := whole
	if in.tables == nil {
		if t, err = in.openScalars(ctx, s); err != nil {
			return found, err
		}
		defer t.Close() // read-only: an error does not matter
	}
	columns, label, labels := t.Columns(), schema.Of(t).Label(), map[int64]uint16{}
	for i := range tests {
		tests[i].column = columnIndex(columns, tests[i].name)
	}
	err = source.Each(ctx, t, func(b *source.Raw) error {
		// t may have more rows than whole, which --salvage cuts to its shortest column.
		for i := range min(b.Rows, int(whole.Rows()-b.First)) {
			row := b.First + int64(i)
			failed := slices.ContainsFunc(tests, func(test rowTest) bool { return !test.passes(b, i) })
			found.rows.Append(first <= row && row < last && !failed)
			if stratify {
				if err := found.addLabel(labels, source.Int(columns[label].DType, b.Columns[label], i)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil && found.rows.TableRows() != whole.Rows() {
		err = fault.In(s.Files[0].Path, fault.Changed)
	}
	found.sortStrata(labels)
	return found, err
}

// openScalars opens the IDX files of s that hold one number in each row; there must be one.
func (in *inputs) openScalars(ctx context.Context, s dataset.Split) (source.Table, error) {
	s.Files = slices.DeleteFunc(slices.Clone(s.Files), func(f dataset.File) bool {
		return !isLabels(f) && len(f.Header.Dims) != 1
	})
	t, err := in.openSplit(ctx, s, nil, false)
	if err != nil {
		return nil, err
	}
	return wholeLabels(in.request, t), nil
}

// addLabel adds the stratum of a row; numbers has the labels in the order in which they are found.
func (s *scanned) addLabel(numbers map[int64]uint16, label int64) error {
	const maxStrata = 1 << 16 // as strata are uint16
	n, ok := numbers[label]
	if !ok && len(numbers) == maxStrata {
		return usagef("--stratify: found more than %d different labels", maxStrata)
	}
	if !ok {
		n = uint16(len(numbers))
		numbers[label] = n
	}
	s.strata = append(s.strata, n)
	return nil
}

// sortStrata numbers the strata in the order of their labels.
func (s *scanned) sortStrata(numbers map[int64]uint16) {
	s.labelCount = len(numbers)
	place := make([]uint16, len(numbers))
	for i, label := range slices.Sorted(maps.Keys(numbers)) {
		place[numbers[label]] = uint16(i)
	}
	for i, n := range s.strata {
		s.strata[i] = place[n]
	}
}

// rowTests returns conditions as tests of the rows of t.
func rowTests(conditions []condition, t source.Table) (tests []rowTest, err error) {
	for _, c := range conditions {
		test, err := c.rowTest(t)
		if err != nil {
			return nil, err
		}
		tests = append(tests, test)
	}
	return tests, nil
}

// wholeLabels returns t with integers in place of labels that are stored as floats, if an output or
// a flag needs labels. (The layout huggingface can store other floats, unless they have names.)
func wholeLabels(r *request, t source.Table) source.Table {
	i := columnIndex(t.Columns(), dataset.Label.String())
	if i < 0 || schema.Of(t).Label() >= 0 || !t.Columns()[i].Scalar() {
		return t
	}
	needed := r.Stratify || r.choice.byClass() || r.makes(func(f formats.Format) bool {
		return f.Images || r.ClassColumn && f.ClassColumn || r.isHub(f) && t.Columns()[i].Classes != nil
	})
	if !needed {
		return t
	}
	return source.Cast(t, i, idx.Int32, hintLabel)
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

// valueRange matches a number, or two with a dash between them.
var valueRange = sync.OnceValue(func() *regexp.Regexp {
	const number = `(-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)`
	return regexp.MustCompile(`^` + number + `(?:-` + number + `)?$`)
})

// rowTest returns the condition as a test of the rows of t.
func (c condition) rowTest(t source.Table) (test rowTest, err error) {
	columns := t.Columns()
	i, byName := columnIndex(columns, c.column), false
	if i < 0 && c.column == schema.ClassName {
		i, byName = schema.Of(t).Label(), true
	}
	if i < 0 {
		return test, usagef("--where %s: no such column, found only %s", c.text, listOf(columns)).
			WithHint("%s", dataset.DidYouMean(c.column, namesOf(columns)))
	}
	column := columns[i]
	test = rowTest{name: column.Name, dtype: column.DType, negated: c.negated}
	values := strings.Split(c.values, ",")
	switch {
	case byName && !slices.ContainsFunc(column.Classes, func(name string) bool { return name != "" }):
		return test, usagef("--where %s: the classes of column %q have no names", c.text, column.Name).
			WithHint("give the names with --classes FILE or --dataset NAME")
	case byName && slices.Contains(column.Classes, c.values): // a name may have a comma
		values = []string{c.values}
	case !byName && !column.Scalar():
		return test, usagef("--where %s: the records of %s have the shape %s, expected single numbers",
			c.text, c.column, text.Shape(column.Shape)).WithHint(schema.HintLabel)
	}
	for _, text := range values {
		find := c.numberRange
		if byName {
			find = c.classRange
		}
		found, err := find(text, column)
		if err != nil {
			return test, err
		}
		test.ranges = append(test.ranges, found)
	}
	return test, nil
}

// numberRange parses a number, or a range of numbers, of a column.
func (c condition) numberRange(value string, column source.Column) (found [2]float64, err error) {
	m := valueRange().FindStringSubmatch(strings.TrimSpace(value))
	if m == nil {
		e := usagef("--where %s: found %q, expected a number, or a range such as 3-7", c.text, value)
		if slices.Contains(column.Classes, value) {
			e.Hint = "to select by name: --where " + text.Quote("class="+value)
		} else if once := strings.Replace(c.text, "==", "=", 1); once != c.text {
			e.Hint = "write = once: --where " + text.Quote(once)
		}
		return found, e
	}
	found = [2]float64{parseNumber(m[1], column.DType), parseNumber(cmp.Or(m[2], m[1]), column.DType)}
	if found[0] > found[1] {
		return found, usagef("--where %s: the range %s ends before it begins", c.text, value)
	}
	return found, nil
}

// classRange returns the label of a class of the column, as a range.
func (c condition) classRange(name string, column source.Column) (found [2]float64, err error) {
	label := slices.Index(column.Classes, name)
	if label < 0 || name == "" {
		known := slices.DeleteFunc(slices.Clone(column.Classes), func(name string) bool { return name == "" })
		return found, unknown("class", name, slices.Compact(known))
	}
	return [2]float64{float64(label), float64(label)}, nil
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
