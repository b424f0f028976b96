package convert

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/foreign"
	"github.com/idxport/idxport/internal/object"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// findInputs returns the splits that the arguments of a request hold. If damaged is set, files that
// cannot be read or do not match are included.
func findInputs(ctx context.Context, r *request, damaged bool) (*inputs, error) {
	if err := checkFolders(ctx, r); err != nil {
		return nil, err
	}
	warnUnfinished(r)
	found, err := findTables(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := checkReading(r, found); err != nil {
		return nil, err
	}
	in := &inputs{request: r}
	if found != nil {
		in.tables = map[string]foreign.Table{}
		for _, t := range found {
			in.tables[t.Path] = t
		}
		in.splits, err = splitsOfTables(r, found)
	} else {
		probe := in.idxOptions(ctx)
		in.splits, err = dataset.Find(r.args, prober{probe}, dataset.Options{
			Dataset: r.Dataset, Split: r.Split, Uncounted: r.Salvage,
			Damaged: damaged, Files: probe.Files, Table: foreign.Named})
	}
	if err != nil {
		return nil, err
	}
	shaped := found != nil || r.Shape == nil
	for _, s := range in.splits {
		shaped = chooseShaped(s, r.Shape) || shaped
	}
	if !shaped {
		return nil, usagef("--shape %s fits the records of no file but perhaps labels", text.Shape(r.Shape))
	}
	in.classes, err = in.readClasses(ctx)
	return in, err
}

// A prober implements dataset.Prober. It opens files with the options that they will be read with,
// but in the dimensions of their headers.
type prober struct{ options source.Options }

func (p prober) Header(path string) (idx.Header, error) {
	t, err := source.OpenIDX(path, p.options)
	if err != nil {
		return idx.Header{}, err
	}
	return t.Header(), t.Close()
}

func (p prober) SHA256(path string, records int64) (string, error) {
	t, err := source.OpenIDX(path, p.options)
	if err != nil {
		return "", err
	}
	defer t.Close() // read-only: an error does not matter
	hash := sha256.New()
	for b := (&source.Raw{}); records > 0; records -= int64(b.Rows) {
		b.Cap = int(min(records, 1<<16))
		if err := t.Read(context.Background(), b); err != nil {
			return "", err
		}
		hash.Write(b.Columns[0]) // the bytes of the file: they are not decoded
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// checkFolders returns an error if the inputs are several folders: a run reads one data set.
func checkFolders(ctx context.Context, r *request) error {
	isFolder := func(arg dataset.Input) bool {
		info, err := files{ctx, r.storage}.Stat(arg.Path)
		return arg.Path != source.Stdin && err == nil && info.IsDir()
	}
	words := ""
	for _, arg := range r.args {
		if words += " " + text.Quote(arg.Path); len(r.args) == 1 || !isFolder(arg) {
			return nil
		}
	}
	return usagef("found %d folders, expected one: a run reads one data set", len(r.args)).
		WithHint(`for d in%s; do idxport convert "$d" -o "out/$(basename "$d")"; done`, words)
}

// warnUnfinished warns of names in the folders of the inputs that look like downloads in progress.
// Beside a file that is an input, those of other data do not count.
func warnUnfinished(r *request) {
	endings := []string{".part", ".crdownload", ".tmp", ".download", ".aria2"}
	for _, arg := range r.args {
		dir, base := arg.Path, ""
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			dir, base = filepath.Dir(dir), source.Base(dir)
		}
		entries, _ := os.ReadDir(dir) // there are none at a URL
		for _, e := range entries {
			name := e.Name()
			related := strings.HasPrefix(name, base) || dataset.ParseName(name).Role != dataset.Data
			if related && slices.Contains(endings, filepath.Ext(name)) {
				r.report.warning("%s looks like a download in progress", filepath.Join(dir, name))
			}
		}
	}
}

// findTables returns the inputs in formats other than IDX, nil if all are IDX files.
func findTables(ctx context.Context, r *request) (tables []foreign.Table, err error) {
	for i, arg := range r.args {
		found, err := tablesAt(ctx, r, arg.Path)
		switch {
		case err != nil:
			return nil, err
		case i > 0 && (found == nil) != (tables == nil):
			table, other := arg.Path, r.args[0].Path
			if found == nil {
				table, other = other, table
			}
			return nil, usagef("%s is not read as IDX and %s is, expected inputs of one format",
				shownPath(table), shownPath(other)).
				WithHint("make IDX files first: idxport convert %s -o idx=DIR/", text.Path(table))
		case arg.Name != "" && len(found) > 0 && (!found[0].Format.OneColumn || found[0].Arrays != nil):
			return nil, usagef("%s=%s is a table, which has names for its columns", arg.Name, arg.Path).
				WithHint("leave out %s", text.Quote(arg.Name+"="))
		case len(r.args) > 1 && (len(found) > 1 || found != nil && arg.Path == source.Stdin):
			count := text.Count(len(found), "table")
			return nil, usagef("%s: found %s, expected it to be given alone", shownPath(arg.Path), count)
		}
		tables = append(tables, found...)
	}
	return tables, nil
}

// tablesAt returns the tables at path. Standard input may be an Arrow stream.
func tablesAt(ctx context.Context, r *request, path string) ([]foreign.Table, error) {
	if path != source.Stdin {
		found, err := foreign.Find(files{ctx, r.storage}, path)
		if err == nil && len(found) > 0 && found[0].Format.Name == "png" && object.IsURL(path) {
			return nil, usagef("%s: folders of images cannot be read from object storage", path).
				WithHint("copy the folder to this machine")
		}
		return found, err
	}
	return interruptible(ctx, func() ([]foreign.Table, error) {
		if t, ok, err := foreign.Stdin(r.stdin); ok || err != nil {
			return []foreign.Table{t}, err
		}
		return nil, nil
	})
}

// checkReading returns an error if a flag does not apply to the inputs, which are tables or, if
// tables is nil, IDX files.
func checkReading(r *request, tables []foreign.Table) error {
	has := func(match func(foreign.Format) bool) bool {
		return slices.ContainsFunc(tables, func(t foreign.Table) bool { return match(t.Format) })
	}
	images := has(func(f foreign.Format) bool { return f.Images })
	// From separate columns, --salvage keeps as many rows as the shortest one has.
	separate := tables != nil && (len(tables) > 1 || tables[0].Arrays != nil) && tables[0].Format.OneColumn
	named := slices.ContainsFunc(r.args, func(arg dataset.Input) bool { return arg.Name == r.LabelColumn })
	return checkUses("input", []flagUse{
		{"header", r.Header != nil, has(func(f foreign.Format) bool { return f.Text }), "text, such as CSV"},
		{"grey", r.Grey, images, "images in files, such as PNG and JPEG"},
		{"resize", r.Resize[0] > 0, images || !r.asStored, "images in files, such as PNG and JPEG"},
		{"label-column " + r.LabelColumn, r.placesLabel(), tables != nil || named,
			"CSV without names, where it is the place of the label"},
		{"salvage", r.Salvage, tables == nil || separate, "damaged IDX files, and columns of different lengths"},
	})
}

// splitsOfTables makes each table a split, and one-array files such as .npy with the same split
// name the columns of one. In a folder, a prefix before image or label counts as a split name if
// two files would otherwise be the same column. A .npz file may hold several splits.
func splitsOfTables(r *request, tables []foreign.Table) ([]dataset.Split, error) {
	var splits []dataset.Split
	folder := len(r.args) == 1 && len(tables) > 1 && tables[0].Format.OneColumn
	if folder { // images and labels first: their names determine the splits that other arrays join
		role := func(t foreign.Table) int { return int(dataset.ParseName(t.Name).Role) }
		slices.SortStableFunc(tables, func(a, b foreign.Table) int { return role(a) - role(b) })
	}
	for i, t := range tables {
		name := dataset.ParseName(t.Name)
		if lower := strings.ToLower(t.Name); name.Split == "" && (lower == "train" || lower == "test") {
			name.Split = lower
		}
		file := dataset.File{Path: t.Path, Role: name.Role, Name: name.Role.String()}
		named := len(r.args) == len(tables) && r.args[i].Name != ""
		if named {
			file.Name = r.args[i].Name
		}
		split := dataset.Split{Name: name.Split, Stem: t.Name, Files: []dataset.File{file}}
		if t.Arrays != nil {
			splits = append(splits, splitsInside(t, split)...)
			continue
		}
		if t.Format.OneColumn && len(tables) > 1 && name.Split == "" && name.Prefix != "" && name.Role != dataset.Data {
			split.Stem = name.Prefix
		}
		same := slices.IndexFunc(splits, func(s dataset.Split) bool { return s.Name == split.Name })
		if folder && name.Split == "" {
			same = splitOfArray(splits, name, split.Stem)
		}
		if named && r.args[0].Name != "" && i > 0 && (splits[0].Name == "" || split.Name == "") {
			same = 0 // the user names them as columns of one table, although one name has no split
			splits[0].Name = cmp.Or(splits[0].Name, split.Name)
		}
		switch {
		case same >= 0 && t.Format.OneColumn:
			if splits[same].Files[0].Role == dataset.Data && file.Role != dataset.Data {
				splits[same].Stem = split.Stem
			}
			splits[same].Files = append(splits[same].Files, file)
		case same >= 0 && len(r.args) > 1:
			return nil, usagef("%s and %s are separate tables, expected one", splits[same].Files[0].Path, t.Path).
				WithHint("give one at a time")
		default:
			splits = append(splits, split)
		}
	}
	for _, s := range splits {
		hasRole := slices.ContainsFunc(s.Files, func(f dataset.File) bool { return f.Role != dataset.Data })
		if folder && len(s.Files) > 1 && !hasRole {
			a, b := s.Files[0].Path, s.Files[1].Path
			return nil, usagef("%s and %s may be two tables or columns of one: neither is named as images or labels",
				a, b).WithHint("give one at a time, or name the columns: one=%s two=%s", text.Quote(a), text.Quote(b))
		}
		nameColumns(s)
		if len(r.args) == 1 { // otherwise columns are in the order of the arguments
			slices.SortStableFunc(s.Files, func(a, b dataset.File) int { return int(a.Role) - int(b.Role) })
		}
	}
	return namedSplits(r, splits)
}

// splitOfArray returns the index of the split for an array without train or test in its name, −1
// if there is none: the split whose name or stem is a prefix of the array's name, or else the first
// unnamed split or, for images and labels, the first that has none yet.
func splitOfArray(splits []dataset.Split, name dataset.Name, stem string) int {
	i := slices.IndexFunc(splits, func(s dataset.Split) bool {
		return s.Name == "" && s.Stem == stem || strings.HasPrefix(name.Prefix, cmp.Or(s.Name, s.Stem)+"-")
	})
	if i >= 0 {
		return i
	}
	return slices.IndexFunc(splits, func(s dataset.Split) bool {
		isOther := func(f dataset.File) bool { return f.Role == name.Role && f.Role != dataset.Data }
		return s.Name == "" && !slices.ContainsFunc(s.Files, isOther)
	})
}

// splitsInside returns the splits of t, a .npz file; each array becomes a dataset.File. alone is
// the split that the whole file would be. It names the only split if the arrays do not.
func splitsInside(t foreign.Table, alone dataset.Split) (splits []dataset.Split) {
	for _, a := range t.Arrays {
		file := alone.Files[0]
		file.Name, file.Role, file.Array = a.Column, a.Role, a.Name
		i := slices.IndexFunc(splits, func(s dataset.Split) bool { return s.Name == a.Split })
		if i < 0 {
			i = len(splits)
			splits = append(splits, dataset.Split{Name: a.Split, Stem: cmp.Or(a.Split, alone.Stem)})
		}
		splits[i].Files = append(splits[i].Files, file)
	}
	if len(splits) == 1 {
		splits[0].Name = cmp.Or(splits[0].Name, alone.Name)
	}
	return splits
}

// nameColumns names the unnamed columns of a table after their files, without the split:
// train-weight.npy is weight.
func nameColumns(s dataset.Split) {
	if len(s.Files) < 2 {
		return
	}
	for i, f := range s.Files {
		stem := strings.TrimSuffix(strings.TrimSuffix(source.Base(f.Path), ".npy"), ".npz")
		rest := strings.TrimPrefix(stem, cmp.Or(s.Name, s.Stem)+"-")
		if f.Name == dataset.Data.String() && f.Array == "" && rest != "" {
			s.Files[i].Name = rest
		}
	}
}

// namedSplits returns the splits that --split names, or all if it is not given.
func namedSplits(r *request, splits []dataset.Split) ([]dataset.Split, error) {
	if len(r.Split) == 0 {
		return splits, nil
	}
	chosen := slices.DeleteFunc(slices.Clone(splits), func(s dataset.Split) bool {
		return !slices.Contains(r.Split, s.Name) && !slices.Contains(r.Split, s.Stem)
	})
	if len(chosen) > 0 {
		return chosen, nil
	}
	return nil, usagef("the inputs have no split %s", strings.Join(r.Split, " or ")).
		WithHint("they have only %s", splitNames(splits))
}

// chooseShaped sets the shape of the IDX files of s that --shape applies to: a single file, or all
// but labels that have as many records in that shape. It reports whether there are any.
func chooseShaped(s dataset.Split, shape []int) (any bool) {
	for i, f := range s.Files {
		h, err := f.Header.Reshape(shape)
		same := err == nil && len(f.Header.Dims) > 1 && h.Records() == f.Header.Records()
		if len(s.Files) == 1 || same && !isLabels(f) {
			s.Files[i].Shape, any = shape, true
		}
	}
	return any
}

// readClasses reads the file of class names, if one is given, for the labels of the splits.
func (in *inputs) readClasses(ctx context.Context) ([]string, error) {
	r := in.request
	if r.Classes == "" {
		return nil, nil
	}
	hasLabels := func(s dataset.Split) bool { return slices.ContainsFunc(s.Files, isLabels) }
	if r.LabelColumn == "" && in.tables == nil && !slices.ContainsFunc(in.splits, hasLabels) {
		return nil, usagef("--classes %s: no input holds labels", r.Classes).
			WithHint("name the file that does: label=FILE")
	}
	if info, err := (files{ctx, r.storage}).Stat(r.Classes); r.Classes == source.Stdin || err == nil && info.IsDir() {
		return nil, usagef("--classes %s, expected a file", r.Classes)
	}
	f, err := files{ctx, r.storage}.Open(r.Classes)
	if err != nil {
		return nil, fault.In(r.Classes, err)
	}
	defer f.Close() // read-only: an error does not matter
	return dataset.ReadClasses(f, r.Classes)
}
