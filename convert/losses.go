package convert

import (
	"archive/tar"
	"cmp"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/sinks"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/source"
)

// checkStaying returns an error if outputs carry the name of their split, column or part, and an
// old one would stay beside them, or beside a folder above them, that belongs to them, as
// [output.owns] tells. Not checked are paths of the user, objects, and folders of the Hub.
func checkStaying(r *request, outputs []*output) error {
	for _, out := range outputs {
		if !out.perName || out.shared() || text.IsURL(out.path) {
			continue
		}
		for _, named := range slices.Concat(out.above, []string{filepath.Clean(out.path)}) {
			dir, below := filepath.Dir(named), strings.TrimPrefix(filepath.Clean(out.path), named)
			entries, _ := os.ReadDir(dir) // what is not there does not stay
			for _, e := range entries {
				beside := filepath.Join(dir, e.Name())
				base := out.job.base()
				path := beside + strings.ReplaceAll(below, base, cmp.Or(dataset.ParseName(beside).Split, base))
				isMade := func(o *output) bool { return filepath.Clean(o.path) == path }
				if slices.ContainsFunc(outputs, isMade) { // which owns might open
					continue
				}
				owns, advice := out.owns(r, named, beside, path)
				if _, err := os.Lstat(path); owns && err == nil {
					return fault.New(fault.Malformed, "this run does not make %s, which would stay beside it", path).
						In(out.path).WithHint("%sdelete %s", advice, text.Path(path))
				}
			}
		}
	}
	return nil
}

// owns reports whether path, if it is there, would be read with the output, and how to make it: it
// has the names of classes that are not written now, it is the output in another form, such as
// compressed or in parts, or another split, column or part, unless --split or --columns chooses.
// The names that tell are those of beside, and of named for the output: path and that of the output
// themselves, or folders above them.
func (out *output) owns(r *request, named, beside, path string) (owns bool, advice string) {
	ownName, otherName := filepath.Base(named), filepath.Base(beside)
	_, part := r.choice.Parts()
	before, after, hasPart := strings.Cut(ownName, part)
	otherPart := strings.TrimSuffix(strings.TrimPrefix(otherName, before), after)
	_, total, isPart := strings.Cut(otherPart, "-of-")
	if hasPart && isPart && before+otherPart+after == otherName && !strings.HasSuffix(part, "-"+total) {
		return true, "write to another folder or, with all parts of its number, "
	}
	list := output{job: out.job, format: sinks.ClassNames(), options: out.options}
	if out.format.IsIDX && !out.single && filepath.Base(path) == list.fileName(out.writtenColumn()) {
		return r.replaces(), "give --classes, or "
	}
	f, _, _ := sinks.ByName(path)
	// A folder without an extension may be one of images.
	notAlike := f.Name != out.format.Name && (f.Name != "" || !out.format.Folder || !namesFolder(path))
	if notAlike || !r.replaces() {
		return false, ""
	}
	ownStem, _ := sinks.SplitName(ownName) // the extension would be part of the prefix
	otherStem, _ := sinks.SplitName(otherName)
	own, other := dataset.ParseName(ownStem), dataset.ParseName(otherStem)
	// A split has a known name (x-validation beside x-train), or one that the file tells.
	before, after, _ = strings.Cut(ownStem, out.job.base())
	name := strings.TrimSuffix(strings.TrimPrefix(otherStem, before), after)
	if other.Split == "" && before+name+after == otherStem {
		other.Split = dataset.ParseName(name).Split
		if isColumnar(f) {
			if t, err := reopen(r, path, out, out.job.schema.Columns); err == nil {
				if source.About(t).Meta[keySplit] == name {
					other.Split = name
				}
				t.Close() // read-only: an error does not matter
			}
		}
		if other.Split != "" {
			other.Prefix = own.Prefix
		}
	}
	samePrefix, sameSplit, sameRole := other.Prefix == own.Prefix, other.Split == own.Split, other.Role == own.Role
	switch inFolders := beside != path; {
	case !inFolders && samePrefix && sameSplit && sameRole && f.Name != "": // in another form
		return true, ""
	case !inFolders && out.format.OneColumn && len(r.Columns) == 0 &&
		(samePrefix && sameSplit || other.ColumnOf(own) != ""):
		return true, "complete the inputs, choose with --columns, or "
	case samePrefix && !sameSplit && sameRole && other.Split != "" && own.Split != "" && len(r.Split) == 0:
		return true, "complete the inputs, choose with --split, or "
	}
	return false, ""
}

// checkLosses returns an error if the output, which is at hiddenPath until it is published, lacks a
// column or a split of what it replaces, unless --columns or --split chooses them; or if it has
// fewer rows, unless --overwrite, --expect SPLIT=ROWS or a flag that leaves out rows allows that.
func (out *output) checkLosses(ctx context.Context, r *request, hiddenPath string) error {
	if _, err := os.Lstat(out.path); err != nil {
		return nil // there is nothing to replace
	}
	rowsExpected := slices.ContainsFunc(r.expected, func(e expectation) bool { return e.rows >= 0 })
	count := !rowsExpected && !r.Overwrite && !r.choice.LeavesOut()
	before, now := out.contentsAt(ctx, r, out.path, count), out.contentsAt(ctx, r, hiddenPath, count)
	for _, part := range []struct {
		noun, flag          string
		chosen, before, now []string
	}{{"column", "--columns", r.Columns, before.columns, now.columns},
		{"split", "--split", r.Split, before.splits, now.splits}} {
		lost := slices.DeleteFunc(part.before, func(name string) bool { return slices.Contains(part.now, name) })
		if len(lost) > 0 && len(part.chosen) == 0 && len(part.now) > 0 { // else the names are not stored
			return fault.New(fault.Malformed, "it has %s more, %s, than its replacement, which has only %s",
				text.Count(len(lost), part.noun), strings.Join(lost, ", "), strings.Join(part.now, ", ")).In(out.path).
				WithHint("complete the inputs, choose with %s, or delete %s", part.flag, text.Path(out.path))
		}
	}
	if 0 <= now.rows && now.rows < before.rows {
		return fault.New(fault.Malformed, "it has %s, and its replacement would have only %s",
			text.Count(before.rows, "row"), text.Thousands(now.rows)).In(out.path).
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

// contentsAt returns the contents of what is at path, the output or what it is to replace, which it
// reads in the format and layout of out. Its rows are counted if count is set.
func (out *output) contentsAt(ctx context.Context, r *request, path string, count bool) contents {
	c := contents{rows: -1}
	if out.shared() {
		shards, _ := fs.Glob(os.DirFS(path), out.sharding.subfolder+"/*-00000-of-*") // the first of each split
		for _, shard := range shards {
			stem, _, _ := strings.Cut(filepath.Base(shard), "-00000-of-")
			c.splits = append(c.splits, stem)
		}
	}
	if out.format.WriteOnly { // tar
		rows, extensions := samplesAt(path)
		if c.columns = extensions; count {
			c.rows = rows
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
// extensions of the first one: each is a column. A damaged file counts up to the damage.
func samplesAt(path string) (n int64, extensions []string) {
	files := []string{""} // path itself
	if parts, _ := fs.Glob(os.DirFS(path), "part-*"); parts != nil {
		files = parts
	}
	for _, name := range files {
		f, err := os.Open(filepath.Join(path, name))
		if err != nil {
			return -1, nil
		}
		sample, archive := "", tar.NewReader(f)
		for h, err := archive.Next(); err == nil; h, err = archive.Next() {
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
