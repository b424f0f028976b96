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
func checkStaying(ctx context.Context, r *request, outputs []*output, inputs []string) error {
	for _, out := range outputs {
		if !out.perName || out.shared() || text.IsURL(out.path) {
			continue
		}
		own, base := filepath.Clean(out.path), out.job.base()
		for _, named := range slices.Concat(out.above, []string{own}) {
			dir, below := filepath.Dir(named), strings.TrimPrefix(own, named)
			entries, _ := os.ReadDir(dir) // what is not there does not stay
			for _, e := range entries {
				beside := filepath.Join(dir, e.Name())
				name := cmp.Or(inPlaceOf(base, filepath.Base(named), e.Name()), base) // of another split, or this one
				path := beside + strings.ReplaceAll(below, base, name)
				isMade := func(o *output) bool { return filepath.Clean(o.path) == path }
				if _, err := os.Lstat(path); err != nil || slices.ContainsFunc(outputs, isMade) {
					continue
				}
				if advice := out.owns(ctx, r, named, beside, path); advice != "" {
					old, _ := os.Stat(path) // nil if it is a link to nothing
					isOld := func(input string) bool { info, _ := os.Stat(input); return os.SameFile(info, old) }
					if slices.ContainsFunc(inputs, isOld) {
						advice = "write to another folder than that of the input"
					}
					return fault.New(fault.Malformed, "this run does not make %s, which would stay beside it", path).
						In(out.path).WithHint("%s %s", advice, text.Path(path))
				}
			}
		}
	}
	return nil
}

// owns returns what to do with path if it would be read with the output, else "". The base names of
// named and beside tell what path is: they are those of the output and path, or of folders above.
func (out *output) owns(ctx context.Context, r *request, named, beside, path string) (advice string) {
	f, _, _ := sinks.ByName(path)
	isImages := f.Name == "" && out.format.Folder && namesFolder(path) // perhaps: it has no extension
	_, part := r.choice.Parts()
	otherPart := inPlaceOf(part, filepath.Base(named), filepath.Base(beside))
	isPart := strings.Trim(otherPart, "0123456789") == "-of-"
	list := output{job: out.job, format: sinks.ClassNames(), options: out.options}
	ownStem, _ := sinks.SplitName(filepath.Base(named)) // the extension would be part of the prefix
	otherStem, _ := sinks.SplitName(filepath.Base(beside))
	own, other := dataset.ParseName(ownStem), dataset.ParseName(otherStem)
	// A split has a known name (x-validation beside x-train), or one that the file tells.
	name, split := inPlaceOf(out.job.base(), ownStem, otherStem), other.Split
	if name != "" && split == "" {
		split = dataset.ParseName(name).Split
		if isColumnar(f) && out.contentsAt(ctx, r, path, false).split == name {
			split = name
		}
	}
	samePrefix := other.Prefix == own.Prefix || split != other.Split // else the name of the split is in it
	sameRole, isFile, whole := other.Role == own.Role, beside == path, dataset.ParseName(out.job.split.whole)
	sameTable := isFile && samePrefix && split == own.Split
	isColumn := out.format.OneColumn && (sameTable || isFile && other.ColumnOf(own) != "")
	// All rows of what --holdout divided; if that has the name of a split, what is left keeps it.
	isWhole := out.job.split.whole != "" && whole.Split == "" &&
		(name == out.job.split.whole || sameRole && split == "" && other.Prefix == whole.Prefix)
	switch selects := r.choice.LeavesOut() || r.Shuffle; {
	case isPart && !strings.HasSuffix(part, strings.TrimLeft(otherPart, "0123456789")): // such as 1-of-3 beside 1-of-2
		return "write to another folder or, with all parts of its number, delete"
	case !r.replaces():
		return ""
	case out.format.IsIDX && !out.single && filepath.Base(path) == list.fileName(out.writtenColumn()):
		return "give --classes, or delete"
	case f.Name != out.format.Name && !isImages:
		return ""
	case sameTable && sameRole && f.Name != "": // in another form, such as compressed or in parts
		return "delete"
	case isColumn && len(r.Columns) == 0:
		return "complete the inputs, choose with --columns, or delete"
	case isColumn && selects: // it has other rows, or in another order
		return "add its column to --columns, or delete"
	case samePrefix && sameRole && own.Split != "" && split != own.Split && split != "" && len(r.Split) == 0:
		return "complete the inputs, choose with --split, or delete"
	case isWhole, sameRole && own.Split == "" && other.Split != "" && other.Prefix == own.Prefix: // its split
		return "write to another folder, or delete"
	}
	return ""
}

// inPlaceOf returns what other has in place of value, if it is own in all else, or "".
func inPlaceOf(value, own, other string) string {
	before, after, found := strings.Cut(own, value)
	name := strings.TrimSuffix(strings.TrimPrefix(other, before), after)
	if !found || before+name+after != other {
		return ""
	}
	return name
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
	if count && 0 <= now.rows && now.rows < before.rows {
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
	split   string   // else, if it is recorded
	rows    int64    // −1 if they are not counted
}

// contentsAt returns the contents of what is at path, the output or what it is to replace, which it
// reads in the format and layout of out. Its rows are counted if count is set.
func (out *output) contentsAt(ctx context.Context, r *request, path string, count bool) contents {
	c := contents{rows: -1}
	if out.shared() {
		shards, _ := fs.Glob(os.DirFS(path), filepath.Dir(out.shards)+"/*-00000-of-*") // the first of each split
		for _, shard := range shards {
			stem, _, _ := strings.Cut(filepath.Base(shard), "-00000-of-")
			c.splits = append(c.splits, stem)
		}
	}
	if out.format.WriteOnly { // tar
		c.rows, c.columns = samplesAt(path)
		return c
	}
	t, err := reopen(r, path, out, out.job.schema.Columns)
	if err != nil {
		return c
	}
	defer t.Close() // read-only: an error does not matter
	c.split = source.About(t).Meta[keySplit]
	if f := out.format; !f.OneColumn && (!f.Text || csv.HasHeader(out.options.Layout)) {
		c.columns = source.Names(t.Columns())
		for _, left := range source.About(t).Omitted {
			c.columns = append(c.columns, left.Column)
		}
	}
	if count {
		c.rows, _ = source.Count(ctx, t) // a damaged file counts up to the damage, as in samplesAt
	}
	return c
}

// samplesAt returns the number of samples in the tar file, or folder of such, at path, up to any
// damage, and the extensions of the first one: each is a column.
func samplesAt(path string) (n int64, extensions []string) {
	files := []string{""} // path itself
	if parts, _ := fs.Glob(os.DirFS(path), "part-*"); parts != nil {
		files = parts
	}
	for _, name := range files {
		f, _ := os.Open(filepath.Join(path, name)) // nil, which has no samples, after an error
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
