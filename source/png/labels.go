package png

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// labels has the labels of the images, by class folder or by row.
type labels struct {
	given    bool    // whether there are labels
	name     string  // of the column of labels
	byFolder []int32 // by index of the folder; nil if each file has its own label
	byFile   []int32 // by row; nil if byFolder is used
	dtype    idx.DType
	classes  []string // by label, see source.Column
}

// maxClasses is the largest number of named classes. Names are in a slice indexed by label, and a
// folder named 2000000000 must not allocate that many.
const maxClasses = 1 << 20

// findLabels decides the labels: see the package comment.
func (t *Table) findLabels(o source.ReadOptions) error {
	l := &t.list
	like := source.Column{Name: "label"} // the expected labels
	if i := (&schema.Schema{Columns: o.Like}).Label(); i >= 0 {
		like = o.Like[i]
	}
	t.labels.name = like.Name
	meta, err := t.readMetadata()
	if err != nil {
		return err
	}
	flat := len(l.folders) == 1 && l.folders[0] == ""
	folders := t.allFolders(o.Folders)
	switch {
	case flat && meta.notIntegers:
		t.note("images without labels, because those of %s are not all integers", metadataName)
		return nil
	case flat && meta.lines == nil:
		t.note("images without labels, because there are no class folders")
		return nil
	case flat:
		if t.labels.byFile, err = meta.byFile(l); err != nil {
			return err
		}
		t.note("labels are those of %s", metadataName)
	case t.labelByNumber(folders):
		t.note("labels are the names of the class folders")
	case meta.lines != nil:
		if t.labels.byFolder, err = meta.byFolder(l); err != nil {
			return err
		}
		t.nameClasses()
		t.note("the label of each class folder is the one that %s gives its files", metadataName)
	case o.Classes != nil:
		if err := t.labelByClass(o.Classes); err != nil {
			return err
		}
		t.note("each label is the position of its folder's name in the class names")
	case t.labelByClass(like.Classes) == nil:
		t.note("each label is the position of its folder's name in the class names of the inputs")
	default:
		t.labelByPosition(folders)
		if i := slices.Index(l.used(), false); i >= 0 {
			t.note("the class folder %s has no images, but is numbered too", l.folders[i])
		}
	}
	t.labels.given = true
	if meta.classes != nil {
		t.labels.classes = meta.names()
	}
	t.labels.dtype = idx.Uint8
	if all := append(slices.Clone(t.labels.byFolder), t.labels.byFile...); slices.Max(all) > math.MaxUint8 || slices.Min(all) < 0 {
		t.labels.dtype = idx.Int32
	}
	return nil
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

// labelByNumber labels each folder with the number that is its name, if all folders with images
// have such names. It reports whether they have.
func (t *Table) labelByNumber(folders map[string]bool) bool {
	for name, used := range folders {
		if _, ok := labelOf(name); !ok && used {
			return false
		}
	}
	t.labels.byFolder = make([]int32, len(t.list.folders))
	for i, name := range t.list.folders {
		t.labels.byFolder[i], _ = labelOf(name)
	}
	return true
}

// maxListed is the largest number of class folders whose labels are all listed in a note.
const maxListed = 10

// labelByPosition labels each folder with the position of its name among all names, sorted. If some
// names are numbers, which may differ from the labels, the note gives the reason.
func (t *Table) labelByPosition(folders map[string]bool) {
	names := slices.Sorted(maps.Keys(folders))
	t.labels.byFolder = make([]int32, len(t.list.folders))
	for i, name := range t.list.folders {
		position, _ := slices.BinarySearch(names, name)
		t.labels.byFolder[i] = int32(position)
	}
	if len(names) <= maxClasses {
		t.labels.classes = names
	}
	var listed []string
	numbers, reason := false, ""
	for i, name := range names {
		_, number := labelOf(name)
		numbers = numbers || number
		if !number && folders[name] && reason == "" {
			reason = ", because the name " + name + " is not an integer from 0 to 2147483647"
		}
		if len(names) <= maxListed || i == 0 || i == len(names)-1 {
			listed = append(listed, fmt.Sprintf("%s has label %d", name, i))
		} else if i == 1 {
			listed = append(listed, "…")
		}
	}
	if !numbers {
		reason = ""
	}
	t.note("class folders are numbered in the order of their names%s: %s", reason, strings.Join(listed, ", "))
}

// labelByClass labels each folder with the position of its name in classes, or in the folder names
// that sink/png derives from classes.
func (t *Table) labelByClass(classes []string) error {
	byName := map[string]int32{}
	for label, name := range schema.FolderNames(classes) {
		byName[name] = int32(label)
	}
	for label, name := range classes { // set last: a class name takes precedence over the folder name of another class
		byName[name] = int32(label)
	}
	delete(byName, "")
	all := make([]int32, len(t.list.folders))
	for i, name := range t.list.folders {
		label, ok := byName[name]
		if !ok {
			return fault.New(fault.Malformed, "found the class folder %s, expected the name of one of the %d classes",
				name, len(classes)).WithHint("name the class folders after the classes, or after their labels")
		}
		all[i] = label
	}
	t.labels.byFolder, t.labels.classes = all, classes
	return nil
}

// nameClasses names the classes after their folders.
func (t *Table) nameClasses() {
	k := &t.labels
	if largest := slices.Max(k.byFolder); slices.Min(k.byFolder) < 0 || largest >= maxClasses {
		return
	} else {
		k.classes = make([]string, largest+1)
	}
	for i, label := range k.byFolder {
		if k.classes[label] != "" { // two folders have this label, so its name is unknown
			k.classes = nil
			return
		}
		k.classes[label] = t.list.folders[i]
	}
}

func (k *labels) of(row int64, f file) int32 {
	if k.byFolder != nil {
		return k.byFolder[f.folder]
	}
	return k.byFile[row]
}
