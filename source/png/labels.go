package png

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// maxClasses is the largest number of named classes. Names are in a slice indexed by label, and a
// folder named 2000000000 must not allocate that many.
const maxClasses = 1 << 20

// findLabels adds the columns of labels and of other numbers: see the package comment.
func (t *Table) findLabels(o source.ReadOptions) error {
	name := "label"
	var known []string // names of the expected labels
	if i := (&schema.Schema{Columns: o.Like}).Label(); i >= 0 {
		name, known = o.Like[i].Name, o.Like[i].Classes
	}
	given, err := t.readMetadata()
	if err != nil {
		return err
	}
	flat := len(t.list.folders) == 1 && t.list.folders[0] == ""
	names := []string{t.columns[0].Name, name}
	if given != nil {
		names = append(names, given.header...)
	}
	wants := o.Wants(names)
	switch {
	case !wants(name):
	case given != nil && given.column(name) >= 0:
		err = t.labelByMetadata(given, name, o)
	case flat:
		t.note("images without labels, because there are no class folders")
	default:
		err = t.labelByFolder(name, known, o)
	}
	if err != nil || given == nil {
		return err
	}
	return t.addNumbers(given, func(other string) bool { return other != name && wants(other) }, o.Like)
}

// labelByFolder adds the label that each class folder gives its images.
func (t *Table) labelByFolder(name string, known []string, o source.ReadOptions) error {
	folders := t.allFolders(o.Folders)
	own, err := t.readClasses()
	if err != nil {
		return err
	}
	var byFolder []int32
	var classes []string
	switch {
	case own != nil && o.Classes == nil:
		classes = own.Classes
		byFolder, err = t.positions(own.Folders, classes)
	case t.labelByNumber(folders) != nil:
		byFolder = t.labelByNumber(folders)
	case o.Classes != nil:
		classes = o.Classes
		byFolder, err = t.positions(schema.FolderNames(classes), classes)
	default:
		if byFolder, err = t.positions(schema.FolderNames(known), known); err == nil {
			classes = known
			break
		}
		byFolder, classes, err = t.labelByPosition(folders)
	}
	if err != nil {
		return err
	}
	labels := make([]int32, len(t.list.files))
	for row, f := range t.list.files {
		labels[row] = byFolder[f.folder]
	}
	t.addLabels(name, labels, classes)
	return nil
}

// addLabels adds a column of labels: uint8 if they fit, else int32.
func (t *Table) addLabels(name string, labels []int32, classes []string) {
	c := source.Column{Name: name, DType: idx.Uint8, Origin: t.columns[0].Origin, Classes: classes}
	if slices.Max(labels) > math.MaxUint8 || slices.Min(labels) < 0 {
		c.DType = idx.Int32
	}
	data := make([]byte, len(labels)*c.DType.Size())
	for row, label := range labels {
		source.PutInt(data[row*c.DType.Size():], c.DType, int64(label))
	}
	t.columns, t.numbers = append(t.columns, c), append(t.numbers, data)
}

// readClasses returns the content of the hidden file that sink/png writes, or nil if there is none.
func (t *Table) readClasses() (*schema.ClassFolders, error) {
	text, err := t.root.ReadFile(schema.ClassesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	found := new(schema.ClassFolders)
	if err == nil {
		err = json.Unmarshal(text, found)
	}
	if err == nil && len(found.Folders) != len(found.Classes) {
		err = fmt.Errorf("found %d folders and %d classes", len(found.Folders), len(found.Classes))
	}
	if err != nil {
		return nil, t.inFile(schema.ClassesFile, fault.Wrap(fault.Malformed, err).
			WithHint("remove the file, and give the class names with --classes FILE"))
	}
	return found, nil
}

// allFolders returns the names of the class folders of all splits, this one included, each with
// whether it has images.
func (t *Table) allFolders(splits map[string]bool) map[string]bool {
	all, used := map[string]bool{}, t.list.used()
	maps.Copy(all, splits)
	for i, name := range t.list.folders {
		all[name] = all[name] || used[i]
	}
	return all
}

// labelOf parses the name of a folder as a label, a number that fits an int32.
func labelOf(name string) (int32, bool) {
	if name == "" || name[0] < '0' || name[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseInt(name, 10, 32)
	return int32(n), err == nil
}

// labelByNumber returns the label of each folder, the number that is its name. It returns nil
// unless all folders with images have such names.
func (t *Table) labelByNumber(folders map[string]bool) []int32 {
	for name, used := range folders {
		if _, ok := labelOf(name); !ok && used {
			return nil
		}
	}
	byFolder := make([]int32, len(t.list.folders))
	for i, name := range t.list.folders {
		byFolder[i], _ = labelOf(name)
	}
	return byFolder
}

// maxListed is the largest number of class folders whose labels are all listed in a warning.
const maxListed = 100

// labelByPosition returns the label of each folder, the position of its name among all names,
// sorted, and the class names. If some names are numbers, which may differ from the labels, the
// warning gives the reason.
func (t *Table) labelByPosition(folders map[string]bool) (byFolder []int32, classes []string, err error) {
	classes = slices.Sorted(maps.Keys(folders))
	if len(classes) > maxClasses {
		return nil, nil, fault.New(fault.Unsupported, "found %d class folders, expected at most %d", len(classes),
			maxClasses)
	}
	for _, name := range t.list.folders {
		position, _ := slices.BinarySearch(classes, name)
		byFolder = append(byFolder, int32(position))
	}
	var listed []string
	numbers, other := false, ""
	for i, name := range classes {
		_, number := labelOf(name)
		numbers = numbers || number
		if !number && folders[name] && other == "" {
			other = name
		}
		if listed = append(listed, fmt.Sprintf("%s has label %d", name, i)); !folders[name] {
			listed[i] += " (and no images)"
		}
	}
	reason := ""
	if numbers {
		reason = fmt.Sprintf(", because the name %s is not an integer from 0 to 2147483647", other)
	}
	if len(listed) > maxListed {
		listed = append(listed[:maxListed-1], "…", listed[len(listed)-1])
	}
	t.info.Warnings = append(t.info.Warnings,
		fmt.Sprintf("class folders are numbered in the order of their names%s: %s; "+
			"for other numbers, list the names in their order in a file: --classes FILE", reason, strings.Join(listed,
			", ")))
	return byFolder, classes, nil
}

// positions returns the label of each folder, the position of its name in classes, or in folders,
// the names of folders that stand for classes. Folders without images need no label.
func (t *Table) positions(folders, classes []string) ([]int32, error) {
	byName := map[string]int32{}
	// a class name takes precedence over the folder name of another class
	for _, names := range [][]string{folders, classes} {
		for label, name := range names {
			byName[norm.NFC.String(name)] = int32(label)
		}
	}
	delete(byName, "")
	byFolder, used := make([]int32, len(t.list.folders)), t.list.used()
	for i, name := range t.list.folders {
		label, ok := byName[norm.NFC.String(name)] // HFS+ has other forms of names
		if !ok && used[i] {
			return nil, fault.New(fault.Malformed,
				"found the class folder %s, expected the name of one of the %d classes",
				name, len(classes)).
				WithHint("name the class folders after the classes, or give their names with --classes FILE")
		}
		byFolder[i] = label
	}
	return byFolder, nil
}
