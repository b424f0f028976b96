package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A Prober examines regular files for Find, in one goroutine. Find adds the path to its errors.
type Prober interface {
	// Header reads the header, decompressing it if needed. With an error, it has no dimensions.
	Header(path string) (idx.Header, error)
	// SHA256 returns the hexadecimal hash of the first records, decompressed; if these are all, it
	// checks the end of the file. It is called only for files with compressed copies, and for those
	// with the header of published ones; the next reader of the file reports its error.
	SHA256(path string, records int64) (string, error)
}

// An Input is one argument: a folder, a file, or source.Stdin.
type Input struct {
	Path string
	Name string // of the file's column; empty: that of its role
}

// Options control Find. The zero value finds everything.
type Options struct {
	Dataset string   // Name of one of Known, which it selects; DatasetNone; empty: judge by the files
	Split   []string // names of splits, ignoring case ("t10k" is "test"), which must exist; empty: all
	Damaged bool     // accept files that cannot be read or do not fit each other, for inspection
	Shaped  bool     // images that are one vector get the shape of records
	Holdout bool     // tables of splits beside IDX files may be outputs of --holdout
	Files   source.Files
	Table   func(name string) bool // reports whether a file of the name is a table; may be nil
}

// A File is the file of one column.
type File struct {
	Path  string
	Role  Role   // by the column name that the user gave, else by the file name
	Name  string // of the column, never empty
	Array string // name of the array in a file of several arrays, such as .npz
	// Header has no Dims if the file is standard input or, with Options.Damaged, cannot be read.
	Header idx.Header
	Shape  []int // of a record as it is read; nil: that of the header
}

// A Split is one table: files that belong together, in the order of its columns.
type Split struct {
	Name        string // "train", "test", that of another split of a published data set, or empty
	Stem        string // the name of outputs if Name is empty; itself never empty
	Files       []File
	Dataset     *Info    // the recognised data set, or nil
	Evidence    string   // how it was recognised: ByOption or, for example, "its labels"
	Doubt       string   // how names, labels and images contradict each other, or empty
	Notes       []string // decisions made for the user, each a line without "note: "
	FolderNotes []string // those about the folder; only its first split has them
}

// DatasetName returns the name of the recognised data set, or "".
func (s Split) DatasetName() string { return cmp.Or(s.Dataset, &Info{}).Name }

// columnName matches a name before the = of an argument. Other arguments with a = are paths.
var columnName = text.Pattern(`^[\pL_][\pL\pN_-]*$`)

// ParseInput parses an argument: PATH or NAME=PATH. The whole argument is a path if a file of that
// name exists, or if the part before the = is not a name, as in "./a=b".
func ParseInput(arg string) Input {
	name, path, _ := strings.Cut(arg, "=")
	if _, err := os.Lstat(arg); err == nil || path == "" || !columnName().MatchString(name) {
		return Input{Path: arg}
	}
	return Input{Path: path, Name: name}
}

// Find returns one table or more, each of at least one file: those of a folder, one for every split
// in the order train, test, others; or the one whose columns are the given files.
//
// Errors have the path added. They are of the kind fault.Usage for inputs or options that
// contradict each other and for ambiguous folders, fault.NotFound for a folder without IDX files,
// and fault.Malformed with the cause [ErrSwapped]. Others are those of p and of the file system.
func Find(inputs []Input, p Prober, o Options) ([]Split, error) {
	o.Files = cmp.Or[source.Files](o.Files, source.Local{})
	f := finder{Prober: p, options: o}
	for _, in := range inputs {
		switch info, err := o.Files.Stat(in.Path); {
		case in.Path == source.Stdin:
		case err != nil:
			return nil, fault.In(in.Path, err)
		case info.IsDir():
			return f.folder(in.Path)
		}
	}
	return f.files(inputs)
}

// A finder is a Prober with the options of one call of Find.
type finder struct {
	Prober
	options Options
}

// header returns the header of the file at path. It has no Dims if that is standard input.
func (f finder) header(path string) (idx.Header, error) {
	if path == source.Stdin {
		return idx.Header{}, nil
	}
	h, err := f.Header(path)
	return h, fault.In(path, err)
}

// IsCalled reports whether the user means s by asked: t10k and TEST are test.
func (s Split) IsCalled(asked string) bool {
	return s.Name == asked || s.Stem == asked || isSplit(asked, s.Name)
}

// isSplit reports whether asked, as the user wrote it, is the split called name.
func isSplit(asked, name string) bool {
	split, rest, _ := CutSplit(asked)
	return name != "" && (strings.EqualFold(asked, name) || split == name && rest == "")
}

// wants reports whether the split called name is to be found.
func (o Options) wants(name string) bool {
	return len(o.Split) == 0 || slices.ContainsFunc(o.Split, func(asked string) bool { return isSplit(asked, name) })
}

func sameHeader(a, b idx.Header) bool { return a.DType == b.DType && slices.Equal(a.Dims, b.Dims) }

// files makes one table of the given files, with its columns in their order.
func (f finder) files(inputs []Input) (_ []Split, err error) {
	var s Split
	names := make([]Name, len(inputs))
	for i, in := range inputs {
		names[i] = ParseName(in.Path)
		if in.Path == source.Stdin {
			names[i].Stem = "stdin"
		} else if strings.Trim(names[i].Stem, ".") == "" { // of ...idx: no output has such a name
			names[i].Stem = names[i].Role.String()
		}
		file := File{Path: in.Path, Role: names[i].Role, Name: cmp.Or(in.Name, names[i].Role.String())}
		if role := roleOf(in.Name); role != Data { // the user's name counts more than the file's
			file.Role = role
		}
		s.Files = append(s.Files, file)
	}
	for i, in := range inputs {
		column := names[i].ownColumn()
		for _, other := range names {
			column = cmp.Or(names[i].ColumnOf(other), column)
		}
		if column != "" && in.Name == "" && !slices.ContainsFunc(names, names[i].Pairs) {
			s.Files[i].Name, s.Files[i].Role = column, Data
		}
	}
	if err := f.distinct(s.Files, names); err != nil {
		return nil, err
	}
	first := names[max(0, slices.IndexFunc(inputs, func(in Input) bool { return in.Path != source.Stdin }))]
	s.Name, s.Stem = Common(names, func(n Name) string { return n.Split }), first.Stem
	if len(names) > 1 && first.Prefix != "" {
		s.Stem = first.Prefix
	}
	if err := f.checkSplits(baseNames(s.Files), []string{s.Name}); err != nil {
		return nil, err
	}
	for i := range s.Files {
		if s.Files[i].Header, err = f.header(s.Files[i].Path); err != nil && !f.options.Damaged {
			return nil, err
		}
	}
	isSure := func(f File) bool { return f.Split() != "" }
	isMixed := Common(s.Files, File.Split) == "" && slices.ContainsFunc(s.Files, isSure)
	if isMixed && !f.options.Damaged && slices.ContainsFunc(inputs, func(in Input) bool { return in.Name == "" }) {
		return nil, fault.New(fault.Usage, "the files belong to different splits: %s", baseNames(s.Files)).
			WithHint("give those of one split, or name the columns: image=FILE label=FILE")
	}
	if err = f.checkSwapped(&s); err == nil {
		err = f.identify([]*Split{&s}, Common(names, func(n Name) string { return n.Dataset }))
	}
	return []Split{s}, err
}

// distinct requires different column names, and standard input for at most one column.
func (f finder) distinct(files []File, names []Name) error {
	for i, a := range files {
		for j, b := range files[:i] {
			if a.Path == source.Stdin && b.Path == source.Stdin {
				return fault.New(fault.Usage, "standard input is given twice, expected one column of it")
			} else if a.Name != b.Name {
				continue
			}
			advice := "several files are the columns of one table; name them: " + named(b.Path, a.Path, f.mayLabel)
			switch {
			case source.ImageName().MatchString(a.Path):
				advice = "give the folder of the images instead: " + text.Path(source.Above(b.Path))
			case min(names[i].Split, names[j].Split) != "" && names[i].Split != names[j].Split:
				advice = "give the files of one split, or a folder, such as " + text.Path(source.Above(b.Path))
			case source.Above(a.Path) == source.Above(b.Path) && names[i].Stem == names[j].Stem:
				advice = "give only one of them: their names have the same meaning"
			}
			return fault.New(fault.Usage, "this file and %s would both be the column %q", a.Path, a.Name).
				In(b.Path).WithHint("%s", advice)
		}
	}
	return nil
}

// mayLabel reports whether the file at path can be read, and has one integer in each record.
func (f finder) mayLabel(path string) bool {
	h, _ := f.header(path) // without dimensions if it cannot be read
	return len(h.Dims) == 1 && !h.DType.Float()
}

// named returns arguments that name the columns of a and b: image and label if one may be labels.
func named(a, b string, mayLabel func(path string) bool) string {
	forms := map[[2]bool]string{{true, false}: "label=%s image=%s", {false, true}: "image=%s label=%s"}
	form := cmp.Or(forms[[2]bool{mayLabel(a), mayLabel(b)}], "left=%s right=%s")
	if ParseName(a).Role == Image && ParseName(b).Role != Label { // b is not named as its labels
		form = "image=%s other=%s"
	}
	return fmt.Sprintf(form, text.Quote(a), text.Quote(b))
}

// Common returns the value that all agree on, or "". Those with an empty value do not count.
func Common[T any](all []T, get func(T) string) (value string) {
	for _, t := range all {
		v := get(t)
		if v != "" && value != "" && v != value {
			return ""
		}
		value = cmp.Or(value, v)
	}
	return value
}

func baseNames[F interface{ base() string }](files []F) string {
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.base()
	}
	return strings.Join(names, ", ")
}

func (f File) base() string { return source.Base(f.Path) }

// Split returns the split that the name of f, or else of its folder, names, or "".
func (f File) Split() string {
	return cmp.Or(ParseName(f.Path).Split, ParseName(source.Above(f.Path)).Split)
}

// ErrSwapped is the cause of the error for images and labels under each other's names.
var ErrSwapped = errors.New("images and labels are swapped")

// checkSwapped refuses a column of images with single numbers beside a column of labels with larger
// records, and a file of either with the records of the other, if its name has the type of its own.
// Labels of rank 2 are allowed beside real images (QMNIST).
func (f finder) checkSwapped(s *Split) error {
	image, label := fileOf(s, Image), fileOf(s, Label)
	says := func(f File) (rank int) { _, _ = fmt.Sscanf(ParseName(f.Path).Format, "idx%d", &rank); return rank }
	wrong, other, more := label, Image, ""
	switch isNumbers := len(image.Header.Dims) == 1; {
	case f.options.Damaged:
		return nil
	case isNumbers && len(label.Header.Dims) > 1:
		return fault.New(fault.Malformed, "%v: this file, read as images, is %s, and %s, read as labels, is %s",
			ErrSwapped, image.Header, label.base(), label.Header).In(image.Path).
			WithHint("if the file names are wrong, say which file is which: image=%s label=%s",
				text.Quote(label.Path), text.Quote(image.Path)).Because(ErrSwapped)
	case isNumbers && says(image) > 1 && !f.options.Shaped:
		wrong, other, more = image, Label, "; --shape 28x28 reads pixels that are one vector"
	case len(label.Header.Dims) < 3 || says(label) != 1:
		return nil
	}
	return fault.New(fault.Malformed, "found %s, expected %ss, as its name says", wrong.Header, wrong.Role).
		In(wrong.Path).WithHint("download it again, or if only its name is wrong, rename it, or give %s=%s%s",
		other, text.Quote(wrong.Path), more)
}
