package formats

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
)

// numberTogether makes one data set of the class folders of tables, which are splits: a class has one number in all of them.
func numberTogether(files source.Files, tables []Table) error {
	classes := map[string]bool{}
	for i, t := range tables {
		if t.Format.Name != "png" {
			continue
		}
		tables[i].folders = classes
		entries, err := files.ReadDir(t.path, 0)
		if err != nil {
			return fault.In(t.path, err)
		}
		for _, entry := range entries {
			if name := entry.Name(); name[0] != '.' && name != "__MACOSX" && isFolder(t.path, entry) { // as package png does
				inner, err := list(files, source.Under(t.path, name), glance)
				if err != nil {
					return err
				}
				classes[name] = classes[name] || inner.image != ""
			}
		}
	}
	return nil
}

// splitNames are folders that hold a split, as Hugging Face tells them.
var splitNames = []string{"train", "test", "val", "valid", "validation"}

// glance is how many entries of a folder are looked at to see whether it holds images: there may be a million.
const glance = 1 << 10

// hasClassFolders tells whether there are PNG files in folders of dir, unless all of these are called as splits: then each is a table. photos tells that
// there are images of other formats.
func hasClassFolders(files source.Files, dir string, folders []string) (images, photos bool, err error) {
	image, table := "", ""
	for _, name := range folders {
		inner, err := list(files, source.Under(dir, name), glance)
		if err != nil {
			return false, false, err
		}
		photos = photos || inner.photo != ""
		if inner.image != "" {
			image = filepath.Join(name, inner.image)
			images = images || !slices.Contains(splitNames, strings.ToLower(name))
			continue
		}
		for _, file := range inner.files {
			if _, ok := named(file); ok && file != metadataName {
				table = filepath.Join(name, file)
			}
		}
	}
	if images && table != "" {
		return false, false, mixed(dir, image, table)
	}
	return images, photos, nil
}
