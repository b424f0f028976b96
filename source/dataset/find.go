package dataset

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A Prober looks into files for Find, which calls it from one goroutine, for regular files alone. Find puts
// the path before its errors.
type Prober interface {
	// Header reads the header, decompressing as needed. An error means that the file cannot be read or is no IDX file.
	Header(path string) (idx.Header, error)
	// PayloadSHA256 is the hash, in hexadecimal, of the decompressed payload after the header. It is asked for label files alone, and only
	// where their header is that of published ones. An error leaves the data set unknown: who reads the file next will meet it again.
	PayloadSHA256(path string) (string, error)
	// Compressed tells by the contents whether the file is compressed.
	Compressed(path string) bool
}

// An Input is one argument of the user: a folder, a file, or source.Stdin.
type Input struct {
	Path string
	Name string // of the column that the file is to be, or empty: by its role
}

// Options say how Find decides. The zero value takes what is there.
type Options struct {
	// Dataset is the name of one of Known, DatasetNone to know nothing, or empty to tell it from names and labels. In a folder with several
	// data sets it selects one.
	Dataset string
	// Split selects splits by name, in any case ("t10k" is "test"); empty means all. One that is not there is an error.
	Split []string
	// Uncounted says that the headers' counts are not to be trusted, as in a salvage: they are not compared.
	Uncounted bool
	// Reshaped says that the data will be read in other dimensions than the headers': neither counts nor ranks are compared.
	Reshaped bool
	// Files is where the inputs are; nil: those of this machine.
	Files source.Files
	// Table reports whether the file called name is a table of another format. It is for notes and hints; nil: none is.
	Table func(name string) bool
	// Damaged takes files all the same whose headers cannot be read or that do not fit together, for looking at what there is.
	Damaged bool
}

// A File is one column's file.
type File struct {
	Path string
	Role Role   // by the name that the user gave the column, else by the file's
	Name string // of the column, never empty
	// Header is what the file says of itself. It has no Dims if the file can be read only once (standard input, a pipe, a device), or, with
	// Options.Damaged, if it cannot be read.
	Header idx.Header
}

// A Split is one table to be: files that belong together, in the order of its columns.
type Split struct {
	Name  string // "train", "test", another of a published data set's, or empty
	Stem  string // what to call outputs that have no split's name; never empty
	Files []File
	// Dataset is what the files were recognised as, or nil; Evidence says by what: "--dataset", "the
	// file names", "the sha256 of the labels" or, without labels, "the sha256 of the labels of train".
	Dataset  *Info
	Evidence string
	Doubt    string   // what the contents say against the data set that the user named, or empty
	Lacks    string   // "labels" or "images" where a folder has the other file alone
	Notes    []string // what was decided for the user; each is a line without "note: "
}

// columnName is what counts as a name before the = of an argument, so that other arguments with a = are paths.
var columnName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\pL_][\pL\pN_-]*$`)
})

// ParseInput reads an argument: PATH or NAME=PATH. It is a path if it exists as a whole or if what stands before the = is no name, such
// as in "./a=b".
func ParseInput(arg string) Input {
	name, path, ok := strings.Cut(arg, "=")
	if !ok || path == "" || !columnName().MatchString(name) {
		return Input{Path: arg}
	}
	if _, err := os.Lstat(arg); err == nil {
		return Input{Path: arg}
	}
	return Input{Path: path, Name: name}
}

// Find returns the tables that inputs make: those of a folder, one for every split, or the one whose columns are the given files. Splits come
// in the order train, test, others. There is at least one, and each has at least one file.
//
// Errors are those of p and of the file system with the path before them; of the kind fault.Usage for inputs or options that make no sense together and
// for more than one way to read a folder, fault.NotFound for a folder without IDX files, and fault.Malformed for [ErrMismatch].
func Find(inputs []Input, p Prober, o Options) ([]Split, error) {
	if len(inputs) == 0 {
		return nil, fault.New(fault.Usage, "no input").WithHint("give a folder or IDX files")
	}
	if o.Dataset != "" && o.Dataset != DatasetNone {
		d, err := Lookup(o.Dataset)
		if err != nil {
			return nil, err
		}
		o.Dataset = d.Name
	}
	o.Files = source.In(o.Files)
	if o.Table == nil {
		o.Table = func(string) bool { return false }
	}
	f := finder{Prober: p, options: o}
	for _, in := range inputs {
		if in.Path == source.Stdin {
			continue
		}
		info, err := o.Files.Stat(in.Path)
		if err != nil {
			return nil, fault.In(in.Path, err)
		}
		if !info.IsDir() {
			continue
		}
		if len(inputs) > 1 || in.Name != "" {
			return nil, fault.New(fault.Usage, "%s is a folder, expected a file: several or named inputs are the columns of one table", in.Path).
				WithHint("convert folders one at a time, or name the files in them")
		}
		return f.folder(in.Path)
	}
	s, err := f.files(inputs)
	if err != nil {
		return nil, err
	}
	return []Split{s}, nil
}

// A finder is a Prober with the options of one call to Find.
type finder struct {
	Prober
	options Options
}

// header is the header of the file at path, without Dims if reading it would take it away from who comes next.
func (f finder) header(path string) (idx.Header, error) {
	if path == source.Stdin {
		return idx.Header{}, nil
	}
	info, err := f.options.Files.Stat(path)
	if err != nil {
		return idx.Header{}, fault.In(path, err)
	}
	if !info.Mode().IsRegular() {
		return idx.Header{}, nil
	}
	h, err := f.Header(path)
	if err != nil {
		return idx.Header{}, fault.In(path, err)
	}
	return h, nil
}

// wanted reports whether --split selects the split called name.
func (f finder) wanted(name string) bool {
	return len(f.options.Split) == 0 || slices.ContainsFunc(f.options.Split, func(asked string) bool { return isSplit(asked, name) })
}

// isSplit reports whether the user's word means the split called name.
func isSplit(asked, name string) bool {
	asked = lowerASCII(asked)
	return name != "" && (asked == name || splitOf(asked) == name)
}

// sameHeader reports whether two files say the same of themselves.
func sameHeader(a, b idx.Header) bool { return a.DType == b.DType && slices.Equal(a.Dims, b.Dims) }

// folderName is the last element of dir, also of "." and "..", and a name of its own for the root, which has none.
func folderName(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if filepath.Dir(dir) == dir {
		return Data.String()
	}
	return filepath.Base(dir)
}

// files makes one table of the files that the user gave, its columns in their order.
func (f finder) files(inputs []Input) (Split, error) {
	var s Split
	names := make([]Name, len(inputs))
	for i, in := range inputs {
		names[i] = inputName(in.Path)
		file := File{Path: in.Path, Role: names[i].Role, Name: in.Name}
		if file.Name == "" {
			file.Name = file.Role.String()
		} else if role := roleOf(file.Name); role != Data { // the user knows better than the file's name
			file.Role = role
		}
		s.Files = append(s.Files, file)
	}
	if err := f.distinct(s.Files, names); err != nil {
		return Split{}, err
	}
	s.Name, s.Stem = common(names, splitName), names[0].Stem
	if len(names) > 1 && names[0].Prefix != "" {
		s.Stem = names[0].Prefix
	}
	if err := f.checkSplits(baseNames(s.Files), []pairing{{split: s.Name}}); err != nil {
		return Split{}, err
	}
	for i := range s.Files {
		var err error
		if s.Files[i].Header, err = f.header(s.Files[i].Path); err != nil && !f.options.Damaged {
			return Split{}, err
		}
	}
	if s.Name == "" && slices.ContainsFunc(names, func(n Name) bool { return n.Split != "" }) {
		s.Notes = append(s.Notes, "the files are of different splits, but are joined row by row "+
			"as the columns of one table")
	}
	s.Notes = append(s.Notes, f.labelsBeside(s.Files, names)...)
	if err := f.check(&s); err != nil {
		return Split{}, err
	}
	return s, f.identify([]*Split{&s}, common(names, func(n Name) string { return n.Dataset }))
}

// inputName is what the path of an input tells.
func inputName(path string) Name {
	if path == source.Stdin {
		return Name{Role: Data, Stem: "stdin"}
	}
	n := ParseName(path)
	if strings.Trim(n.Stem, ".") == "" { // ".idx", "idx3-ubyte.gz", "...idx": outputs need a name that is no folder's
		n.Stem = n.Role.String()
	}
	return n
}

// distinct demands that no two columns have one name, and that standard input is one column only.
func (f finder) distinct(files []File, names []Name) error {
	for i, a := range files {
		for j, b := range files[:i] {
			if a.Path == source.Stdin && b.Path == source.Stdin {
				return fault.New(fault.Usage, "standard input is given twice").WithHint("standard input can be one column only")
			}
			if a.Name != b.Name {
				continue
			}
			first, second := "left", "right"
			x, _ := f.header(b.Path) // of a file that cannot be read, no dimensions are known
			y, _ := f.header(a.Path)
			switch ranks := [2]int{len(x.Dims), len(y.Dims)}; {
			case ranks[0] > 1 && ranks[1] == 1:
				first, second = Image.String(), Label.String()
			case ranks[0] == 1 && ranks[1] > 1:
				first, second = Label.String(), Image.String()
			}
			advice := fmt.Sprintf("several files are the columns of one table; name them: %s=%s %s=%s",
				first, shell.Quote(b.Path), second, shell.Quote(a.Path))
			if names[i].Split != "" && common([]Name{names[i], names[j]}, splitName) == "" {
				advice = "several files are the columns of one table: convert one split at a time, or give the folder"
			}
			return fault.New(fault.Usage, "two columns would be called %q, this file and %s", a.Name, a.Path).In(b.Path).WithHint("%s", advice)
		}
	}
	return nil
}

func splitName(n Name) string { return n.Split }

// common is what all files name, or empty. Files that name nothing do not count.
func common(names []Name, get func(Name) string) string {
	value := ""
	for _, n := range names {
		switch v := get(n); {
		case v == "" || v == value:
		case value != "":
			return ""
		default:
			value = v
		}
	}
	return value
}

// labelsBeside notes labels in the folder of a lone image file that would pair with it.
func (f finder) labelsBeside(files []File, names []Name) []string {
	image := slices.IndexFunc(files, func(f File) bool { return f.Role == Image && f.Path != source.Stdin })
	isLabel := func(f File) bool { return f.Role == Label || f.Name == Label.String() }
	if image < 0 || slices.ContainsFunc(files, isLabel) {
		return nil
	}
	// A folder that cannot be read has nothing to note: the file itself can be read, perhaps.
	entries, _ := f.options.Files.ReadDir(source.Above(files[image].Path), 0)
	for _, e := range entries {
		n, lone := ParseName(e.Name()), names[image]
		if n.Role == Label && n.Prefix == lone.Prefix && n.Split == lone.Split && n.Format != "" && !e.IsDir() {
			return []string{fmt.Sprintf("labels found beside, not used: %s; give the folder or both files", e.Name())}
		}
	}
	return nil
}

// baseNames are the base names of files, for a message.
func baseNames[F interface{ base() string }](files []F) string {
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.base()
	}
	return strings.Join(names, ", ")
}

func (f File) base() string { return filepath.Base(f.Path) }

// ErrMismatch is the cause of the error for files that are valid, but do not fit each other: their counts differ, or images and labels are swapped.
var ErrMismatch = errors.New("files that do not fit each other")

// check compares the headers of a table's files: that images and labels are not swapped, and that all have as many records. Files of
// unknown header are passed over.
func (f finder) check(s *Split) error {
	if f.options.Reshaped || f.options.Damaged {
		return nil
	}
	known := slices.DeleteFunc(slices.Clone(s.Files), func(f File) bool { return len(f.Header.Dims) == 0 })
	if err := checkSwapped(known); err != nil || f.options.Uncounted {
		return err
	}
	for _, file := range known {
		if file.Header.Records() != known[0].Header.Records() {
			a, b := known[0], file
			return fault.New(fault.Malformed, "the columns differ in length: found %d records, and %d in %s, expected as many",
				a.Header.Records(), b.Header.Records(), b.base()).In(a.Path).
				WithHint("the files do not belong together, or one of them is damaged").Because(ErrMismatch)
		}
	}
	return nil
}

// checkSwapped refuses a column of images that are single numbers beside a column of labels that are not. Labels of rank 2 are legal (QMNIST)
// beside real images.
func checkSwapped(files []File) error {
	column := func(r Role) int { return slices.IndexFunc(files, func(f File) bool { return f.Name == r.String() }) }
	i, l := column(Image), column(Label)
	if i < 0 || l < 0 || len(files[i].Header.Dims) != 1 || len(files[l].Header.Dims) < 2 {
		return nil
	}
	image, label := files[i], files[l]
	return fault.New(fault.Malformed, "images and labels are swapped: found %s, and %s in %s, expected it the other way round",
		image.Header, label.Header, label.base()).In(image.Path).
		WithHint("if the files' names are wrong, say which is which: image=%s label=%s", shell.Quote(label.Path), shell.Quote(image.Path)).Because(ErrMismatch)
}
