package convert

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/internal/object"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
	"github.com/idxport/idxport/source/formats"
	"github.com/idxport/idxport/source/idx"
)

// inputs is a validated Source, and what is known about the files that it names.
type inputs struct {
	Source
	report       *Report
	args         []dataset.Input
	store        *object.Store
	opened       *openedInputs
	tables       map[string]formats.Table // inputs in formats other than IDX, by path; set by find
	needsCount   bool                     // the number of rows is needed before they are read
	stdin        *bufio.Reader
	littleEndian bool
	dtype        idx.DType // 0 if not given
	exact        bool      // shapes are not guessed
	forOutput    bool      // DType and Shape may be meant for the verified output, not for the inputs
}

// newInputs validates a source.
func newInputs(s Source, r *Report) (inputs, error) {
	o := inputs{Source: s, report: r, store: newStore(), opened: new(openedInputs), stdin: bufio.NewReader(s.Stdin), littleEndian: s.ByteOrder == "little"}
	if len(s.Inputs) == 0 {
		return o, usagef("no input").WithHint("give a folder, files, or - for standard input, such as ./mnist")
	}
	for _, arg := range s.Inputs {
		if arg == "" {
			return o, usagef("an input is empty").WithHint("perhaps a shell variable is not set")
		}
		arg, err := parseURL(o.store, arg)
		if err != nil {
			return o, err
		}
		o.args = append(o.args, dataset.ParseInput(arg))
	}
	var err error
	if o.Classes, err = parseURL(o.store, s.Classes); err != nil {
		return o, err
	}
	if o.MaxRecordBytes == 0 {
		o.MaxRecordBytes = DefaultMaxRecordBytes
	}
	if o.MaxRecordBytes < 1 || o.MaxRecordBytes > MaxRecordBytesLimit {
		return o, usagef("--max-record-bytes %d, expected 1 to %d", o.MaxRecordBytes, MaxRecordBytesLimit)
	}
	if o.Workers < 0 || o.Workers > MaxWorkers {
		return o, usagef("--workers %d, expected 0 to %d", o.Workers, MaxWorkers)
	}
	if s.Dataset != "" && s.Dataset != dataset.DatasetNone {
		if _, err := dataset.Lookup(s.Dataset); err != nil {
			return o, err
		}
	}
	if i := slices.Index(Choices("dtype"), s.DType); i >= 0 {
		o.dtype = idx.DTypes()[i]
	}
	return o, cmp.Or(checkOption("byte-order", s.ByteOrder), checkOption("dtype", s.DType))
}

// A prober implements dataset.Prober. It opens files with the options that they will be read with,
// except Reshape.
type prober struct{ options source.Options }

func (p prober) Header(path string) (idx.Header, error) {
	t, err := source.OpenIDX(path, p.options)
	if err != nil {
		return idx.Header{}, err
	}
	return t.Header(), t.Close()
}

func (p prober) PayloadSHA256(path string) (string, error) {
	t, err := source.OpenIDX(path, p.options)
	if err != nil {
		return "", err
	}
	defer t.Close() // read-only: an error does not matter
	hash := sha256.New()
	for b := (&source.Raw{Cap: 1 << 16}); ; {
		if err := t.Read(context.Background(), b); err == io.EOF {
			return hex.EncodeToString(hash.Sum(nil)), nil
		} else if err != nil {
			return "", err
		}
		hash.Write(b.Columns[0]) // the bytes of the file: they are not decoded
	}
}

// sourceOptions returns the options that IDX files are read with.
func (o *inputs) sourceOptions(ctx context.Context) source.Options {
	return source.Options{MaxRecordSize: o.MaxRecordBytes, LittleEndian: o.littleEndian, Salvage: o.Salvage, Reshape: o.Reshape, Files: o.files(ctx)}
}

// findSplits returns the splits of the inputs. If damaged is set, files that cannot be read or do
// not match are included.
func (o *inputs) findSplits(ctx context.Context, damaged bool) ([]dataset.Split, error) {
	if err := o.checkFolders(ctx); err != nil {
		return nil, err
	}
	tables, err := o.findTables(ctx)
	if err != nil {
		return nil, err
	}
	if err := o.checkReading(tables); err != nil {
		return nil, err
	}
	var splits []dataset.Split
	if tables != nil {
		splits, err = o.splitsOf(tables)
	} else {
		probe := o.sourceOptions(ctx)
		probe.Reshape = nil // headers and hashes are those of the files
		splits, err = dataset.Find(o.args, prober{probe}, dataset.Options{
			Dataset: o.Dataset, Split: o.Split, Uncounted: o.Salvage, Reshaped: o.Reshape != nil,
			Damaged: damaged, Files: probe.Files, Table: formats.Named})
	}
	return splits, err
}

// checkFolders returns an error if the inputs are several folders: a run reads one data set.
func (o *inputs) checkFolders(ctx context.Context) error {
	if len(o.args) < 2 {
		return nil
	}
	words := make([]string, len(o.args))
	for i, in := range o.args {
		info, err := o.files(ctx).Stat(in.Path)
		if in.Name != "" || in.Path == source.Stdin || err != nil || !info.IsDir() {
			return nil // a file, or one of the errors of findTables and dataset.Find
		}
		words[i] = shell.Quote(in.Path)
	}
	return usagef("found %d folders, expected one: a run reads one data set", len(words)).
		WithHint(`for d in %s; do idxport convert "$d" -o "out/$(basename "$d")"; done`, strings.Join(words, " "))
}

// files returns the file system of the inputs. Requests are canceled when ctx is done.
func (o *inputs) files(ctx context.Context) source.Files {
	return storage{ctx, o.store, o.opened}
}

// findTables returns the inputs in formats other than IDX, nil if all are IDX files.
func (o *inputs) findTables(ctx context.Context) (tables []formats.Table, err error) {
	for _, in := range o.args {
		found, err := o.tablesAt(ctx, in.Path)
		switch {
		case err != nil:
			return nil, adviseName(in, err)
		case found == nil && tables != nil || found != nil && tables == nil && in.Path != o.args[0].Path:
			return nil, mixed(o.args[0].Path, in.Path, tables != nil)
		case in.Path == source.Stdin && len(found) > 0 && len(o.args) > 1:
			return nil, usagef("standard input is a table, expected no other inputs")
		case in.Name != "" && len(found) > 0 && (!found[0].Format.OneColumn || found[0].Arrays() != nil):
			return nil, usagef("%s=%s: %s is a table, which has names for its columns", in.Name, in.Path, shownPath(in.Path)).
				WithHint("leave out %s", shell.Quote(in.Name+"="))
		case len(found) > 1 && len(o.args) > 1:
			return nil, usagef("%s holds %d tables, expected one, because it is given together with other inputs", in.Path, len(found)).
				WithHint("give it alone")
		}
		tables = append(tables, found...)
	}
	return tables, nil
}

// mixed returns the error for inputs a and b if one is a table in another format and one is IDX.
func mixed(a, b string, tablesFirst bool) error {
	if !tablesFirst {
		a, b = b, a
	}
	return usagef("%s is not read as IDX and %s is, expected inputs of one format", shownPath(a), shownPath(b)).
		WithHint("make IDX files first: idxport convert %s -o idx=DIR/", shell.Path(a))
}

// tablesAt returns the tables at path. Standard input may be an Arrow stream.
func (o *inputs) tablesAt(ctx context.Context, path string) ([]formats.Table, error) {
	if path != source.Stdin {
		found, err := formats.Find(o.files(ctx), path)
		if err == nil && len(found) > 0 && found[0].Format.Name == "png" && object.IsURL(path) {
			return nil, usagef("%s: folders of images cannot be read from object storage", path).WithHint("copy the folder to this machine")
		}
		return found, err
	}
	return Interruptible(ctx, func() ([]formats.Table, error) {
		if t, ok, err := formats.Stdin(o.stdin); ok || err != nil {
			return []formats.Table{t}, err
		}
		return nil, nil
	})
}

// adviseName returns err, with a hint if the argument looks like NAME=FILE but its NAME is invalid.
func adviseName(in dataset.Input, err error) error {
	_, path, ok := strings.Cut(in.Path, "=")
	if _, stat := os.Stat(path); !ok || in.Name != "" || stat != nil && !object.IsURL(path) || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fault.New(fault.NotFound, "no such file or directory").In(in.Path).Because(err).
		WithHint("write column=%s, for example: the NAME of NAME=FILE starts with a letter or _, and consists of letters, digits, _ and -", shell.Quote(path))
}

// checkReading returns an error if a flag does not apply to the inputs, which are tables or, if
// tables is nil, IDX files.
func (o *inputs) checkReading(tables []formats.Table) error {
	if o.Header != nil && !slices.ContainsFunc(tables, func(t formats.Table) bool { return t.Format.Text }) {
		return usagef("no input uses --header: it is for text, such as CSV")
	}
	if (o.Grey || o.Resize[0] > 0) && !slices.ContainsFunc(tables, func(t formats.Table) bool { return t.Format.Images }) {
		flag := "grey"
		if o.Resize[0] > 0 {
			flag = "resize"
		}
		return usagef("no input uses --%s: it is for images in files, such as PNG and JPEG", flag).
			WithHint("%s", Alternative("resize"))
	}
	if tables == nil {
		isNamed := func(in dataset.Input) bool { return in.Name == o.LabelColumn }
		if o.placesLabel() && !slices.ContainsFunc(o.args, isNamed) {
			return usagef("no input uses --label-column %s: it is the place of the label in CSV without names", o.LabelColumn)
		}
		if o.Shape != nil && !o.forOutput {
			return usagef("no input uses --shape: IDX files record their own shapes").
				WithHint("--reshape gives them other dimensions")
		}
		return nil
	}
	// From separate columns, --salvage keeps as many rows as the shortest one has.
	separate := (len(tables) > 1 || tables[0].Arrays() != nil) && tables[0].Format.OneColumn
	switch name := tables[0].Format.Name; {
	case o.littleEndian:
		return usagef("no input uses --byte-order: it is for IDX files, not %s files", name)
	case o.Salvage && !separate:
		return usagef("no input uses --salvage: it repairs damaged IDX files, not %s files, and cuts columns of different lengths", name)
	}
	return nil
}

// placesLabel reports whether --label-column may name the place of the label in text without names
// of columns.
func (o *inputs) placesLabel() bool {
	return slices.Contains([]string{"first", "last", "none"}, o.LabelColumn)
}

// shownPath returns the name of an input for messages.
func shownPath(path string) string {
	if path == source.Stdin {
		return "standard input"
	}
	return path
}

// readableOnce reports whether f can be read only once: it is standard input.
func readableOnce(f dataset.File) bool { return f.Path == source.Stdin }

// checkRereadable returns an error if an input of s can be read only once. flag, named in the
// message, is the one that needs to read it twice.
func (o *inputs) checkRereadable(flag string, s dataset.Split) error {
	for _, f := range s.Files {
		if readableOnce(f) {
			return usagef("%s needs to read the input again, but %s can be read only once", flag, shownPath(f.Path)).WithHint("leave out %s, or give a file", flag)
		}
	}
	return nil
}

// splitTitle returns the name of a split for messages.
func splitTitle(s dataset.Split) string {
	if s.Name != "" {
		return "split " + s.Name
	}
	return s.Stem
}

// splitNames returns the names of splits for messages.
func splitNames(splits []dataset.Split) string {
	var names []string
	for _, s := range splits {
		names = append(names, cmp.Or(s.Name, s.Stem))
	}
	return strings.Join(names, ", ")
}

// splitsOf makes each table a split. One-array files such as .npy with the same split name become
// columns of one split. In a folder, any prefix before image or label (validation-image.npy) counts
// as a split name if two files would otherwise be the same column. A .npz file may hold several
// splits.
func (o *inputs) splitsOf(tables []formats.Table) ([]dataset.Split, error) {
	o.tables = map[string]formats.Table{}
	var splits []dataset.Split
	folder := len(o.args) == 1 && len(tables) > 1 && tables[0].Format.OneColumn
	if folder { // images and labels first: their names determine the splits that other arrays join
		role := func(t formats.Table) int { return int(dataset.ParseName(t.Name).Role) }
		slices.SortStableFunc(tables, func(a, b formats.Table) int { return role(a) - role(b) })
	}
	for i, t := range tables {
		name := dataset.ParseName(t.Name)
		if lower := strings.ToLower(t.Name); name.Split == "" && (lower == "train" || lower == "test") {
			name.Split = lower
		}
		file := dataset.File{Path: t.Path(), Role: name.Role, Name: name.Role.String()}
		named := len(o.args) == len(tables) && o.args[i].Name != ""
		if named {
			file.Name = o.args[i].Name
		}
		o.tables[t.Path()] = t
		split := dataset.Split{Name: name.Split, Stem: t.Name, Files: []dataset.File{file}}
		if t.Arrays() != nil {
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
		if named && o.args[0].Name != "" && i > 0 && (splits[0].Name == "" || split.Name == "") {
			same = 0 // the user names them as columns of one table, although one name has no split
			splits[0].Name = cmp.Or(splits[0].Name, split.Name)
		}
		switch {
		case same >= 0 && t.Format.OneColumn:
			if splits[same].Files[0].Role == dataset.Data && file.Role != dataset.Data {
				splits[same].Stem = split.Stem
			}
			splits[same].Files = append(splits[same].Files, file)
		case same >= 0 && len(o.args) > 1:
			return nil, usagef("%s and %s are separate tables, expected one", splits[same].Files[0].Path, t.Path()).WithHint("give one at a time")
		default:
			splits = append(splits, split)
		}
	}
	for i := range splits {
		if s := splits[i]; folder && len(s.Files) > 1 && !slices.ContainsFunc(s.Files, func(f dataset.File) bool { return f.Role != dataset.Data }) {
			return nil, severalTables(s.Files)
		}
		o.nameColumns(splits[i])
		if len(o.args) == 1 { // otherwise columns are in the order of the arguments
			slices.SortStableFunc(splits[i].Files, func(a, b dataset.File) int { return int(a.Role) - int(b.Role) })
		}
	}
	return o.namedSplits(splits)
}

// severalTables returns the error for arrays in a folder, none of which is named as images or
// labels: they may be one table each, or the columns of one.
func severalTables(files []dataset.File) error {
	words := make([]string, len(files))
	for i, f := range files {
		words[i] = shell.Quote(fmt.Sprintf("column%d=%s", i+1, f.Path))
	}
	return usagef("%s and %s may be tables of their own or columns of one: neither is named as images or labels",
		files[0].Path, files[1].Path).WithHint("give one at a time: %s; or name the columns of one table: %s",
		shell.Path(files[0].Path), strings.Join(words, " "))
}

// splitOfArray returns the index of the split for an array without train or test in its name: the
// split whose name or stem is a prefix of the array's name or, failing that, an unnamed split. For
// images or labels, that is the first unnamed split that has no images, or no labels, yet; for any
// other array, the first one. It returns −1 if there is none.
func splitOfArray(splits []dataset.Split, name dataset.Name, stem string) int {
	i := slices.IndexFunc(splits, func(s dataset.Split) bool {
		return s.Name == "" && s.Stem == stem || strings.HasPrefix(name.Prefix, cmp.Or(s.Name, s.Stem)+"-")
	})
	if i >= 0 {
		return i
	}
	return slices.IndexFunc(splits, func(s dataset.Split) bool {
		other := slices.ContainsFunc(s.Files, func(f dataset.File) bool { return f.Role == name.Role && f.Role != dataset.Data })
		return s.Name == "" && !other
	})
}

// splitsInside returns the splits of t, a .npz file; each array becomes a dataset.File. alone is
// the split that the whole file would be. It names the only split if the arrays do not.
func splitsInside(t formats.Table, alone dataset.Split) (splits []dataset.Split) {
	for _, a := range t.Arrays() {
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
func (o *inputs) nameColumns(s dataset.Split) {
	if len(s.Files) < 2 {
		return
	}
	for i, f := range s.Files {
		stem := strings.TrimSuffix(strings.TrimSuffix(source.Base(f.Path), ".npy"), ".npz")
		if rest := strings.TrimPrefix(stem, cmp.Or(s.Name, s.Stem)+"-"); f.Name == dataset.Data.String() && rest != "" && o.tables[f.Path].Arrays() == nil {
			s.Files[i].Name = rest
		}
	}
}

// namedSplits returns the splits that --split names, or all if it is not given.
func (o *inputs) namedSplits(splits []dataset.Split) ([]dataset.Split, error) {
	if len(o.Split) == 0 {
		return splits, nil
	}
	chosen := slices.DeleteFunc(slices.Clone(splits), func(s dataset.Split) bool {
		return !slices.Contains(o.Split, s.Name) && !slices.Contains(o.Split, s.Stem)
	})
	if len(chosen) == 0 {
		hint := "they have only " + splitNames(splits)
		if len(splits) == 1 && splits[0].Name == "" {
			hint = "their names and contents have no split: leave out --split"
		}
		return nil, usagef("the inputs have no split %s", strings.Join(o.Split, " or ")).WithHint("%s", hint)
	}
	return chosen, nil
}

// readClasses reads the file of class names, if one is given, for the labels of splits.
func (o *inputs) readClasses(ctx context.Context, splits []dataset.Split) ([]string, error) {
	if o.Classes == "" {
		return nil, nil
	}
	if o.LabelColumn == "" && o.tables == nil && !slices.ContainsFunc(splits, func(s dataset.Split) bool { return slices.ContainsFunc(s.Files, isLabels) }) {
		return nil, usagef("--classes %s: no input holds labels", o.Classes).WithHint("name the file that does: label=FILE")
	}
	if info, err := o.files(ctx).Stat(o.Classes); o.Classes == source.Stdin || err == nil && info.IsDir() {
		return nil, usagef("--classes %s, expected a file", o.Classes)
	}
	classes, err := Interruptible(ctx, func() (classes []string, err error) {
		f, err := o.files(ctx).Open(o.Classes)
		if err != nil {
			return nil, fault.In(o.Classes, err)
		}
		defer f.Close() // read-only: an error does not matter
		return dataset.ReadClasses(f, o.Classes)
	})
	for _, s := range splits {
		if d := s.Dataset; err == nil && d != nil && o.LabelColumn == "" && len(classes) != len(d.Classes) {
			o.report.warning("%s names the labels 0 to %d, but those of %s go up to %d; the first line names label 0", o.Classes, len(classes)-1, d.Title, len(d.Classes)-1)
		}
	}
	return classes, err
}

func isLabels(f dataset.File) bool { return f.Role == dataset.Label }
