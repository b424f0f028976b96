package convert

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/compressed"
	"github.com/idxport/idxport/source/dataset"
	"github.com/idxport/idxport/source/formats"
	"github.com/idxport/idxport/source/idx"
)

// inputs is a Source that was checked, and what is known of the files that it names.
type inputs struct {
	Source
	report       *Report
	args         []dataset.Input
	store        *object.Store // what the URLs among the options ask for
	opened       *opened
	foreign      map[string]formats.Table // inputs of other formats than IDX, by path; found by find
	counted      bool                     // an output needs their number of rows
	place        source.Files             // where the inputs of a part of a plan are; nil: it is none
	stdin        *bufio.Reader
	littleEndian bool
	dtype        idx.DType // 0: not said
	asTold       bool      // shapes are not guessed
	described    bool      // DType and Shape are about the output that is verified
}

// newInputs checks a source.
func newInputs(s Source, r *Report) (inputs, error) {
	o := inputs{Source: s, report: r, store: new(object.Store), opened: new(opened), stdin: bufio.NewReader(s.Stdin), littleEndian: s.ByteOrder == "little"}
	if len(s.Inputs) == 0 {
		return o, usagef("no input").WithHint("give a folder, files, or - for standard input, such as ./mnist")
	}
	for _, arg := range s.Inputs {
		if arg == "" {
			return o, usagef("an input is empty").WithHint("perhaps a variable of the shell is not set")
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
	if o.MaxRecordBytes < 1 || o.MaxRecordBytes > MaxRecordBytes {
		return o, usagef("--max-record-bytes %d, expected 1 to %d", o.MaxRecordBytes, MaxRecordBytes)
	}
	if o.Workers < 0 || o.Workers > MaxWorkers {
		return o, usagef("--workers %d, expected 0 to %d", o.Workers, MaxWorkers)
	}
	if err := cmp.Or(checkChoice("byte-order", s.ByteOrder), checkChoice("dtype", s.DType)); err != nil {
		return o, err
	}
	if i := slices.Index(Choices("dtype"), s.DType); i >= 0 {
		o.dtype = idx.DTypes()[i]
	}
	return o, nil
}

// prober looks into files for package dataset, with the options that they will be read with.
type prober struct{ options source.Options }

func (p prober) Header(path string) (idx.Header, error) {
	t, err := source.OpenIDX(path, p.options)
	if err != nil {
		return idx.Header{}, err
	}
	return t.Claim(), t.Close()
}

func (p prober) PayloadSHA256(path string) (string, error) {
	t, err := source.OpenIDX(path, p.options)
	if err != nil {
		return "", err
	}
	defer t.Close() // only read from
	hash := sha256.New()
	b := &source.Raw{Cap: 1 << 16}
	for {
		if err := t.Read(context.Background(), b); err == io.EOF {
			return hex.EncodeToString(hash.Sum(nil)), nil
		} else if err != nil {
			return "", err
		}
		hash.Write(b.Columns[0]) // as in the file: not decoded
	}
}

func (p prober) Compressed(path string) bool {
	f, err := source.In(p.options.Files).Open(path)
	if err != nil {
		return false // who reads it will say so
	}
	defer f.Close() // only read from
	var prefix [6]byte
	n, _ := io.ReadFull(f, prefix[:])
	return compressed.Detect(prefix[:n]) != compressed.Plain
}

// sourceOptions are the options that files are read with.
func (o *inputs) sourceOptions() source.Options {
	return source.Options{MaxRecordSize: o.MaxRecordBytes, LittleEndian: o.littleEndian, Salvage: o.Salvage, Reshape: o.Reshape}
}

// find looks for the splits of the inputs; damaged takes files too that cannot be read or do not
// fit together.
func (o *inputs) find(ctx context.Context, damaged bool) ([]dataset.Split, error) {
	if others, err := o.findForeign(ctx); others != nil || err != nil {
		return others, err
	}
	probe := o.sourceOptions()
	probe.Files = o.files(ctx)
	probe.Reshape = nil // hashes and headers are those of the files
	return dataset.Find(o.args, prober{probe}, dataset.Options{Dataset: o.Dataset, Split: o.Split, Uncounted: o.Salvage,
		Reshaped: o.Reshape != nil, Damaged: damaged, Files: probe.Files, Table: formats.Named})
}

// anyObject reports whether an input is an object.
func (o *inputs) anyObject() bool {
	return object.IsURL(o.Classes) || slices.ContainsFunc(o.args, func(in dataset.Input) bool { return object.IsURL(in.Path) })
}

// files is where inputs are. The context ends requests.
func (o *inputs) files(ctx context.Context) source.Files {
	switch {
	case o.place != nil:
		return o.place
	case !o.anyObject():
		return source.Local{}
	}
	return o.everywhere(ctx, nil)
}

func (o *inputs) everywhere(ctx context.Context, etags map[string]string) everywhere {
	return everywhere{ctx, o.store, o.opened, etags}
}

// findForeign looks for tables of other formats among the inputs. There are none if all are IDX
// files.
func (o *inputs) findForeign(ctx context.Context) ([]dataset.Split, error) {
	var tables []formats.Table
	for _, in := range o.args {
		found, err := o.findTables(ctx, in.Path)
		if err != nil {
			return nil, adviseName(in, err)
		}
		if found == nil && tables != nil || found != nil && tables == nil && in.Path != o.args[0].Path {
			return nil, usagef("%s is no IDX file, and cannot be joined with some", in.Path).WithHint("convert it by itself")
		}
		if in.Path == source.Stdin && len(found) > 0 && len(o.args) > 1 {
			return nil, usagef("standard input is a table, expected no other inputs")
		}
		if in.Name != "" && len(found) > 0 && !found[0].Format.OneColumn {
			return nil, usagef("%s=%s: %s is a table, which has names for its columns", in.Name, in.Path, shownPath(in.Path)).WithHint("leave out %s", shell.Quote(in.Name+"="))
		}
		if len(found) > 1 && len(o.args) > 1 {
			return nil, usagef("%s holds %d tables, expected one: several inputs are the columns of one table", in.Path, len(found))
		}
		tables = append(tables, found...)
	}
	if o.Header != nil && !slices.ContainsFunc(tables, func(t formats.Table) bool { return t.Format.Text }) {
		return nil, usagef("no input uses --header: it is for text, such as CSV")
	}
	if tables == nil {
		if (o.dtype != 0 || o.Shape != nil) && !o.described {
			return nil, usagef("no input uses --dtype or --shape: IDX files tell theirs").WithHint("--reshape gives them other dimensions")
		}
		return nil, nil
	}
	if err := o.checkIDXOnly(tables); err != nil {
		return nil, err
	}
	return o.splitsOf(tables)
}

// adviseName is err, with a hint if the argument in is NAME=FILE of a name that is none.
func adviseName(in dataset.Input, err error) error {
	_, path, ok := strings.Cut(in.Path, "=")
	if _, stat := os.Stat(path); !ok || in.Name != "" || stat != nil && !object.IsURL(path) || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fault.New(fault.NotFound, "no such file or directory").In(in.Path).Because(err).
		WithHint("the NAME of NAME=FILE begins with a letter or _, and has letters, digits, _ and - alone: column=%s", shell.Quote(path))
}

// checkIDXOnly refuses flags about IDX files, where the inputs are others.
func (o *inputs) checkIDXOnly(tables []formats.Table) error {
	columns := len(tables) > 1 && tables[0].Format.OneColumn // of different lengths, perhaps
	switch name := tables[0].Format.Name; {
	case o.littleEndian:
		return usagef("no input uses --byte-order: %s files tell theirs", name)
	case o.Salvage && !columns:
		return usagef("no input uses --salvage: it reads IDX files that are damaged, and not %s files", name)
	}
	return nil
}

// findTables looks for tables at path. Standard input may be an Arrow stream.
func (o *inputs) findTables(ctx context.Context, path string) ([]formats.Table, error) {
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

// shownPath is what messages call an input.
func shownPath(path string) string {
	if path == source.Stdin {
		return "standard input"
	}
	return path
}

// readOnce reports whether f cannot be opened again: it is standard input, or a pipe.
func (o *inputs) readOnce(f dataset.File) bool {
	other, ok := o.foreign[f.Path]
	if !ok {
		return len(f.Header.Dims) == 0
	}
	return slices.ContainsFunc(other.Paths, func(path string) bool {
		info, err := os.Stat(path)
		return path == source.Stdin || err == nil && !info.Mode().IsRegular() && !info.IsDir()
	})
}

// splitsOf makes a split of each table, but one of NumPy's arrays that are columns of one table.
func (o *inputs) splitsOf(tables []formats.Table) ([]dataset.Split, error) {
	o.foreign = map[string]formats.Table{}
	var splits []dataset.Split
	for i, t := range tables {
		name := dataset.ParseName(t.Name)
		file := dataset.File{Path: t.Path(), Role: name.Role, Name: name.Role.String()}
		if len(o.args) == len(tables) && o.args[i].Name != "" {
			file.Name = o.args[i].Name
		}
		o.foreign[t.Path()] = t
		split := dataset.Split{Name: splitName(t, name), Stem: t.Name, Files: []dataset.File{file}}
		same := slices.IndexFunc(splits, func(s dataset.Split) bool { return s.Name == split.Name })
		if named := len(o.args) == len(tables) && o.args[0].Name != "" && o.args[i].Name != ""; named && i > 0 && (splits[0].Name == "" || split.Name == "") {
			same = 0 // columns of one table, as the user says, although one file's name has no split
			splits[0].Name = cmp.Or(splits[0].Name, split.Name)
		}
		switch {
		case same < 0:
			splits = append(splits, split)
		case t.Format.OneColumn:
			splits[same].Files = append(splits[same].Files, file)
		case len(o.args) > 1:
			return nil, usagef("%s and %s are tables by themselves", splits[same].Files[0].Path, t.Path()).WithHint("convert them one at a time")
		default:
			splits = append(splits, split)
		}
	}
	for i := range splits {
		nameColumns(splits[i])
		if len(o.args) == 1 { // else columns are in the order of the arguments
			slices.SortStableFunc(splits[i].Files, func(a, b dataset.File) int { return int(a.Role) - int(b.Role) })
		}
	}
	return o.chosenSplits(splits)
}

// splitName is the split of t, by its name.
func splitName(t formats.Table, n dataset.Name) string {
	if n.Split != "" {
		return n.Split
	}
	if lower := strings.ToLower(t.Name); lower == "train" || lower == "test" {
		return lower
	}
	return ""
}

// chosenSplits are those of splits that --split names.
func (o *inputs) chosenSplits(splits []dataset.Split) ([]dataset.Split, error) {
	if len(o.Split) == 0 {
		return splits, nil
	}
	var names []string
	chosen := slices.DeleteFunc(slices.Clone(splits), func(s dataset.Split) bool {
		names = append(names, s.Stem)
		return !slices.Contains(o.Split, s.Name) && !slices.Contains(o.Split, s.Stem)
	})
	if len(chosen) == 0 {
		return nil, usagef("--split %s: found %s", strings.Join(o.Split, ", "), strings.Join(names, ", "))
	}
	return chosen, nil
}

// readClasses reads the file of class names, if there is one, for the labels among splits.
func (o *inputs) readClasses(ctx context.Context, splits []dataset.Split) ([]string, error) {
	if o.Classes == "" {
		return nil, nil
	}
	if o.LabelColumn == "" && o.foreign == nil && !slices.ContainsFunc(splits, func(s dataset.Split) bool { return slices.ContainsFunc(s.Files, isLabels) }) {
		return nil, usagef("--classes %s: no input holds labels", o.Classes).WithHint("say which file does: label=FILE")
	}
	f, err := o.files(ctx).Open(o.Classes)
	if err != nil {
		return nil, fault.In(o.Classes, err)
	}
	defer f.Close() // only read from
	classes, note, err := dataset.ReadClasses(f, o.Classes)
	if note != "" {
		o.report.Note("%s", note)
	}
	for _, s := range splits {
		if d := s.Dataset; err == nil && d != nil && o.LabelColumn == "" && len(classes) != len(d.Classes) {
			o.report.warning("%s has names for %d labels, but %s has %d", o.Classes, len(classes), d.Title, len(d.Classes))
		}
	}
	return classes, err
}

// nameColumns gives files of one table that would have one name those that are left of their own:
// train-weight.npy is weight.
func nameColumns(s dataset.Split) {
	if len(s.Files) < 2 {
		return
	}
	for i, f := range s.Files {
		stem := strings.TrimSuffix(filepath.Base(f.Path), ".npy")
		if rest := strings.TrimPrefix(stem, s.Name+"-"); f.Name == dataset.Data.String() && rest != "" {
			s.Files[i].Name = rest
		}
	}
}

// isLabels reports whether a file holds labels.
func isLabels(f dataset.File) bool { return f.Role == dataset.Label }
