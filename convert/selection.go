package convert

import (
	"cmp"
	"context"
	"slices"

	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/input"
	"github.com/idxport/idxport/internal/rows"
	"github.com/idxport/idxport/internal/sinks"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A chosenSplit is a split of the inputs, what --holdout left of one, or what it took from one.
type chosenSplit struct {
	dataset.Split
	rows    *source.Selection // nil unless values or chance decide: rows.Choice.Cut applies all other flags
	divided bool              // by --holdout: this is what is left, or what was held out
	alone   bool              // the run has no other splits
}

// chooseRows returns the splits with the rows that the view selects, and those that it holds out.
func chooseRows(ctx context.Context, in *inputs) (chosen []chosenSplit, err error) {
	r := in.request
	train := slices.ContainsFunc(in.set.Splits, func(s dataset.Split) bool { return s.Name == "train" })
	if r.choice.HoldsOut() && !train && len(in.set.Splits) > 1 {
		return nil, usagef("--holdout: found the splits %s, expected train or a single split",
			input.SplitNames(in.set.Splits)).WithHint("choose one with --split")
	}
	for _, s := range in.set.Splits {
		if !r.choice.Selects() {
			chosen = append(chosen, chosenSplit{Split: s})
			continue
		}
		if err := input.CheckRereadable("--where, --holdout or --shuffle", s); err != nil {
			return nil, err
		}
		parts, err := in.selectRows(ctx, s)
		if err != nil {
			return nil, aboutSplit(err, s, in.set.Splits)
		}
		chosen = append(chosen, parts...)
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
	named := r.LabelColumn != "" && !r.input.PlacesLabel()
	if r.Columns == nil || named || tested && (r.Stratify || r.choice.ByClass()) {
		return nil
	}
	wanted := slices.Clone(r.Columns)
	if tested {
		wanted = append(wanted, r.choice.Tested()...)
	}
	return wanted
}

// selectRows returns s with the rows that are selected, and what is held out from it. Rows are held
// out only from train or from the only split, which is then called train if it has no name.
func (in *inputs) selectRows(ctx context.Context, s dataset.Split) (chosen []chosenSplit, err error) {
	r := in.request
	whole, err := in.set.Open(ctx, s, wantedColumns(r, true), false)
	if err != nil {
		return nil, err
	}
	defer whole.Close() // read-only: an error does not matter
	holdsOut := r.choice.HoldsOut() && (s.Name == "train" || len(in.set.Splits) == 1)
	from := rows.Split{Name: cmp.Or(s.Name, "train"), Table: wholeLabels(r, whole), HoldOut: holdsOut}
	if in.set.IDX() {
		from.Numbers = func() (source.Table, error) { return in.openNumbers(ctx, s) }
	}
	if holdsOut && r.Stratify && schema.Of(from.Table).Label() < 0 {
		return nil, noLabels("--stratify", whole.Columns())
	}
	selected, err := r.choice.Select(ctx, from)
	for _, each := range selected {
		c := chosenSplit{Split: s, rows: each.Rows, divided: holdsOut}
		switch {
		case each.HeldOut != "":
			c.Name, c.Notes, c.FolderNotes, c.Doubt = each.HeldOut, nil, nil, ""
			c.Evidence = dataset.ByOption // else the notes would say a second time how it was recognised
		case holdsOut:
			c.Name = from.Name
		}
		chosen = append(chosen, c)
	}
	return chosen, err
}

// openNumbers opens the IDX files of s that hold labels or one number in each row.
func (in *inputs) openNumbers(ctx context.Context, s dataset.Split) (source.Table, error) {
	s.Files = slices.DeleteFunc(slices.Clone(s.Files), func(f dataset.File) bool {
		return !isLabels(f) && len(f.Header.Dims) != 1
	})
	t, err := in.set.Open(ctx, s, nil, false)
	if err != nil {
		return nil, err
	}
	return wholeLabels(in.request, t), nil
}

// wholeLabels returns t with integers in place of labels that are stored as floats, if an output or
// a flag needs labels. (The layout huggingface can store other floats, unless they have names.)
func wholeLabels(r *request, t source.Table) source.Table {
	i := source.Index(t.Columns(), dataset.Label.String())
	if i < 0 || schema.Of(t).Label() >= 0 || !t.Columns()[i].Scalar() {
		return t
	}
	needed := r.Stratify || r.choice.ByClass() || r.makes(func(f sinks.Format) bool {
		return f.Images || r.ClassColumn && f.ClassColumn || r.isHub(f) && t.Columns()[i].Classes != nil
	})
	if !needed {
		return t
	}
	return source.Cast(t, i, idx.Int32, input.HintLabel)
}
