package schema

import (
	"strconv"
	"strings"
)

// maxFolderName is how many bytes of a class name are kept. With "-" and a label, a folder name has
// less than 100 bytes.
const maxFolderName = 80

// FolderNames returns a folder name for each class, by label. The names differ from each other even
// if case is ignored, and are legal on every operating system. The name is empty where the label
// has no class.
func FolderNames(classes []string) []string {
	folders := make([]string, len(classes))
	numbered := make([]bool, len(classes))
	for label, class := range classes {
		folders[label] = cleanName(class)
		if class != "" && (folders[label] == "" || isDevice(folders[label])) {
			number(folders, numbered, label)
		}
	}
	// A name with its label appended may equal another class's name, which then gets its label too.
	// Two names with labels cannot be equal.
	for again := true; again; {
		again = false
		for _, same := range duplicates(folders) {
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

// number appends the label to its folder name.
func number(folders []string, numbered []bool, label int) {
	if folders[label] == "" {
		folders[label] = "class"
	}
	folders[label] += "-" + strconv.Itoa(label)
	numbered[label] = true
}

// duplicates returns the labels of each name, in lower case, that occurs more than once.
func duplicates(folders []string) map[string][]int {
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

// cleanName puts an underscore in place of each run of characters that some system or reader
// refuses. Then it trims underscores and hyphens, and shortens the result. It may be empty, or the
// name of a device.
func cleanName(name string) string {
	parts := strings.FieldsFunc(name, func(r rune) bool { return !allowed(r) })
	name = strings.TrimLeft(strings.Join(parts, "_"), "_-")
	return strings.TrimRight(name[:min(len(name), maxFolderName)], "_-")
}

func allowed(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

// isDevice reports whether name, which has no dot, is a device on Windows. See
// https://learn.microsoft.com/windows/win32/fileio/naming-a-file
func isDevice(name string) bool {
	switch name = strings.ToLower(name); name {
	case "con", "prn", "aux", "nul":
		return true
	}
	port := strings.HasPrefix(name, "com") || strings.HasPrefix(name, "lpt")
	return port && len(name) == 4 && name[3] >= '0' && name[3] <= '9'
}
