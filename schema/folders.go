package schema

import (
	"strconv"
	"strings"
)

// maxFolderName is the most bytes of a class's name that stay; with "-" and a label, a folder's name has less than 100.
const maxFolderName = 80

// FolderNames are the names of folders for classes, by label: different without regard to case, and legal on every system. A name is empty where
// the label has no class.
func FolderNames(classes []string) []string {
	folders := make([]string, len(classes))
	numbered := make([]bool, len(classes))
	for label, class := range classes {
		folders[label] = cleanName(class)
		if class != "" && (folders[label] == "" || isDevice(folders[label])) {
			number(folders, numbered, label)
		}
	}
	// A name with its label may meet another class's whole name: that one gets its label too. Two names with labels cannot meet.
	for again := true; again; {
		again = false
		for _, same := range homonyms(folders) {
			for _, label := range same {
				if !numbered[label] {
					number(folders, numbered, label)
					again = true
				}
			}
		}
	}
	return folders
}

// number appends the label to the name of its folder.
func number(folders []string, numbered []bool, label int) {
	if folders[label] == "" {
		folders[label] = "class"
	}
	folders[label] += "-" + strconv.Itoa(label)
	numbered[label] = true
}

// homonyms lists the labels of equal names, without regard to case, where there are several.
func homonyms(folders []string) map[string][]int {
	same := map[string][]int{}
	for label, name := range folders {
		if name != "" {
			same[strings.ToLower(name)] = append(same[strings.ToLower(name)], label)
		}
	}
	for name, labels := range same {
		if len(labels) == 1 {
			delete(same, name)
		}
	}
	return same
}

// cleanName keeps of a name what every system and reader takes, which may be nothing.
func cleanName(name string) string {
	parts := strings.FieldsFunc(name, func(r rune) bool { return !allowed(r) })
	name = strings.TrimLeft(strings.Join(parts, "_"), "_-")
	return strings.TrimRight(name[:min(len(name), maxFolderName)], "_-")
}

func allowed(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

// isDevice reports whether Windows takes a name, which has no dot, for a device.
// See https://learn.microsoft.com/windows/win32/fileio/naming-a-file
func isDevice(name string) bool {
	switch name = strings.ToLower(name); name {
	case "con", "prn", "aux", "nul":
		return true
	}
	port := strings.HasPrefix(name, "com") || strings.HasPrefix(name, "lpt")
	return port && len(name) == 4 && name[3] >= '0' && name[3] <= '9'
}
