package png

import (
	"bytes"
	"cmp"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/picture"
)

// A list holds the files of the folder in little memory, as there may be millions.
type list struct {
	folders []string // sorted names of the class folders; one empty name if there are none
	files   []file   // in the order of the rows
	names   []byte   // names of the files, each followed by a 0
	kinds   []string // of the files, by their names
}

// A file is one image.
type file struct {
	folder uint32 // index in list.folders
	offset uint32 // of its name in list.names
}

// name returns the name of f within its folder.
func (l *list) name(f file) []byte {
	name := l.names[f.offset:]
	return name[:bytes.IndexByte(name, 0)]
}

// path returns the path of f within the root, separated by slashes.
func (l *list) path(f file) string {
	return path.Join(l.folders[f.folder], string(l.name(f)))
}

// used reports for each folder whether it has images.
func (l *list) used() []bool {
	used := make([]bool, len(l.folders))
	for _, f := range l.files {
		used[f.folder] = true
	}
	return used
}

// contents describes what visit found in one directory.
type contents struct {
	folders []string
	images  int
}

// readFolder lists all images of the folder.
func (t *Table) readFolder() error {
	top, err := t.visit("", 0)
	if err != nil {
		return err
	}
	slices.Sort(top.folders)
	if int64(len(top.folders)) > math.MaxInt32 {
		return fault.New(fault.Unsupported, "found %d class folders, which is too many", len(top.folders))
	}
	t.list.folders = []string{""}
	for i, name := range top.folders {
		inner, err := t.visit(name, uint32(i))
		if err != nil {
			return err
		}
		if top.images > 0 && inner.images > 0 {
			return fault.New(fault.Malformed,
				"found %s beside the class folder %s, expected all or none in class folders",
				display.Count(top.images, "image"), name).
				WithHint("move the images into class folders, or move the folders away")
		}
		if top.images > 0 {
			continue
		}
		if err := t.checkBelow(name, inner); err != nil {
			return err
		}
		t.list.folders = top.folders
	}
	if len(t.list.files) == 0 {
		return fault.New(fault.Unsupported, "found no images").
			WithHint("give a folder of images, or of class folders with images")
	}
	return nil
}

// checkBelow returns an error if folders inside a class folder hold images, because ImageFolder
// would read those too.
func (t *Table) checkBelow(name string, class contents) error {
	if len(class.folders) > 0 && class.images == 0 {
		return fault.New(fault.Malformed, "the class folder %s holds folders, such as %s, expected images", name,
			class.folders[0]).
			WithHint("give the folder that holds the class folders: %s", shell.Path(path.Join(t.path, name)))
	}
	for _, below := range class.folders {
		below = path.Join(name, below)
		deeper, err := t.visit(below, 0)
		if err != nil {
			return err
		}
		if deeper.images > 0 {
			return fault.New(fault.Malformed, "found %s in %s, expected all images of a class directly in its folder",
				display.Count(deeper.images, "image"), below).WithHint("move them into the class folder")
		}
	}
	return nil
}

// visit adds the images of a directory to the list and returns what the directory contains. folder
// is the index of the class folder that the images belong to.
func (t *Table) visit(name string, folder uint32) (v contents, err error) {
	dir, err := t.root.Open(cmp.Or(name, "."))
	if err != nil {
		return v, t.inFile(name, err)
	}
	defer dir.Close() // read-only: an error does not matter
	before := len(t.list.files)
	for {
		entries, err := dir.ReadDir(1024)
		for _, e := range entries {
			if err := t.visitEntry(&v, name, folder, e); err != nil {
				return v, err
			}
		}
		v.images = len(t.list.files) - before
		if err == io.EOF {
			return v, nil
		}
		if err != nil {
			return v, t.inFile(name, err)
		}
	}
}

// visitEntry adds one entry of the directory dir to v, and to the list if it is an image.
func (t *Table) visitEntry(v *contents, dir string, folder uint32, e fs.DirEntry) error {
	name := e.Name()
	if strings.HasPrefix(name, ".") || name == "__MACOSX" {
		return nil
	}
	image, unread := picture.KindByName(name)
	kind := e.Type()
	if kind&fs.ModeSymlink != 0 || kind&fs.ModeIrregular != 0 {
		info, err := t.root.Stat(path.Join(dir, name))
		if err != nil && image == "" && !t.leadsToFolder(dir, name) {
			return nil // neither an image, by its name, nor a class folder
		}
		if err != nil {
			return t.inFile(path.Join(dir, name), fault.New(fault.Malformed,
				"the link does not lead to a file or a folder within the folder %s", t.path).
				WithHint("replace the link with a copy of its target, or remove it"))
		}
		kind = info.Mode().Type()
	}
	switch {
	case kind.IsDir():
		v.folders = append(v.folders, name)
	case image == "":
	case unread:
		return t.inFile(path.Join(dir, name), fault.New(fault.Unsupported, "%s images are not read", image).
			WithHint("convert them to PNG: mogrify -format png FILES; then move the originals away"))
	case kind != 0:
		return t.inFile(path.Join(dir, name),
			fault.New(fault.Unsupported, "found a %v, expected a regular file", os.FileMode(kind)))
	case int64(len(t.list.names))+int64(len(name)) >= math.MaxUint32:
		return fault.New(fault.Unsupported, "the names of all files together take more than 4 GiB").
			WithHint("split the folder")
	default:
		t.list.files = append(t.list.files, file{folder: folder, offset: uint32(len(t.list.names))})
		t.list.names = append(append(t.list.names, name...), 0)
		if !slices.Contains(t.list.kinds, image) {
			t.list.kinds = append(t.list.kinds, image)
		}
	}
	return nil
}

// leadsToFolder reports whether the link called name in dir leads to a folder, even one outside the
// root. Ignoring such a link would lose the rows of its images.
func (t *Table) leadsToFolder(dir, name string) bool {
	info, err := os.Stat(filepath.Join(t.path, dir, name))
	return err == nil && info.IsDir()
}

// maxDigits is the number of digits that always fit an int64.
const maxDigits = 18

// numberOf parses the name of a file without its extension as a number.
func numberOf(name []byte) (n int64, ok bool) {
	digits := name[:bytes.LastIndexByte(name, '.')]
	if len(digits) > maxDigits {
		return 0, false
	}
	v, err := strconv.ParseUint(string(digits), 10, 63)
	return int64(v), err == nil
}

// sort sorts the files into the order of the rows: first those whose names are numbers, by number,
// then the others by folder and name. If two files have the same number, all are sorted by folder
// and name.
func (t *Table) sort() {
	l := &t.list
	byName := func(a, b file) int {
		return cmp.Or(cmp.Compare(a.folder, b.folder), source.CompareNames(string(l.name(a)), string(l.name(b))))
	}
	number := func(f file) int64 {
		n, _ := numberOf(l.name(f))
		return n
	}
	var numbered, others []file
	for _, f := range l.files {
		if _, ok := numberOf(l.name(f)); ok {
			numbered = append(numbered, f)
		} else {
			others = append(others, f)
		}
	}
	slices.SortFunc(numbered, func(a, b file) int { return cmp.Compare(number(a), number(b)) })
	slices.SortFunc(others, byName)
	for i := 1; i < len(numbered); i++ {
		if number(numbered[i-1]) == number(numbered[i]) {
			slices.SortFunc(l.files, byName)
			return
		}
	}
	l.files = append(numbered, others...)
}
