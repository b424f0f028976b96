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
			columns, n := source.Names(j.schema.Columns), rows(j)
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
	counted := slices.ContainsFunc(r.expected, func(e expectation) bool { return e.rows >= 0 })
	count := !counted && !r.Overwrite && !r.choice.LeavesOut()
	before, now := out.contentsAt(ctx, r, out.path, count), out.contentsAt(ctx, r, hidden, count)
	for _, part := range []struct {
		noun, flag          string
		chosen, before, now []string
	}{{"column", "--columns", r.Columns, before.columns, now.columns},
		{"split", "--split", r.Split, before.splits, now.splits}} {
		lost := slices.DeleteFunc(part.before, func(name string) bool { return slices.Contains(part.now, name) })
		if len(lost) > 0 && len(part.now) > 0 && part.chosen == nil {
			return fault.New(fault.Malformed, "it has the %s %s, and its replacement would have only %s", part.noun,
				strings.Join(lost, ", "), strings.Join(part.now, ", ")).In(out.path).
				WithHint("complete the inputs, or choose with %s if this is meant", part.flag)
		}
	}
	if 0 <= now.rows && now.rows < before.rows {
		return fault.New(fault.Malformed, "it has %s, and its replacement would have only %d",
			text.Count(before.rows, "row"), now.rows).In(out.path).
			WithHint("complete the inputs, or add --overwrite if this is meant")
	}
	return nil
}

// contents are what an output holds, as far as that can be read.
type contents struct {
	columns []string // names, if they are recorded
	splits  []string // if several share a folder
	rows    int64    // −1 if not counted
}

// contentsAt returns the contents of the output, or of what it is to replace, which is at path.
func (out *output) contentsAt(ctx context.Context, r *request, path string, count bool) contents {
	c := contents{rows: -1}
	if out.shared() {
		shards, _ := fs.Glob(os.DirFS(path), out.sharding.subfolder+"/*-00000-of-*")
		for _, shard := range shards {
			stem, _, _ := strings.Cut(filepath.Base(shard), "-00000-of-")
			c.splits = append(c.splits, stem)
		}
	}
	if out.format.WriteOnly {
		n, extensions := samplesAt(path)
		if c.columns = extensions; count {
			c.rows = n
		}
		return c
	}
	t, err := reopen(r, path, out, out.job.schema.Columns)
	if err != nil {
		return c
	}
	defer t.Close() // read-only: an error does not matter
	if f := out.format; !f.OneColumn && (!f.Text || csv.HasHeader(out.options.Layout)) {
		c.columns = source.Names(t.Columns())
		for _, left := range source.About(t).Omitted {
			c.columns = append(c.columns, left.Column)
		}
	}
	if count {
		if n, err := source.Count(ctx, t); err == nil {
			c.rows = n
		}
	}
	return c
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
