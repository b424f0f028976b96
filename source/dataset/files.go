package dataset

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/source"
)

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
	s.Name, s.Stem = commonSplit(names), names[0].Stem
	if len(names) > 1 && names[0].Prefix != "" {
		s.Stem = names[0].Prefix
	}
	if err := f.checkSplits(baseNames(paths(s.Files)), []pairing{{split: s.Name}}); err != nil {
		return Split{}, err
	}
	for i := range s.Files {
		var err error
		if s.Files[i].Header, err = f.header(s.Files[i].Path); err != nil && !f.options.Damaged {
			return Split{}, err
		}
	}
	s.Notes = append(mixedSplits(names), f.labelsBeside(s.Files, names)...)
	if err := f.check(&s); err != nil {
		return Split{}, err
	}
	return s, f.identify([]*Split{&s}, commonDataset(names))
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
			x, xErr := f.header(b.Path)
			y, yErr := f.header(a.Path)
			switch ranks := [2]int{len(x.Dims), len(y.Dims)}; {
			case xErr != nil || yErr != nil:
			case ranks[0] > 1 && ranks[1] == 1:
				first, second = Image.String(), Label.String()
			case ranks[0] == 1 && ranks[1] > 1:
				first, second = Label.String(), Image.String()
			}
			advice := fmt.Sprintf("several files are the columns of one table; name them: %s=%s %s=%s", first, shell.Quote(b.Path), second, shell.Quote(a.Path))
			if commonSplit([]Name{names[i], names[j]}) == "" && names[i].Split != "" {
				advice = "several files are the columns of one table: convert one split at a time, or give the folder"
			}
			return fault.New(fault.Usage, "two columns would be called %q, this file and %s", a.Name, a.Path).In(b.Path).WithHint("%s", advice)
		}
	}
	return nil
}

// commonSplit is the split that all files name, or empty. Files that name none do not count.
func commonSplit(names []Name) string {
	return common(names, func(n Name) string { return n.Split })
}

// mixedSplits notes files of different splits in one table: their counts may agree by chance.
func mixedSplits(names []Name) []string {
	for _, n := range names {
		if n.Split != "" && commonSplit(names) == "" {
			return []string{"the files are of different splits, but are joined row by row as the columns of one table"}
		}
	}
	return nil
}

// commonDataset is the data set that all files name, or empty. Files that name none do not count.
func commonDataset(names []Name) string {
	return common(names, func(n Name) string { return n.Dataset })
}

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
	if image < 0 || slices.ContainsFunc(files, func(f File) bool { return f.Role == Label || f.Name == Label.String() }) {
		return nil
	}
	entries, err := f.options.Files.ReadDir(source.Above(files[image].Path), 0)
	if err != nil {
		return nil // the file itself can be read, perhaps; there is just nothing to note
	}
	for _, e := range entries {
		n := ParseName(e.Name())
		if n.Role == Label && n.Prefix == names[image].Prefix && n.Split == names[image].Split && n.Format != "" && !e.IsDir() {
			return []string{fmt.Sprintf("labels found beside, not used: %s; give the folder or both files", e.Name())}
		}
	}
	return nil
}

// baseNames joins the base names of paths for a message.
func baseNames(paths []string) string {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = filepath.Base(p)
	}
	return strings.Join(names, ", ")
}

// paths are the paths of files.
func paths(files []File) []string {
	list := make([]string, len(files))
	for i, f := range files {
		list[i] = f.Path
	}
	return list
}

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
				a.Header.Records(), b.Header.Records(), filepath.Base(b.Path)).In(a.Path).
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
		image.Header, label.Header, filepath.Base(label.Path)).In(image.Path).
		WithHint("if the files' names are wrong, say which is which: image=%s label=%s", shell.Quote(label.Path), shell.Quote(image.Path)).Because(ErrMismatch)
}
