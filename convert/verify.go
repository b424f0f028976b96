package convert

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/compare"
	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/input"
	"github.com/idxport/idxport/internal/sources"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/source"
)

// A comparison describes how two tables are compared.
type comparison struct {
	paths   []string // of what is verified
	text    bool     // values are text: all NaNs are equal
	partial bool     // columns may be missing
}

func compareTables(ctx context.Context, r *request, expected *job, found source.Table, c comparison) (Verified, error) {
	both, err := compare.NewPair(expected.table, found, c.partial, c.text)
	if differs, ok := errors.AsType[*fault.Error](err); ok {
		return Verified{}, differ(c.path(differs.Path), differs.Msg)
	}
	s := schema.Of(both)
	k := compare.New(s, c.text)
	rows, err := drain(ctx, r, both, s, "verifying "+expected.title(), k)
	if err != nil {
		return Verified{}, err
	}
	compared := source.Names(s.Columns[:len(s.Columns)/2])
	differences, origin := []string(nil), ""
	r.report.Differences = k.List
	if k.List != nil {
		differences = append(differences, k.List[0].String())
		origin = s.Columns[len(compared)+slices.Index(compared, k.List[0].Column)].Origin
	}
	if k.Values > 1 {
		differences = append(differences, text.Count(k.Values, "value")+" in "+text.Count(k.Rows, "row")+" differ")
	}
	if both.Lengths != nil {
		differences = append(differences, both.Lengths.Error())
	}
	if differences != nil {
		return Verified{}, differ(c.path(origin), differences...)
	}
	return Verified{Path: c.paths[0], Paths: c.paths, Split: expected.split.Name, Rows: rows, Columns: compared,
		Missing: both.Missing}, nil
}

// path returns the one of the paths with the base name origin, or all of them.
func (c comparison) path(origin string) string {
	if i := slices.IndexFunc(c.paths, func(p string) bool { return source.Base(p) == origin }); i >= 0 {
		return c.paths[i]
	}
	return strings.Join(c.paths, ", ")
}

// differ returns the error for an output at path that differs from its inputs.
func differ(path string, differences ...string) *fault.Error {
	return fault.New(fault.Differs, "%s differs: %s", path, strings.Join(differences, "; "))
}

// verifyOutput compares an output, which is at path until it is published, with its inputs.
func verifyOutput(ctx context.Context, in *inputs, out *output, path string) error {
	expected, err := openJob(ctx, in, out.job.split, out.job.raw)
	if err != nil {
		return err
	}
	defer expected.release()
	found, err := reopen(in.request, path, out, expected.table.Columns())
	if errors.Is(err, fs.ErrNotExist) { // its folder was moved meanwhile
		err = fault.New(fault.IO, "reading it again: %v", fs.ErrNotExist).In(out.path).Because(err)
	}
	if err != nil {
		return err
	}
	defer found.Close() // read-only: an error does not matter
	_, err = compareTables(ctx, in.request, expected, found, comparison{paths: []string{out.path},
		text: out.format.Text || out.format.Folder, partial: out.format.OneColumn})
	return err
}

// reopen opens the output out, which is still at path; columns are those of its table.
func reopen(r *request, path string, out *output, columns []source.Column) (source.Table, error) {
	if out.format.IsIDX {
		name := columns[out.options.Column].Name
		return source.OpenIDX(path, source.Options{Name: name, MaxRecordSize: r.MaxRecordBytes})
	}
	prefix := ""
	if out.shards != "" {
		path, prefix = filepath.Join(path, filepath.Dir(out.shards)), filepath.Base(out.shards)+"-"
	}
	table, err := sources.As(out.format.Name, path, prefix, out.path) // checkOutput refuses other formats
	if err != nil {
		return nil, err
	}
	read := source.ReadOptions{MaxRecordSize: MaxRecordBytesLimit, Like: columns} // lines are longer than records
	if out.format.Text && path != out.path {
		read.Header = new(csv.HasHeader(out.options.Layout)) // what is replaced may be of another layout
	}
	t, err := table.Open(read)
	if err != nil || !out.format.OneColumn {
		return t, err
	}
	found := slices.Clone(t.Columns())
	found[0].Name = columns[out.options.Column].Name
	return source.WithColumns(t, found), nil
}

// Verify compares output, value by value, with the inputs as view shows them. The error has
// the Kind "differs" if something does. Its hint has other flags that the output records.
func Verify(ctx context.Context, output string, in Source, view View) (*Report, error) {
	report := NewReport(in.Events)
	in.Inputs = append([]string{output}, in.Inputs...) // so that one store gets the parameters of all URLs
	r, err := newRequest(Options{Source: in, View: view}, report)
	if err == nil {
		err = verify(ctx, r)
	}
	return report, err
}

// verify compares the output that is the first argument of r, read as it is, with the others.
func verify(ctx context.Context, r *request) error {
	ofInputs := r.input
	ofInputs.Args, ofInputs.Header = r.input.Args[1:], nil
	ofOutput := input.Options{Args: r.input.Args[:1], DType: r.input.DType, MaxRecordBytes: r.MaxRecordBytes,
		Like: []source.Column{}, Stdin: r.input.Stdin, Storage: r.input.Storage, Note: r.input.Note,
		Dataset: dataset.DatasetNone} // its metadata may name one
	if (r.Transpose == nil || !*r.Transpose) && r.Resize[0] == 0 { // else it had that shape before
		ofOutput.Shape = r.Shape
	}
	set, err := input.Find(ctx, ofInputs, false)
	if err != nil {
		return err
	}
	if set.Text() { // --header is for one: an output may have a header although its input has none
		set.Header = r.Header
	} else {
		ofOutput.Header = r.Header
	}
	in, out := &inputs{r, set}, &inputs{request: r}
	if out.set, err = input.Find(ctx, ofOutput, false); err != nil {
		return err
	}
	if s := out.set.Splits[0]; s.FolderNotes != nil { // all of an output is compared
		return usagef("%s", s.FolderNotes[0]).WithHint("give single files, such as %s", text.Path(s.Files[0].Path))
	}
	chosen, err := chooseRows(ctx, in)
	if err != nil {
		return err
	}
	compared := map[int]string{} // files of the output by split of the inputs
	for _, split := range out.set.Splits {
		i, err := verifySplit(ctx, in, out, chosen, split)
		if err != nil {
			return err
		}
		if other := compared[i]; other != "" && i >= 0 {
			return differ(split.Files[0].Path, "it repeats the rows of "+other).
				WithHint("verify one of them alone: idxport verify %s INPUT", text.Path(other))
		}
		compared[i] = split.Files[0].Path
	}
	var left []dataset.Split
	for i, c := range chosen {
		if compared[i] == "" {
			left = append(left, c.Split)
		}
	}
	if oneFile := len(out.set.Splits) == 1 && out.isFile(out.set.Splits[0].Files[0].Path); !oneFile && left != nil {
		return differ(ofOutput.Args[0].Path, "it has no split "+input.SplitNames(left)).
			WithHint("to compare other splits only, name them with --split, or give one file of the output alone")
	}
	return nil
}

// verifySplit verifies one table of the output, and returns the index of the split of the inputs
// that it was compared with, or −1 for one that --split leaves out.
func verifySplit(ctx context.Context, in, out *inputs, chosen []chosenSplit, split dataset.Split) (int, error) {
	images := filepath.Join(out.set.Args[0].Path, cmp.Or(split.Name, split.Stem)) // of --to png,idx
	if out.set.IDX() && folderAt(images) {
		return -1, usagef("%s is not compared, because the IDX files beside it are read", images).
			WithHint("verify it alone, and each of the files: idxport verify %s INPUT", text.Path(images))
	}
	out.request.report.splitNotes(split)
	found, err := out.set.Open(ctx, split, nil, true)
	if err != nil {
		return -1, err
	}
	defer found.Close() // read-only: an error does not matter
	if _, err := input.Project(found, nil); err != nil && in.request.Columns == nil {
		return -1, err
	}
	i, err := splitFor(in, out, chosen, found, split)
	if i < 0 || err != nil {
		return -1, adviseMade(err, found, Applied{}, chosen[0].Dataset)
	}
	expected, err := openJob(ctx, in, chosen[i], out.set.IDX())
	if err != nil {
		return -1, err
	}
	defer expected.release()
	in.describeInputs(expected)
	if err = verifyTable(ctx, out, expected, found, split); errors.Is(err, fault.Differs) {
		err = adviseMade(err, found, expected.applied, chosen[i].Dataset)
	}
	return i, err
}

// verifyTable compares found, the table of the output's split own, with expected.
func verifyTable(ctx context.Context, out *inputs, expected *job, found source.Table, own dataset.Split) error {
	r, file := out.request, own.Files[0].Path
	table := out.set.Table(file)
	if table.Format.Untyped { // its types, shapes and labels are those that are expected
		like := *out.set
		like.Like, like.Shape, like.Header = expected.table.Columns(), nil, new(source.About(found).FirstLine != "")
		again, err := like.Open(ctx, own, nil, true)
		if err != nil {
			return err
		}
		defer again.Close() // read-only: an error does not matter
		found = again
	}
	oneColumn := out.set.IDX() || table.Format.OneColumn && table.Arrays == nil // such a file may lack others
	c := comparison{text: table.Format.Untyped, partial: oneColumn && out.isFile(file)}
	for _, f := range own.Files {
		c.paths = append(c.paths, f.Path)
	}
	c.paths = slices.Compact(c.paths) // a .npz file has several columns
	result, err := compareTables(ctx, r, expected, found, c)
	r.report.addInfo(source.About(expected.table))
	r.report.addInfo(source.About(found))
	if err != nil {
		return err
	}
	r.report.Verified = append(r.report.Verified, result)
	if len(result.Missing) > 0 {
		r.report.Note("%s does not hold %s", file, strings.Join(result.Missing, ", "))
	}
	return nil
}

// isFile reports whether path is the first argument, and not a file in a folder.
func (in *inputs) isFile(path string) bool {
	return filepath.Clean(path) == filepath.Clean(in.set.Args[0].Path)
}

// adviseMade adds a hint to err, an error about a table of the output: what its metadata records
// that was done to the inputs, of the data set d, if that differs from given, what is done now.
func adviseMade(err error, found source.Table, given Applied, d *dataset.Info) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	about, made := source.About(found), Applied{}
	_, ours := about.Meta[keySources]
	_ = json.Unmarshal([]byte(about.Meta[source.KeyApplied]), &made) // there may be none
	if about.AllParts {
		made.Part = ""
	}
	turns := d != nil && d.Transposed
	switch flags := made.flags(turns); {
	case !ours && e.Hint == "":
		return e.WithHint("the output comes first, as NAME=FILE if it is a file of one of several columns; if it was " +
			"made with flags such as --columns, --rows or --transpose, give them again")
	case flags != given.flags(turns):
		return e.WithHint("give verify the flags that it was made with:%s", cmp.Or(flags, " none"))
	}
	return err
}

// splitFor returns the index of the split of the inputs that the table found, the split own of the
// output, was made from: the one in its name or metadata; −1 if --split leaves that out.
func splitFor(in, out *inputs, chosen []chosenSplit, found source.Table, own dataset.Split) (int, error) {
	several := len(out.set.Splits) > 1
	if len(chosen) == 1 && !several {
		return 0, nil
	}
	key := func(name string) string { return "_" + strings.ToLower(hubName(name)) + "_" }
	recorded, names := key(source.About(found).Meta[keySplit]), key(own.Name+" "+own.Stem)
	var fits []int // the splits whose names are in those of the output
	var splits []dataset.Split
	for k, c := range chosen {
		if strings.Contains(names, key(cmp.Or(c.Name, c.Stem))) {
			fits = append(fits, k)
		}
		splits = append(splits, c.Split)
	}
	isRecorded := func(c chosenSplit) bool { return key(cmp.Or(c.Name, c.Stem)) == recorded }
	if i := slices.IndexFunc(chosen, isRecorded); i >= 0 && len(fits) != 1 {
		fits = []int{i}
	}
	switch path := own.Files[0].Path; {
	case len(fits) > 1:
		return 0, usagef("the name of %s fits the splits %s and %s", path, splits[fits[0]].Name, splits[fits[1]].Name).
			WithHint("rename it, so that its name has only that of its split")
	case len(fits) == 1:
		return fits[0], nil
	case several && in.request.Split != nil:
		return -1, nil
	case several:
		return 0, differ(path, "the inputs have no such split, only "+input.SplitNames(splits))
	default:
		return 0, usagef("%s holds the split %s, but the inputs have the splits %s", path,
			cmp.Or(own.Name, strings.Trim(recorded, "_"), own.Stem), input.SplitNames(splits)).
			WithHint("choose one with --split")
	}
}
