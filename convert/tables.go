package convert

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
	"github.com/idxport/idxport/source/flat"
	"github.com/idxport/idxport/source/formats"
	"github.com/idxport/idxport/source/idx"
)

// Inputs of other formats than IDX: files and folders that idxport or other programs wrote. Each is a table by itself, but for NumPy's arrays, which
// are columns as IDX files are.

// findOthers looks for tables of other formats among the inputs. There are none if all are IDX files.
func (o *inputs) findOthers(ctx context.Context) ([]dataset.Split, error) {
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

// findTables looks for tables at path. Standard input may be a stream that tells what it is.
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

// readOnce tells whether f cannot be opened again: standard input, or a pipe.
func (o *inputs) readOnce(f dataset.File) bool {
	other, ok := o.others[f.Path]
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
	o.others = map[string]formats.Table{}
	var splits []dataset.Split
	for i, t := range tables {
		name := dataset.ParseName(t.Name)
		file := dataset.File{Path: t.Path(), Role: name.Role, Name: name.Role.String()}
		if len(o.args) == len(tables) && o.args[i].Name != "" {
			file.Name = o.args[i].Name
		}
		o.others[t.Path()] = t
		split := dataset.Split{Name: splitName(t, name), Stem: t.Name, Files: []dataset.File{file}}
		same := slices.IndexFunc(splits, func(s dataset.Split) bool { return s.Name == split.Name })
		if named := len(o.args) == len(tables) && o.args[0].Name != "" && o.args[i].Name != ""; named && i > 0 && (splits[0].Name == "" || split.Name == "") {
			same = 0 // columns of one table, as the user says, although the name of one file tells no split
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

// nameColumns gives files of one table that would have one name those that are left of their own: train-weight.npy is weight.
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

// openOther opens the file f, which is of another format, as it is.
func (o *inputs) openOther(ctx context.Context, s dataset.Split, f dataset.File, classes []string) (source.Table, error) {
	table := o.others[f.Path]
	read := source.ReadOptions{MaxRecordSize: o.MaxRecordBytes, DType: o.dtype, Shape: o.Shape, Header: o.Header, Classes: o.knownClasses(classes), Files: o.files(ctx)}
	t, err := Interruptible(ctx, func() (source.Table, error) { return table.Open(read) })
	if err != nil {
		return nil, err
	}
	if t.Rows() < 0 && o.counted {
		if o.readOnce(f) {
			err := usagef("%s does not tell its number of rows, which an output needs, and can be read only once", shownPath(f.Path)).
				WithHint("write it to a file first, or choose another format of output, such as Parquet")
			return nil, errors.Join(err, t.Close())
		}
		n, err := source.Count(ctx, t)
		if err = errors.Join(err, t.Close()); err != nil {
			return nil, err
		}
		if t, err = Interruptible(ctx, func() (source.Table, error) { return table.Open(read) }); err != nil {
			return nil, err
		}
		t = source.WithRows(t, n)
	}
	if t, err = o.shaped(t, o.reshapeOf(s, f), f.Path); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	columns := slices.Clone(t.Columns())
	if table.Format.OneColumn && len(columns) == 1 {
		columns[0].Name = f.Name
	}
	label := slices.IndexFunc(columns, func(c source.Column) bool { return c.Scalar() && c.Integer() && c.Name == dataset.Label.String() })
	if label >= 0 {
		columns[label].Classes = o.classesOf(t, columns[label], classes)
	} else if classes != nil && o.LabelColumn == "" && !table.Format.OneColumn {
		return nil, errors.Join(usagef("--classes %s: %s has no column label; its columns are %s", o.Classes, f.Path, strings.Join(names(columns), ", ")), t.Close())
	}
	return source.WithColumns(t, columns), nil
}

// shaped is t, the table at path, with the shapes that the user gave. A square number of unsigned bytes of which nobody tells the shape, as other tools
// leave lists, is taken for a square, as in CSV.
func (o *inputs) shaped(t source.Table, reshape []int, path string) (source.Table, error) {
	columns := slices.Clone(t.Columns())
	var guesses []string
	for i, c := range columns {
		square, ok := flat.Square(c.Name, c.Elements())
		switch {
		case len(c.Shape) != 1:
		case o.Shape != nil && (source.Column{Shape: o.Shape}).Elements() == c.Elements():
			columns[i].Shape = o.Shape
		case ok && c.Listed && c.DType == idx.Uint8 && c.Elements() > 1 && o.Shape == nil && reshape == nil && !o.asTold:
			columns[i].Shape = square
			guesses = append(guesses, fmt.Sprintf("%s: column %s: lists of %d bytes taken for %s, as their number is a square; --shape says otherwise",
				path, c.Name, c.Elements(), display.Shape(square)))
		}
	}
	if err := o.checkTyped(path, columns); err != nil {
		return t, err
	}
	t = source.WithColumns(t, columns, guesses...)
	if reshape == nil {
		return t, nil
	}
	as, err := source.Reshape(t, reshape, o.MaxRecordBytes)
	if err != nil {
		return t, fault.In(path, err)
	}
	return as, nil
}

// checkTyped refuses --dtype and --shape where the file at path tells other types and shapes of all its columns.
func (o *inputs) checkTyped(path string, columns []source.Column) error {
	var types, shapes []string
	typed, shaped := o.dtype == 0, o.Shape == nil
	for _, c := range columns {
		types, shapes = append(types, c.Name+" "+c.DType.String()), append(shapes, c.Name+" "+display.Shape(c.Shape))
		typed, shaped = typed || c.DType == o.dtype, shaped || slices.Equal(c.Shape, o.Shape)
	}
	switch {
	case !typed:
		return usagef("--dtype %s: %s holds %s", o.dtype, path, strings.Join(types, ", ")).WithHint("leave out --dtype: it is for files that do not tell their types")
	case !shaped:
		return usagef("--shape %s: %s holds %s", display.Shape(o.Shape), path, strings.Join(shapes, ", ")).
			WithHint("give the shape of one record that has as many elements; --reshape gives records other dimensions")
	}
	return nil
}

// knownClasses are the names of classes that the user gave, or those of the data set that the user named; nil if neither.
func (o *inputs) knownClasses(given []string) []string {
	d, err := dataset.Lookup(o.Dataset)
	if given == nil && err == nil && o.Dataset != "" {
		return d.Classes
	}
	return given
}

// classesOf are the names of the classes of the labels c of t: those that were given, those of the data set that t was made of, or its own.
func (o *inputs) classesOf(t source.Table, c source.Column, given []string) []string {
	if given != nil {
		return given
	}
	name := o.Dataset
	if name == "" {
		name = source.Meta(t)[keyDataset]
	}
	if d, err := dataset.Lookup(name); err == nil && name != "" && len(c.Classes) == 0 {
		return d.Classes
	}
	return c.Classes
}

// recorded is what was done to the data that t was made of, as far as its file keeps it.
func recorded(t source.Table) (a applied) {
	_ = json.Unmarshal([]byte(source.Meta(t)[keyApplied]), &a) // a file of somebody else's: nothing is known
	return a
}
