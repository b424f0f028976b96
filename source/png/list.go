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
)

// A list holds the files of the folder in little memory, as there may be millions.
type list struct {
	folders []string // sorted names of the class folders; one empty name if there are none
	files   []file   // in the order of the rows
	names   []byte   // names of the files, each followed by a 0
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

// otherFormats are the extensions of images that this package does not read.
var otherFormats = []string{".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".ppm", ".pgm"}

// contents describes what visit found in one directory.
type contents struct {
	folders []string
	images  int
	other   int    // images of other formats
	example string // the name of one of those
}

func (t *Table) readFolder() error {
	top, err := t.visit("", 0)
	if err != nil {
		return err
	}
	slices.Sort(top.folders)
	if top.images > 0 && len(top.folders) > 0 {
		for _, name := range top.folders {
			inner, err := t.visit(name, 0)
			if err != nil {
				return err
			}
			if inner.images > 0 {
				return fault.New(fault.Malformed, "found %s beside the class folder %s, expected all or none in class folders",
					display.Count(top.images, "image"), name).WithHint("move the images into class folders, or move the folders away")
			}
		}
		top.folders = nil
	}
	found := top
	t.list.folders = []string{""}
	if len(top.folders) > 0 {
		t.list.folders = top.folders
		if int64(len(top.folders)) > math.MaxInt32 {
			return fault.New(fault.Unsupported, "found %d class folders, which is too many", len(top.folders))
		}
		for i, name := range top.folders {
			inner, err := t.visitClass(name, uint32(i))
			if err != nil {
				return err
			}
			found.images += inner.images
			found.other += inner.other
			if inner.example != "" {
				found.example = path.Join(name, inner.example)
			}
		}
	}
	if found.other > 0 {
		return fault.New(fault.Unsupported, "found %s in other formats, such as %s, and %s, expected only PNG",
			display.Count(found.other, "image"), found.example, display.Count(found.images, "PNG file")).WithHint("convert them to PNG: mogrify -format png FILES; then move the originals away")
	}
	if found.images == 0 {
		return fault.New(fault.Unsupported, "found no PNG files").WithHint("give a folder of PNG files, or of class folders with PNG files")
	}
	return nil
}

// visitClass is visit for a class folder. Folders inside it must not hold images, because
// ImageFolder would read those too.
func (t *Table) visitClass(name string, folder uint32) (contents, error) {
	inner, err := t.visit(name, folder)
	if err != nil || len(inner.folders) == 0 {
		return inner, err
	}
	if inner.images == 0 {
		return inner, fault.New(fault.Malformed, "the class folder %s holds folders, such as %s, expected images",
			name, inner.folders[0]).WithHint("give the folder that holds the class folders: %s", shell.Path(path.Join(t.path, name)))
	}
	for _, below := range inner.folders {
		below = path.Join(name, below)
		deeper, err := t.visit(below, folder)
		if err != nil {
			return inner, err
		}
		if deeper.images > 0 {
			return inner, fault.New(fault.Malformed, "found %s in %s, expected all images of a class directly in its folder", display.Count(deeper.images, "image"), below).
				WithHint("move them into the class folder")
		}
	}
	return inner, nil
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
		if err == io.EOF {
			v.images = len(t.list.files) - before
			return v, nil
		}
		if err != nil {
			return v, t.inFile(name, err)
		}
	}
}

// leadsToFolder reports whether the link called name in dir leads to a folder, even one outside the
// root. Ignoring such a link would lose the rows of its images.
func (t *Table) leadsToFolder(dir, name string) bool {
	info, err := os.Stat(filepath.Join(t.path, dir, name))
	return err == nil && info.IsDir()
}

// visitEntry adds one entry of the directory dir to v, and to the list if it is a PNG file.
func (t *Table) visitEntry(v *contents, dir string, folder uint32, e fs.DirEntry) error {
	name := e.Name()
	if strings.HasPrefix(name, ".") || name == "__MACOSX" {
		return nil
	}
	ext := strings.ToLower(path.Ext(name))
	kind := e.Type()
	if kind&fs.ModeSymlink != 0 || kind&fs.ModeIrregular != 0 {
		info, err := t.root.Stat(path.Join(dir, name))
		if err != nil && ext != ".png" && !slices.Contains(otherFormats, ext) && !t.leadsToFolder(dir, name) {
			return nil // neither an image, by its name, nor a class folder
		}
		if err != nil {
			return t.inFile(path.Join(dir, name), fault.New(fault.Malformed, "the link does not lead to a file or a folder within the folder %s", t.path).
				WithHint("replace the link with a copy of its target, or remove it"))
		}
		kind = info.Mode().Type()
	}
	switch {
	case kind.IsDir():
		v.folders = append(v.folders, name)
	case slices.Contains(otherFormats, ext):
		v.other++
		v.example = name
	case ext != ".png":
	case kind != 0:
		return t.inFile(path.Join(dir, name), fault.New(fault.Unsupported, "found a %v, expected a regular file", os.FileMode(kind)))
	case int64(len(t.list.names))+int64(len(name)) >= math.MaxUint32:
		return fault.New(fault.Unsupported, "the names of all files together take more than 4 GiB").WithHint("split the folder")
	default:
		t.list.files = append(t.list.files, file{folder: folder, offset: uint32(len(t.list.names))})
		t.list.names = append(append(t.list.names, name...), 0)
	}
	return nil
}

// maxDigits is the number of digits that always fit an int64.
const maxDigits = 18

// numberOf parses the name of a file without its extension as a number.
func numberOf(name []byte) (n int64, ok bool) {
	digits := name[:len(name)-len(".png")]
	if len(digits) > maxDigits {
		return 0, false
	}
	v, err := strconv.ParseUint(string(digits), 10, 63)
	return int64(v), err == nil
}

// sort sorts the files into the order of the rows: by number if every file has a different one,
// else by folder and name.
func (t *Table) sort() {
	l := &t.list
	if t.sortByNumber() {
		first, _ := numberOf(l.name(l.files[0]))
		last, _ := numberOf(l.name(l.files[len(l.files)-1]))
		switch missing := last - first + 1 - int64(len(l.files)); {
		case missing > 0:
			are := "numbers are"
			if missing == 1 {
				are = "number is"
			}
			t.note("rows are in the order of the numbers in the file names, %d to %d (%d %s missing)", first, last, missing, are)
		case first > 0:
			t.note("rows are in the order of the numbers in the file names, %d to %d", first, last)
		}
		return
	}
	slices.SortFunc(l.files, func(a, b file) int {
		return cmp.Or(cmp.Compare(a.folder, b.folder), bytes.Compare(l.name(a), l.name(b)))
	})
	if len(l.folders) > 1 {
		t.note("rows are in the order of the class folders, and by name within each, because some file names have no number, or the same number")
	} else {
		t.note("rows are in the order of the file names, because some have no number, or the same number")
	}
}

// sortByNumber sorts the files by number. It reports whether every file has a different number.
func (t *Table) sortByNumber() bool {
	l := &t.list
	for _, f := range l.files {
		if _, ok := numberOf(l.name(f)); !ok {
			return false
		}
	}
	number := func(f file) int64 {
		n, _ := numberOf(l.name(f))
		return n
	}
	slices.SortFunc(l.files, func(a, b file) int { return cmp.Compare(number(a), number(b)) })
	for i, f := range l.files[1:] {
		if number(f) == number(l.files[i]) {
			return false
		}
	}
	return true
}

// labelOf parses the name of a folder as a label, a number that fits an int32.
func labelOf(name string) (int32, bool) {
	if name == "" || name[0] < '0' || name[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseInt(name, 10, 32)
	return int32(n), err == nil
}
