package convert

import (
	"archive/tar"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/formats"
	"github.com/idxport/idxport/internal/object"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/source"
)

// checkExpected returns an error unless the jobs have what --expect names. rows returns the number
// of rows of a job, −1 if it is not known yet.
func checkExpected(r *request, jobs []*job, rows func(*job) int64) error {
	for _, e := range r.expected {
		var splits []string
		found := ""
		for _, j := range jobs {
			columns, n := namesOf(j.schema.Columns), rows(j)
			if j.schema.Classes != nil {
				columns = append(columns, schema.ClassName)
			}
			switch splits = append(splits, j.base()); {
			case e.rows < 0 && !slices.Contains(columns, e.name):
				found = "only the columns " + strings.Join(columns, ", ") + " in " + j.title()
			case e.rows >= 0 && e.name == j.base() && n >= 0 && n != e.rows:
				found = text.Count(n, "row")
			}
		}
		if e.rows >= 0 && !slices.Contains(splits, e.name) {
			found = "no such split, only " + strings.Join(splits, ", ")
		}
		if found != "" {
			return fault.New(fault.Malformed, "--expect %s: found %s", e.text, found).
				WithHint("complete the inputs, or change --expect")
		}
	}
	return nil
}

// checkStaying returns an error if another split or column would stay beside outputs that are named
// after splits, unless --split or --columns chooses. A path that the user gave is meant alone.
func checkStaying(r *request, outputs []*output) error {
	nameOf := func(path string) dataset.Name {
		stem, _ := formats.SplitName(path) // the extension would be part of the prefix
		return dataset.ParseName(stem)
	}
	for _, out := range outputs {
		if !r.replaces() || !out.perName || out.shared() || object.IsURL(out.path) {
			continue
		}
		own, dir := nameOf(out.path), filepath.Dir(out.path)
		entries, _ := os.ReadDir(dir) // what is not there does not stay
		for _, e := range entries {
			path, other := filepath.Join(dir, e.Name()), nameOf(e.Name())
			f, _, _ := formats.ByName(path)
			alike := e.IsDir() == out.isFolder() && (f.Name == out.format.Name || f.Name == "" && out.format.Folder)
			switch isNew := func(o *output) bool { return filepath.Clean(o.path) == path }; {
			case !alike, other.Prefix != own.Prefix, slices.ContainsFunc(outputs, isNew):
			case r.Split == nil && other.Role == own.Role && other.Split != own.Split &&
				other.Split != "" && own.Split != "",
				r.Columns == nil && other.Role != own.Role && other.Split == own.Split && out.format.OneColumn:
				return fault.New(fault.Malformed, "this run does not make %s, which would stay beside it", path).
					In(out.path).
					WithHint("complete the inputs, choose with --split or --columns, or delete %s", text.Path(path))
			}
		}
	}
	return nil
}

// checkLosses returns an error if the output, which is at hidden until it is published, lacks a
// column or a split of what it is to replace, unless --columns or --split chooses them, or if it
// has fewer rows, unless these are chosen or --overwrite is given.
func (out *output) checkLosses(ctx context.Context, r *request, hidden string) error {
	if _, err := os.Lstat(out.path); err != nil {
		return nil // there is nothing to replace
	}
	for _, part := range []struct {
		noun, flag string
		chosen     []string
		at         func(r *request, path string) []string
	}{{"column", "--columns", r.Columns, out.columnsAt}, {"split", "--split", r.Split, out.splitsAt}} {
		if part.chosen != nil {
			continue
		}
		now := part.at(r, hidden)
		lost := slices.DeleteFunc(part.at(r, out.path), func(name string) bool { return slices.Contains(now, name) })
		if len(lost) > 0 && len(now) > 0 {
			return fault.New(fault.Malformed, "it has the %s %s, and its replacement would have only %s", part.noun,
				strings.Join(lost, ", "), strings.Join(now, ", ")).In(out.path).
				WithHint("complete the inputs, or choose with %s if this is meant", part.flag)
		}
	}
	counted := slices.ContainsFunc(r.expected, func(e expectation) bool { return e.rows >= 0 })
	selected := r.choice.conditions != nil || r.choice.holdouts != nil || r.Rows != "" || r.Take > 0 || r.Part != ""
	if selected || counted || r.Overwrite {
		return nil
	}
	rowsAt := func(path string) (n int64) {
		if out.format.WriteOnly {
			n, _ = samplesAt(path)
			return n
		}
		t, err := reopen(r, path, out, out.job.schema.Columns)
		if err == nil {
			defer t.Close() // read-only: an error does not matter
			n, err = source.Count(ctx, t)
		}
		if err != nil { // it cannot be read
			return -1
		}
		return n
	}
	if now, before := rowsAt(hidden), rowsAt(out.path); 0 <= now && now < before {
		return fault.New(fault.Malformed, "it has %s, and its replacement would have only %d",
			text.Count(before, "row"), now).In(out.path).
			WithHint("complete the inputs, or add --overwrite if this is meant")
	}
	return nil
}

// columnsAt returns the names of the columns of the output, or of what it is to replace, which is
// at path. There are none if they are not recorded or path cannot be read.
func (out *output) columnsAt(r *request, path string) (names []string) {
	switch f := out.format; {
	case f.WriteOnly:
		_, extensions := samplesAt(path)
		return extensions
	case f.OneColumn, f.Text && !csv.HasHeader(out.options.Style):
		return nil
	}
	t, err := reopen(r, path, out, nil)
	if err != nil {
		return nil
	}
	defer t.Close() // read-only: an error does not matter
	names = namesOf(t.Columns())
	for _, left := range source.About(t).Omitted {
		names = append(names, left.Column)
	}
	return names
}

// samplesAt returns the number of samples in the tar file, or folder of such, at path, and the
// extensions of the first one: each is a column.
func samplesAt(path string) (n int64, extensions []string) {
	files := []string{""}
	if parts, _ := fs.Glob(os.DirFS(path), "part-*"); parts != nil {
		files = parts
	}
	for _, name := range files {
		f, err := os.Open(filepath.Join(path, name))
		if err != nil {
			return -1, nil
		}
		sample, in := "", tar.NewReader(f)
		for h, err := in.Next(); err == nil; h, err = in.Next() {
			key, extension, _ := strings.Cut(h.Name, ".")
			if key != sample {
				sample, n = key, n+1
			}
			if n == 1 {
				extensions = append(extensions, extension)
			}
		}
		_ = f.Close() // read-only: an error does not matter
	}
	return n, extensions
}

// splitsAt returns the splits at path, if they share a folder.
func (out *output) splitsAt(_ *request, path string) (stems []string) {
	if !out.shared() {
		return nil
	}
	shards, _ := fs.Glob(os.DirFS(path), out.sharding.subfolder+"/*-00000-of-*")
	for _, shard := range shards {
		stem, _, _ := strings.Cut(filepath.Base(shard), "-00000-of-")
		stems = append(stems, stem)
	}
	return stems
}
