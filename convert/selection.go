package convert

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/input"
	"github.com/idxport/idxport/internal/rows"
	"github.com/idxport/idxport/internal/sinks"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// inputs are a request and what was found for it.
type inputs struct {
	request *request
	set     *input.Set
}

// paths returns the files and objects that are read.
func (in *inputs) paths() (paths []string) {
	for _, s := range in.set.Splits {
		for _, f := range s.Files {
			all := in.set.Table(f.Path).Paths                   // a folder may hold many files
			if all == nil || !strings.HasSuffix(f.Path, "-*") { // the path of shards is a pattern
				paths = append(paths, f.Path)
			}
			paths = append(paths, all...)
		}
	}
	paths = append(paths, in.request.input.Classes)
	return slices.DeleteFunc(paths, func(path string) bool { return path == Stdio || path == "" })
}

// reportTable reports what was found while reading t. Notes become warnings if the inputs are IDX
// files, whose notes tell of damage, and with --salvage.
func (in *inputs) reportTable(t source.Table) {
	about := source.About(t)
	if in.set.IDX() || in.request.Salvage {
		about.Notes, about.Warnings = nil, append(about.Notes, about.Warnings...)
	}
	in.request.report.addInfo(about)
}

// drain passes all rows of a table to sinks and returns their number. title is for progress.
func drain(ctx context.Context, r *request, t source.Table, s *schema.Schema, title string, sinks ...sink.Sink) (
	int64, error) {
	o := pipeline.Options{Workers: r.Workers}
	if begin := r.Events.Progress; begin != nil {
		update, end := begin(text.Printable(title), s.Rows)
		defer end()
		o.Progress = update
	}
	return pipeline.Run(ctx, t, s, sinks, o)
}

// A chosenSplit is a split of the inputs, what --holdout left of one, or what it took from one.
type chosenSplit struct {
	dataset.Split
	// rows are those that values or chance select. Without such flags it is nil; rows.Choice.Cut
	// then applies --rows, --take and --part, with a selection only --part.
	rows  *source.Selection
	whole string // the base name of the table that --holdout divided, else ""
}

// chooseRows returns the splits with the rows that the view selects, and those that it holds out.
func chooseRows(ctx context.Context, in *inputs) (chosen []chosenSplit, err error) {
	r := in.request
	train := slices.ContainsFunc(in.set.Splits, func(s dataset.Split) bool { return s.Name == "train" })
	if len(r.Holdout) > 0 && !train && len(in.set.Splits) > 1 {
		return nil, usagef("--holdout: found the splits %s, expected train or a single split",
			input.SplitNames(in.set.Splits)).WithHint("choose one with --split")
	}
	for _, s := range in.set.Splits {
		pieces := []chosenSplit{{Split: s}}
		if err = r.checkRereadable(s); err == nil && r.choice.Selects() {
			pieces, err = in.selectRows(ctx, s)
		}
		if err != nil {
			return nil, aboutSplit(err, s, in.set.Splits)
		}
		for _, c := range pieces {
			c.Files = neededFiles(c.Split, wantedColumns(r, false))
			chosen = append(chosen, c)
		}
	}
	return chosen, nil
}

// checkRereadable returns an error if a flag needs to read s again, and an input is read only once.
func (r *request) checkRereadable(s dataset.Split) error {
	if !(r.choice.Selects() || r.Verify || r.IfChanged) || !slices.ContainsFunc(s.Files, isStdin) {
		return nil
	}
	return usagef("standard input can be read only once, but --where, --holdout, --shuffle, --verify and " +
		"--if-changed read it again").WithHint("leave out these flags, or give a file")
}

// neededFiles returns the files of s that hold the wanted columns, if each has its own, or all.
func neededFiles(s dataset.Split, wanted []string) []dataset.File {
	has := slices.Contains[[]string] // an array called by its own name leads to an error that has the columns
	other := func(f dataset.File) bool { return !has(wanted, f.Name) && !has(wanted, f.Array) }
	if needed := slices.DeleteFunc(slices.Clone(s.Files), other); len(needed) == len(wanted) && wanted != nil {
		return needed
	}
	return s.Files
}

// wantedColumns returns the columns that a table needs: those of --columns and, if rows are tested,
// those of --where. It returns nil for all columns, also if the label must be found among them.
func wantedColumns(r *request, tested bool) []string {
	hasLabel := slices.Contains(r.Columns, dataset.Label.String())
	if r.Columns == nil || tested && (r.Stratify || r.choice.ByClass()) && !hasLabel {
		return nil
	}
	wanted := slices.Clone(r.Columns)
	if r.input.PlacesLabel() { // then it has this name
		wanted = append(wanted, dataset.Label.String())
	} else if r.LabelColumn != "" {
		wanted = append(wanted, r.LabelColumn)
	}
	// --classes is for texts that rows are selected by, and then not for the label; but the texts
	// of the column class are the names of the label.
	if tested || r.Classes != "" && !(hasLabel && r.choice.ByClass()) {
		wanted = append(wanted, r.choice.Tested()...)
	}
	return slices.Compact(slices.Sorted(slices.Values(wanted)))
}

// selectRows returns s with the rows that are selected, and what is held out from it. Rows are held
// out only from train or from the only split, which is then called train if it has no name.
func (in *inputs) selectRows(ctx context.Context, s dataset.Split) (chosen []chosenSplit, err error) {
	r := in.request
	t, err := in.set.Open(ctx, s, wantedColumns(r, true), false)
	if err != nil {
		return nil, err
	}
	defer t.Close() // read-only: an error does not matter
	holdsOut := len(r.Holdout) > 0 && (s.Name == "train" || len(in.set.Splits) == 1)
	from := rows.Split{Name: cmp.Or(s.Name, "train"), Table: integerLabels(r, t), HoldOut: holdsOut}
	if in.set.IDX() {
		from.Numbers = func() (source.Table, error) {
			numbers := s // the labels, and other files of one number in each row
			numbers.Files = slices.DeleteFunc(slices.Clone(s.Files), func(f dataset.File) bool {
				return f.Role != dataset.Label && f.Header.RecordSize() != int64(f.Header.DType.Size())
			})
			t, err := in.set.Open(ctx, numbers, nil, false)
			if err != nil {
				return nil, err
			}
			return integerLabels(r, t), nil
		}
	}
	if holdsOut && r.Stratify && schema.Of(from.Table).Label() < 0 {
		return nil, noLabels("--stratify", t.Columns())
	}
	selected, err := r.choice.Select(ctx, from)
	if err != nil {
		return nil, err
	}
	for _, each := range selected {
		c := chosenSplit{Split: s, rows: each.Rows}
		if holdsOut {
			c.Name, c.whole = cmp.Or(each.HeldOut, from.Name), cmp.Or(s.Name, s.Stem)
		}
		if each.HeldOut != "" { // what was decided about s is said once, with what is left of it
			c.Notes, c.FolderNotes, c.Doubt, c.Evidence = nil, nil, "", dataset.ByOption
		}
		chosen = append(chosen, c)
	}
	return chosen, nil
}

// integerLabels returns t with integers in place of labels that are stored as floats, if an output
// or a flag needs labels. (The layout huggingface needs integers only if they have names.)
func integerLabels(r *request, t source.Table) source.Table {
	i := source.Index(t.Columns(), dataset.Label.String())
	if i < 0 || schema.Of(t).Label() >= 0 || !t.Columns()[i].Scalar() {
		return t
	}
	needs := func(f sinks.Format) bool { return r.placesLabel(f) || r.isHub(f) && t.Columns()[i].Classes != nil }
	if r.Stratify || r.choice.ByClass() || r.makes(needs) {
		t = source.Cast(t, i, idx.Int32, input.HintLabel)
	}
	return t
}
