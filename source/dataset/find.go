package dataset

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/idxport/idxport/fault"
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

// wanted tells whether --split selects the split called name.
func (f finder) wanted(name string) bool {
	return len(f.options.Split) == 0 || slices.ContainsFunc(f.options.Split, func(asked string) bool { return isSplit(asked, name) })
}

// isSplit tells whether the user's word means the split called name.
func isSplit(asked, name string) bool {
	asked = lowerASCII(asked)
	return name != "" && (asked == name || splitOf(asked) == name)
}

// sameHeader tells whether two files say the same of themselves.
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
