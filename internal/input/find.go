package input

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/sources"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// Find returns the splits of the arguments; if damaged is set, also files that cannot be read.
func Find(ctx context.Context, o Options, damaged bool) (*Set, error) {
	found, err := o.findTables(ctx)
	if err != nil {
		return nil, err
	}
	in := &Set{Options: o, lists: new(sync.Map)}
	if found != nil {
		in.tables = map[string]sources.Table{}
		for _, t := range found {
			in.tables[t.Path] = t
		}
		in.Splits, err = o.splitsOfTables(found)
	} else {
		probe := o.idxOptions(ctx, o.Salvage || damaged)
		in.Splits, err = dataset.Find(o.Args, prober{ctx, probe}, dataset.Options{Dataset: o.Dataset, Split: o.Split,
			Damaged: damaged, Shaped: o.Shape != nil, Holdout: o.Holdout, Files: probe.Files, Table: sources.Named})
	}
	if err != nil {
		return nil, err
	}
	shaped := found != nil || o.Shape == nil || o.Like != nil
	for _, s := range in.Splits {
		shaped = o.chooseShaped(s) || shaped
	}
	if !shaped {
		return nil, usagef("--shape %s does not fit the records of any file, apart from labels", text.Shape(o.Shape)).
			WithHint("idxport inspect %s shows their shapes", text.Path(o.Args[0].Path))
	}
	in.classes, err = in.readClasses(ctx)
	return in, err
}

// A prober implements dataset.Prober: it opens files as they will be read, but in their dimensions.
type prober struct {
	ctx     context.Context
	options source.Options
}

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
	hash, b := sha256.New(), &source.Raw{Cap: max(1, 1<<20/max(1, t.Columns()[0].RecordSize()))}
	rows, err := source.Slice(t, 0, min(records, t.Rows())) // a salvage may have fewer
	for err == nil {
		if err = rows.Read(p.ctx, b); err == nil {
			hash.Write(b.Columns[0]) // the bytes of the file: they are not decoded
		}
	}
	if err != io.EOF {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// checkFolders returns an error if a folder is one of several inputs, or a column.
func (o Options) checkFolders(ctx context.Context) (refused error) {
	for _, arg := range o.Args { // what is missing may be a second value of a flag
		if arg.Path == source.Stdin || len(o.Args) == 1 && arg.Name == "" {
			continue
		}
		switch info, err := o.Storage.Files(ctx).Stat(arg.Path); {
		case err != nil:
			return fault.In(arg.Path, err)
		case info.IsDir() && refused == nil:
			refused = usagef("%s is a folder, expected a file: a run reads one folder, or files, one for each column",
				text.Quote(arg.Path)).WithHint("give the files in it, or convert folders one by one: " +
				`for d in FOLDERS; do idxport convert "$d" -o "${d%%/}-out"; done`)
		}
	}
	return refused
}

// findTables returns the inputs in formats other than IDX, or nil, and an error for unused flags.
func (o Options) findTables(ctx context.Context) (tables []sources.Table, err error) {
	if err := o.checkFolders(ctx); err != nil {
		return nil, err
	}
	for i, arg := range o.Args {
		found, err := o.tablesAt(ctx, arg.Path)
		switch {
		case err != nil:
			return nil, err
		case i > 0 && (found == nil) != (tables == nil):
			table := slices.Concat(tables, found)[0].Path
			return nil, usagef("found IDX files and %s, expected inputs of one format", shownPath(table)).
				WithHint("make IDX files first: idxport convert %s -o idx=DIR/", text.Path(table))
		case arg.Name != "" && len(found) > 0 && (!found[0].Format.OneColumn || found[0].Arrays != nil):
			return nil, usagef("%s=%s is a table, which has names for its columns", arg.Name, arg.Path).
				WithHint("leave out %s", text.Quote(arg.Name+"="))
		case len(o.Args) > 1 && (len(found) > 1 || found != nil && arg.Path == source.Stdin):
			return nil, usagef("%s: found %s, expected it alone", shownPath(arg.Path), text.Count(len(found), "table"))
		}
		tables = append(tables, found...)
	}
	return tables, o.checkUsed(tables)
}

// tablesAt returns the tables at path. Standard input may be an Arrow stream.
func (o Options) tablesAt(ctx context.Context, path string) ([]sources.Table, error) {
	if path != source.Stdin {
		found, err := sources.Find(o.Storage.Files(ctx), path)
		if err == nil && len(found) > 0 && found[0].Format.Name == "png" && text.IsURL(path) {
			return nil, usagef("%s: folders of images cannot be read from object storage", path).
				WithHint("copy the folder to this machine")
		}
		return found, err
	}
	return Interruptible(ctx, func() ([]sources.Table, error) { return sources.Stdin(o.Stdin) })
}

// checkUsed returns an error if a flag does not apply to the inputs: tables, or IDX files if nil.
func (o Options) checkUsed(tables []sources.Table) error {
	var images, isText bool
	for _, t := range tables {
		images, isText = images || t.Format.Images, isText || t.Format.Text
	}
	separate := tables != nil && (len(tables) > 1 || tables[0].Arrays != nil) && tables[0].Format.OneColumn
	named := slices.ContainsFunc(o.Args, func(arg dataset.Input) bool { return arg.Name == o.LabelColumn })
	return CheckUses("input", []FlagUse{
		{"header", o.Header != nil, isText, "text, such as CSV"},
		{"grey", o.Grey, images, "images in files, such as PNG and JPEG"},
		{"resize", o.Resize[0] > 0, images || !o.AsStored, "images in files, such as PNG and JPEG"},
		{"label-column " + o.LabelColumn, o.PlacesLabel() || o.AsStored && o.LabelColumn != "",
			o.PlacesLabel() && (tables != nil || named), "the place of the label in CSV without names"},
		{"salvage", o.Salvage, tables == nil || separate, "damaged IDX files, and columns of different lengths"},
	})
}

// splitsOfTables makes each table a split, and one-array files such as .npy with the same split the
// columns of one, also images and labels of the same prefix. A .npz file may hold several splits.
func (o Options) splitsOfTables(tables []sources.Table) (splits []dataset.Split, err error) {
	folder := len(o.Args) == 1 && len(tables) > 1 && tables[0].Format.OneColumn
	if folder { // images and labels first: their names determine the splits that other arrays join
		role := func(t sources.Table) int { return int(dataset.ParseName(t.Name).Role) }
		slices.SortStableFunc(tables, func(a, b sources.Table) int { return role(a) - role(b) })
	}
	isLoose := func(arg dataset.Input) bool { return arg.Name != "" || (dataset.File{Path: arg.Path}).Split() == "" }
	inSplits := len(o.Args) > 1 && tables[0].Format.OneColumn && !slices.ContainsFunc(o.Args, isLoose)
	for i, name := range parseNames(tables) {
		t := tables[i]
		file := dataset.File{Path: t.Path, Role: name.Role, Name: name.Role.String()}
		named := len(o.Args) == len(tables) && o.Args[i].Name != ""
		if named {
			file.Name = o.Args[i].Name
		}
		if inSplits { // train/images.npy
			name.Split = file.Split()
		}
		split := dataset.Split{Name: name.Split, Stem: t.Name, Files: []dataset.File{file}}
		if t.Arrays != nil {
			inside, err := splitsInside(t, split)
			if err != nil {
				return nil, err
			}
			splits = append(splits, inside...)
			continue
		}
		if t.Format.OneColumn && len(tables) > 1 && name.Split == "" && name.Prefix != "" && name.Role != dataset.Data {
			split.Stem = name.Prefix
		}
		same := slices.IndexFunc(splits, func(s dataset.Split) bool { return s.Name == split.Name })
		if folder && name.Split == "" {
			same = splitOfArray(splits, name, split.Stem)
			if same < 0 && name.Prefix == "" && len(splits) > 0 {
				return nil, usagef("%s may belong to several tables", t.Path).WithHint("give those of one at a time")
			}
		}
		if named && o.Args[0].Name != "" && i > 0 && (splits[0].Name == "" || split.Name == "") {
			same = 0 // the user names them as columns of one table, although one name has no split
			splits[0].Name = cmp.Or(splits[0].Name, split.Name)
		}
		isTable := func(x sources.Table) bool { return x.Path == splits[same].Files[0].Path && !x.Format.OneColumn }
		switch {
		case same >= 0 && t.Format.OneColumn && (len(o.Args) > 1 || !slices.ContainsFunc(tables, isTable)):
			if splits[same].Files[0].Role == dataset.Data && file.Role != dataset.Data {
				splits[same].Stem = split.Stem
			}
			splits[same].Files = append(splits[same].Files, file)
		case same >= 0 && (len(o.Args) > 1 || t.Format.OneColumn):
			return nil, usagef("%s and %s are separate tables, expected one", splits[same].Files[0].Path, t.Path).
				WithHint("give one at a time, CSV before .npy, or shards part-0, …; or: paste -d, y.csv x.csv >all.csv")
		default:
			splits = append(splits, split)
		}
	}
	if err := o.nameColumns(splits, folder); err != nil {
		return nil, err
	}
	return o.namedSplits(splits, tables[0].Format.OneColumn && !folder)
}

// parseNames parses the names of tables; train-fine_label is none of labels beside train-image, and
// weight_dev is of the split dev beside others.
func parseNames(tables []sources.Table) (names []dataset.Name) {
	for _, t := range tables {
		names = append(names, dataset.ParseName(t.Name))
	}
	for i, n := range names {
		isLoose := n.Role != dataset.Data && !slices.ContainsFunc(names, n.Pairs)
		split, _, _ := dataset.CutSplit(n.Stem)
		for _, other := range names {
			column := n.ColumnOf(other)
			isOfOther := column != "" || other.Split == split
			if tables[i].Format.OneColumn && n.Split == "" && n.Role == dataset.Data && isOfOther {
				names[i].Split = other.Split
			}
			if column != "" && tables[i].Format.OneColumn && isLoose {
				names[i].Role, names[i].Split, names[i].Prefix = dataset.Data, other.Split, other.Prefix+"-"+column
			}
		}
	}
	return names
}

// nameColumns names the unnamed columns of splits after their files, without the split (weight of
// weight_train.npy), and orders them. One of those in a folder must be images or labels.
func (o Options) nameColumns(splits []dataset.Split, folder bool) error {
	bare := strings.NewReplacer(".npy", "", ".npz", "").Replace
	for _, s := range splits {
		known := slices.IndexFunc(s.Files, func(f dataset.File) bool { return f.Role != dataset.Data }) // or −1
		a, b := s.Files[0].Path, s.Files[len(s.Files)-1].Path
		if folder && a != b && known < 0 {
			return dataset.ErrApart(a, b, len(s.Files) > 2, dataset.IsCalledY)
		}
		other := dataset.ParseName(bare(s.Files[max(0, known)].Path))
		for i, f := range s.Files {
			own, dir, above := dataset.ParseName(bare(f.Path)), source.Above(f.Path), ""
			if folder && dir != source.Above(source.Under(o.Args[0].Path, "x")) {
				above = source.Base(dir) // of weight/train.npy
			}
			_, rest, _ := dataset.CutSplit(own.Stem)
			if s.Name == "" {
				rest = strings.TrimPrefix(own.Stem, s.Stem+"-")
			}
			if known >= 0 && other.Prefix == own.Prefix { // mnist.npy beside mnist-label.npy
				rest = ""
			}
			if len(s.Files) > 1 && f.Name == dataset.Data.String() && f.Array == "" {
				s.Files[i].Name = cmp.Or(own.ColumnOf(other), rest, above, f.Name)
			}
		}
		if len(o.Args) == 1 || s.Files[0].Array != "" { // otherwise columns are in the order of the arguments
			slices.SortStableFunc(s.Files, func(a, b dataset.File) int { return int(a.Role) - int(b.Role) })
		}
	}
	return nil
}

// splitOfArray returns the index of the split of an array that names none, or −1: the unnamed one
// whose stem begins its name, or else the only unnamed one, unless both have images or labels.
func splitOfArray(splits []dataset.Split, name dataset.Name, stem string) int {
	i := slices.IndexFunc(splits, func(s dataset.Split) bool {
		return s.Name == "" && (s.Stem == stem || strings.HasPrefix(name.Prefix, s.Stem+"-"))
	})
	if i >= 0 {
		return i
	}
	isOther := func(f dataset.File) bool { return f.Role == name.Role && f.Role != dataset.Data }
	i = slices.IndexFunc(splits, func(s dataset.Split) bool { return s.Name == "" })
	if i < 0 || slices.ContainsFunc(splits[i].Files, isOther) ||
		slices.ContainsFunc(splits[i+1:], func(s dataset.Split) bool { return s.Name == "" }) {
		return -1
	}
	return i
}

// splitsInside returns the splits of t, a .npz file. Names of arrays such as x_train, train/images
// give the column and the split, like those of .npy files; others are columns, without the split.
// alone is the split that the whole file would be, which names the only split if no array does.
func splitsInside(t sources.Table, alone dataset.Split) (splits []dataset.Split, err error) {
	parse := func(name string) dataset.Name {
		dir, own := dataset.ParseName(path.Dir(name)), dataset.ParseName(name)
		if dir.Split != "" && own.Split == "" || dir.Role != dataset.Data && own.Role == dataset.Data {
			return dataset.ParseName(dir.Stem + "-" + own.Stem)
		}
		return own
	}
	named := slices.ContainsFunc(t.Arrays, func(name string) bool { return parse(name).Split != "" })
	for _, name := range t.Arrays {
		parsed := parse(name)
		file := dataset.File{Path: alone.Files[0].Path, Role: dataset.Data, Name: name, Array: name}
		if split, rest, _ := dataset.CutSplit(name); named {
			parsed.Split, file.Name = cmp.Or(parsed.Split, split), cmp.Or(rest, dataset.Data.String())
		}
		if parsed.Role != dataset.Data && parsed.Prefix == "" && !parsed.Ambiguous {
			file.Role, file.Name = parsed.Role, parsed.Role.String()
		}
		i := slices.IndexFunc(splits, func(s dataset.Split) bool { return s.Name == parsed.Split })
		if i < 0 {
			i = len(splits)
			splits = append(splits, dataset.Split{Name: parsed.Split, Stem: cmp.Or(parsed.Split, alone.Stem)})
		}
		for _, other := range splits[i].Files {
			if other.Name == file.Name {
				return nil, fault.New(fault.Malformed, "found two arrays for the column %s: %s and %s", file.Name,
					other.Array, name).In(t.Path).WithHint("save them again, under names such as x_train and y_train")
			}
		}
		splits[i].Files = append(splits[i].Files, file)
	}
	if len(splits) == 1 {
		splits[0].Name = cmp.Or(splits[0].Name, alone.Name)
	}
	return splits, nil
}

// namedSplits returns the splits that --split names, or all if it is not given. All arrays that are
// given together must be of splits, or none: train_mask beside X may be a column of its table.
func (o Options) namedSplits(splits []dataset.Split, together bool) ([]dataset.Split, error) {
	unnamed := slices.IndexFunc(splits, func(s dataset.Split) bool { return s.Name == "" })
	named := slices.IndexFunc(splits, func(s dataset.Split) bool { return s.Name != "" })
	if together && min(unnamed, named) >= 0 && len(o.Split) == 0 && // images of both are two tables
		max(splits[unnamed].Files[0].Role, splits[named].Files[0].Role) == dataset.Data {
		a, b, name := splits[unnamed].Files[0], splits[named].Files[0], splits[named].Name
		return nil, usagef("%s belongs to no split, but %s to %s", cmp.Or(a.Array, a.Path), cmp.Or(b.Array, b.Path),
			name).WithHint("choose with --split: %s; or name all with a split, or none", SplitNames(splits))
	}
	for _, asked := range o.Split {
		if !slices.ContainsFunc(splits, func(s dataset.Split) bool { return s.IsCalled(asked) }) {
			return nil, usagef("the inputs have no split %s", asked).
				WithHint("they have %s; repeat --split for several", SplitNames(splits))
		}
	}
	isOther := func(s dataset.Split) bool { return len(o.Split) > 0 && !slices.ContainsFunc(o.Split, s.IsCalled) }
	return slices.DeleteFunc(splits, isOther), nil
}

// chooseShaped sets the shape of the IDX files of s that --shape applies to, and reports whether
// there are any: a single file, or all but labels with records of as many elements, and images that
// are one vector and become as many as there are numbers in another file.
func (o Options) chooseShaped(s dataset.Split) (any bool) {
	for i, f := range s.Files {
		h, err := f.Header.Reshape(o.Shape)
		same := err == nil && len(f.Header.Dims) > 1 && h.RecordSize() == f.Header.RecordSize()
		fits := func(other dataset.File) bool { return slices.Equal(other.Header.Dims, h.Dims[:1]) }
		flat := err == nil && len(f.Header.Dims) == 1 && f.Role == dataset.Image && slices.ContainsFunc(s.Files, fits)
		if o.Like == nil && (len(s.Files) == 1 || (same || flat) && !isLabels(f)) {
			s.Files[i].Shape, any = o.Shape, true
		}
	}
	return any
}

// readClasses reads the file of class names, if one is given, for the labels of the splits.
func (in *Set) readClasses(ctx context.Context) ([]string, error) {
	if in.Classes == "" {
		return nil, nil
	}
	hasLabels := func(s dataset.Split) bool { return slices.ContainsFunc(s.Files, isLabels) }
	if in.LabelColumn == "" && in.tables == nil && !slices.ContainsFunc(in.Splits, hasLabels) {
		return nil, usagef("--classes %s: no input holds labels", in.Classes).WithHint("name their file: label=FILE")
	} else if f, err := in.Storage.Files(ctx).Stat(in.Classes); in.Classes == source.Stdin || err == nil && f.IsDir() {
		return nil, usagef("--classes %s, expected a file", in.Classes)
	}
	return in.namesIn(ctx, in.Classes)
}

// namesBeside returns the class names in the list that outputs have beside f, a file of single
// numbers of the table stem, and the path of the list; or else those that are known, and f's path.
func (in *Set) namesBeside(ctx context.Context, f dataset.File, stem string, known []string) ([]string, string, error) {
	isWeb := text.IsURL(f.Path) && !strings.HasPrefix(f.Path, "s3:") // it may have a page for each missing file
	if isWeb || f.Path == source.Stdin || !isLabels(f) && (f.Role == dataset.Image || len(f.Header.Dims) != 1) {
		return known, f.Path, nil
	}
	own := dataset.ParseName(f.Path) // stem may be that of --holdout
	table, isOurs := strings.CutSuffix(own.Stem, "-labels")
	if isLabels(f) && (own.Split != "" || !isOurs) {
		table = cmp.Or(own.Split, own.Prefix, stem)
	}
	for _, name := range slices.Compact([]string{own.Stem, table}) { // scans-fine_label: of this column
		list := source.Under(source.Above(f.Path), name+schema.NamesExtension)
		names, err := in.namesIn(ctx, list)
		if err == nil {
			return names, list, nil
		}
		_, missing := os.Lstat(list) // a link to nothing is there; S3 denies what is missing, unless it may be listed
		if kind := fault.KindOf(err); missing == nil || kind != fault.NotFound && kind != fault.Permission {
			e, _ := errors.AsType[*fault.Error](fault.In(list, err))
			return known, f.Path, e.WithHint("%s", strings.TrimPrefix(e.Hint+"; this list of the classes of "+
				text.Path(f.Path)+" is not read with --classes, or if you move it away", "; "))
		}
	}
	return known, f.Path, nil
}

// namesIn reads the class names in the file at path, once.
func (in *Set) namesIn(ctx context.Context, path string) ([]string, error) {
	read, _ := in.lists.LoadOrStore(path, sync.OnceValues(func() ([]string, error) {
		f, err := in.Storage.Files(ctx).Open(path)
		if err != nil {
			return nil, fault.In(path, err)
		}
		defer f.Close() // read-only: an error does not matter
		return dataset.ReadClasses(f, path)
	}))
	return read.(func() ([]string, error))()
}
