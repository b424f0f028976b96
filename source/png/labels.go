package png

import (
	"math"
	"slices"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// Labels say which label an image has.
type labels struct {
	given    bool
	name     string  // of the column
	byFolder []int32 // nil if labels are by file
	byFile   []int32 // by row
	dtype    idx.DType
	classes  []string // as source.Column has them
}

// maxClasses is the most classes that are named: names are held by label, and a folder called 2000000000 must not take memory for as many.
const maxClasses = 1 << 20

// findLabels decides the labels: see the package comment.
func (t *Table) findLabels(o source.ReadOptions) error {
	l := &t.list
	like := source.Column{Name: "label"} // what the labels are expected to be
	if i := (&schema.Schema{Columns: o.Like}).Label(); i >= 0 {
		like = o.Like[i]
	}
	t.labels.name = like.Name
	meta, err := t.readMetadata()
	if err != nil {
		return err
	}
	flat := len(l.folders) == 1 && l.folders[0] == ""
	switch {
	case flat && meta.texts:
		t.note("images without labels, as those of %s are not all integers", metadataName)
		return nil
	case flat && meta.labels == nil:
		t.note("images without labels, as there are no class folders")
		return nil
	case flat:
		if t.labels.byFile, err = meta.byFile(l); err != nil {
			return err
		}
		t.note("labels are those of %s", metadataName)
	case t.labelsAreNames():
		t.note("labels are the names of the class folders")
	case meta.labels != nil:
		if t.labels.byFolder, err = meta.byFolder(l); err != nil {
			return err
		}
		t.nameClasses()
		t.note("labels are those of %s, by class folder", metadataName)
	case o.Classes != nil:
		if err := t.findClasses(o.Classes); err != nil {
			return err
		}
		t.note("labels are the places of the class folders among the names of classes")
	case t.findClasses(like.Classes) == nil:
		t.note("labels are those of classes with the names of the class folders")
	default:
		t.labels.byFolder = make([]int32, len(l.folders))
		for i := range l.folders {
			t.labels.byFolder[i] = int32(i)
		}
		t.nameClasses()
		t.note("labels count the class folders, sorted by name: %s is 0", l.folders[0])
		if i := slices.Index(l.used(), false); i >= 0 {
			t.note("the class folder %s has no images, and is counted too", l.folders[i])
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

// labelsAreNames takes the names of the folders for labels, if all that have images are numbers.
func (t *Table) labelsAreNames() bool {
	all, used := make([]int32, len(t.list.folders)), t.list.used()
	for i, name := range t.list.folders {
		label, ok := labelOf(name)
		if !ok && used[i] {
			return false
		}
		all[i] = label
	}
	t.labels.byFolder = all
	return true
}

// findClasses takes for labels the places of the folders' names among those of classes, or of the folders that are called after these.
func (t *Table) findClasses(classes []string) error {
	places := map[string]int32{}
	for label, name := range schema.FolderNames(classes) {
		places[name] = int32(label)
	}
	for label, name := range classes { // they win over what another class is mapped to
		places[name] = int32(label)
	}
	delete(places, "")
	all := make([]int32, len(t.list.folders))
	for i, name := range t.list.folders {
		label, ok := places[name]
		if !ok {
			return fail("class folders are called after classes, or after their labels", "found the class folder %s, expected it to be called after one of the %d classes",
				name, len(classes))
		}
		all[i] = label
	}
	t.labels.byFolder, t.labels.classes = all, classes
	return nil
}

// nameClasses names the classes after their folders.
func (t *Table) nameClasses() {
	k := &t.labels
	if most := slices.Max(k.byFolder); slices.Min(k.byFolder) < 0 || most >= maxClasses {
		return
	} else {
		k.classes = make([]string, most+1)
	}
	for i, label := range k.byFolder {
		if k.classes[label] != "" { // two folders of one label: which name it has is not known
			k.classes = nil
			return
		}
		k.classes[label] = t.list.folders[i]
	}
}

// of is the label of the image in row.
func (k *labels) of(row int64, f file) int32 {
	if k.byFolder != nil {
		return k.byFolder[f.folder]
	}
	return k.byFile[row]
}
