package schema

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/idxport/idxport/internal/text"
)

// ClassesFile is the hidden file that a folder of images has if its class folders are named after
// classes: the JSON of a [ClassFolders], by which the labels are found again.
const ClassesFile = ".idxport-classes"

// NamesExtension is that of lists of class names beside IDX files, after NAME or NAME-COLUMN.
const NamesExtension = "-classes.txt"

// A ClassFolders has the names of class folders and of classes, by label.
type ClassFolders struct {
	Folders []string `json:"folders"`
	Classes []string `json:"classes"`
}

// MetadataFile is the file with the columns beside the images of a folder, as Hugging Face's
// imagefolder reads it. Its column file_name has the paths of the images within the folder.
const MetadataFile = "metadata.csv"

// FolderNames returns a folder name for each class, by label: letters, marks and digits of every
// script stay, in the normal form NFC. The names differ from each other even if case is ignored,
// and are legal on every operating system. The name is empty where the label has no class.
func FolderNames(classes []string) []string {
	folders, numbered := make([]string, len(classes)), make([]bool, len(classes))
	for label, class := range classes {
		folders[label] = CleanName(class)
	}
	// A name with its label appended may equal another class's name, which then gets its label too.
	// Two names with labels cannot be equal.
	for changed := true; changed; {
		count := map[string]int{} // of names, as file systems that ignore case compare them
		for _, name := range folders {
			count[foldName(name)]++
		}
		changed = false
		for label, name := range folders {
			isFree := name != "" && text.Storable(name) && count[foldName(name)] == 1
			if classes[label] != "" && !isFree && !numbered[label] {
				folders[label] = cmp.Or(name, "class") + "-" + strconv.Itoa(label)
				numbered[label], changed = true, true
			}
		}
	}
	return folders
}

// LabelsByName returns the labels of names of classes or folders, which each list has by label, in
// the normal form NFC. Names of later lists take precedence.
func LabelsByName(lists ...[]string) map[string]string {
	places := map[string]string{}
	for _, names := range lists {
		for i, name := range names {
			places[norm.NFC.String(name)] = strconv.Itoa(i)
		}
	}
	return places
}

// LabelsByNumber returns the labels of folders that are named after numbers, nil if some are not.
func LabelsByNumber(folders []string) map[string]string {
	places := map[string]string{}
	for _, name := range folders {
		n, err := strconv.ParseInt(name, 10, 32)
		if err != nil {
			return nil
		}
		places[name] = strconv.FormatInt(n, 10)
	}
	return places
}

// foldName returns a name that is equal for names that some file system takes for the same.
func foldName(name string) string {
	folded := strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		for other := unicode.SimpleFold(r); other > r; other = unicode.SimpleFold(other) {
			r = other
		}
		return r
	}, norm.NFKD.String(name))
	return norm.NFKD.String(strings.ReplaceAll(folded, "ẞ", "ſſ")) // the only one that full case folding makes two
}

// CleanName replaces each run of characters that some system or reader refuses by an underscore,
// trims underscores and hyphens, and shortens the rest. It may be empty, or the name of a device.
func CleanName(name string) string {
	name = norm.NFC.String(strings.ToValidUTF8(name, "_")) // bytes that are no UTF-8 would keep it from being NFC
	parts := strings.FieldsFunc(name, func(r rune) bool { return !allowed(r) })
	name = strings.TrimLeftFunc(strings.Join(parts, "_"),
		func(r rune) bool { return r == '_' || r == '-' || unicode.IsMark(r) })
	end := min(len(name), 80) // bytes: with "-" and a label, a folder name has less than 100
	for end < len(name) && !utf8.RuneStart(name[end]) {
		end--
	}
	return strings.TrimRight(name[:end], "_-")
}

func allowed(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd) || r == '_' || r == '-'
}
