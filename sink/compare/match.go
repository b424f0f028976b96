package compare

import (
	"slices"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// Match finds the counterpart in found of each column of expected: by its name, or the only tensor, or the only scalar, whatever they are called. from
// and to are the indices of both, as [Pair] takes them. With partial, found may lack columns, whose names are missing, but not all. The error is fault.Differs, and says which
// columns differ.
func Match(expected, found []source.Column, partial bool) (from, to []int, missing []string, err error) {
	taken := map[int]bool{}
	for i, e := range expected {
		k := slices.IndexFunc(found, func(f source.Column) bool { return f.Name == e.Name })
		if k < 0 {
			k = onlyOne(expected, found, e)
		}
		if k < 0 && partial {
			missing = append(missing, e.Name)
			continue
		}
		switch {
		case k < 0:
			return nil, nil, nil, fault.New(fault.Differs, "it has no column %s; its columns are %s", e.Name, names(found))
		case found[k].Elements() != e.Elements(), len(found[k].Shape) > 1 && len(e.Shape) > 1 && !slices.Equal(found[k].Shape, e.Shape):
			return nil, nil, nil, fault.New(fault.Differs, "column %s has records of the shape %s, expected %s", e.Name, shape(found[k]), shape(e))
		}
		from, to, taken[k] = append(from, i), append(to, k), true
	}
	for k, f := range found {
		if !taken[k] && (!partial || len(from) == 0) {
			return nil, nil, nil, fault.New(fault.Differs, "it has the column %s, which the inputs have not; their columns are %s", f.Name, names(expected))
		}
	}
	return from, to, missing, nil
}

// onlyOne is the only column of found of e's kind, a scalar or a tensor, if e is the only one of its kind too; −1 if there is none.
func onlyOne(expected, found []source.Column, e source.Column) int {
	kind := func(c source.Column) bool { return c.Scalar() == e.Scalar() }
	k := slices.IndexFunc(found, kind)
	if k < 0 || slices.ContainsFunc(found[k+1:], kind) {
		return -1
	}
	if i := slices.IndexFunc(expected, kind); slices.ContainsFunc(expected[i+1:], kind) {
		return -1
	}
	return k
}

func names(columns []source.Column) string {
	var all []string
	for _, c := range columns {
		all = append(all, c.Name)
	}
	return strings.Join(all, ", ")
}

func shape(c source.Column) string {
	if c.Scalar() {
		return "scalar"
	}
	return idx.ShapeText(c.Shape)
}
