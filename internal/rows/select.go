package rows

import (
	"context"
	"maps"
	"slices"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
)

// Selected is what is left of a table, or the rows that were held out from it.
type Selected struct {
	HeldOut string // the NAME of --holdout, "" for what is left
	Rows    *source.Selection
}

// A Split is what [Choice.Select] chooses from.
type Split struct {
	Name    string // for messages
	Table   source.Table
	Numbers func() (source.Table, error) // opens its columns of single numbers; if nil, Table is read
	HoldOut bool                         // whether rows are held out from it; labels decide with --stratify
}

// Select returns the rows of a table that are chosen, but for --part, and those that are held out
// from it. It reads numbers only if values or labels decide.
func (c Choice) Select(ctx context.Context, t Split) (all []Selected, err error) {
	found, err := c.scan(ctx, t)
	all = []Selected{{Rows: found.rows}}
	if err == nil && t.HoldOut {
		all, err = c.holdOut(found, t.Name)
	}
	for i := 0; err == nil && i < len(all); i++ {
		rows := all[i].Rows
		if c.Shuffle {
			err = rows.Shuffle(source.NewRandom(uint64(c.Seed), source.ShuffleStream))
		}
		if c.Take > 0 && err == nil {
			all[i].Rows = rows.Part(0, min(c.Take, rows.Len()))
		}
	}
	return all, err
}

// holdOut returns what is left of the rows found in the split name, and what is held out from it.
func (c Choice) holdOut(found scanned, name string) ([]Selected, error) {
	left := found.rows
	random, total := source.NewRandom(uint64(c.Seed), source.HoldOutStream), left.Len()
	all := []Selected{{Rows: left}}
	for _, h := range c.holdouts {
		n := h.count(total)
		if n > left.Len() {
			return nil, usagef("--holdout %s takes %s, but split %s has only %s left", h.text, text.Count(n, "row"),
				name, text.Thousands(left.Len()))
		}
		all = append(all, Selected{h.name, left.HoldOut(n, found.strata, random)})
	}
	return all, nil
}

// scanned is the result of scan.
type scanned struct {
	rows   *source.Selection
	strata []uint16 // with --stratify: for each row of the table, the index of its label in the sorted labels
}

// scan finds the rows that --rows and --where select and, for --stratify, the stratum of each row.
func (c Choice) scan(ctx context.Context, in Split) (found scanned, err error) {
	whole, stratify := in.Table, in.HoldOut && c.Stratify
	first, last, err := c.span.resolve(whole.Rows())
	if err != nil {
		return found, err
	}
	found.rows = &source.Selection{StopEarly: last < whole.Rows()}
	var tests []rowTest
	for _, condition := range c.conditions {
		test, err := condition.rowTest(whole)
		if err != nil {
			return found, err
		}
		tests = append(tests, test)
	}
	if tests == nil && !stratify {
		for row := range whole.Rows() {
			found.rows.Append(first <= row && row < last)
		}
		return found, nil
	}
	t := whole
	if in.Numbers != nil {
		if t, err = in.Numbers(); err != nil {
			return found, err
		}
		defer t.Close() // read-only: an error does not matter
	}
	columns, label, labels := t.Columns(), schema.Of(t).Label(), map[int64]uint16{}
	for i := range tests {
		tests[i].column = source.Index(columns, tests[i].name)
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
	if err == nil && found.rows.TableRows != whole.Rows() {
		err = fault.ChangedIn(columns[0].Origin)
	}
	found.sortStrata(labels)
	return found, err
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
	place := make([]uint16, len(numbers))
	for i, label := range slices.Sorted(maps.Keys(numbers)) {
		place[numbers[label]] = uint16(i)
	}
	for i, n := range s.strata {
		s.strata[i] = place[n]
	}
}
