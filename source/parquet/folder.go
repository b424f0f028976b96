package parquet

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/source"
)

// shardName is the name of one of several files of a split, as Hugging Face's Hub names them: train-00000-of-00002.parquet.
var shardName = regexp.MustCompile(`^(.*)-([0-9]+)-of-([0-9]+)\.parquet$`)

// splitNames are names of splits that a file may be called by: train.parquet, or the beginning of one, as in train-1.parquet.
var splitNames = []string{"train", "test", "validation", "valid", "val", "dev"}

// Files lists the Parquet files in folder that make one table, in the order of their names, numbers by value: those of one split, if names tell splits.
// split is the one that is wanted; it may be empty if there is only one. If folder has none, its folder data is looked in, as the Hub has it. Hidden files,
// and those that start with an underscore, are what writers leave beside the data.
func Files(folder, split string) ([]string, error) {
	names, err := list(folder)
	if err != nil {
		return nil, err
	}
	if inner := filepath.Join(folder, "data"); len(names) == 0 && isFolder(inner) {
		folder = inner
		if names, err = list(folder); err != nil {
			return nil, err
		}
	}
	if len(names) == 0 {
		e := unsupported("", "name the folder that has the files; folders in it are not looked into", "found no Parquet file in the folder")
		return nil, &source.FileError{Path: folder, Err: e}
	}
	splits := map[string][]string{}
	for _, name := range names {
		s := splitOf(name)
		splits[s] = append(splits[s], name)
	}
	if split == "" && len(splits) == 1 {
		split = splitOf(names[0])
	}
	chosen := splits[split]
	if chosen == nil || split == "" && len(splits) > 1 {
		var known []string
		for s := range splits {
			known = append(known, cmp.Or(s, "others"))
		}
		slices.Sort(known)
		e := &Error{Row: -1, Offset: -1, Message: fmt.Sprintf("found files of %s, expected one split", strings.Join(known, ", ")),
			Advice: "choose one with --split, or name the files", Err: ErrSplits}
		return nil, &source.FileError{Path: folder, Err: e}
	}
	if err := complete(chosen); err != nil {
		return nil, &source.FileError{Path: folder, Err: err}
	}
	slices.SortFunc(chosen, natural)
	for i := range chosen {
		chosen[i] = filepath.Join(folder, chosen[i])
	}
	return chosen, nil
}

// list is the names of the Parquet files in folder.
func list(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		if strings.HasSuffix(name, ".parquet") && name[0] != '.' && name[0] != '_' && !e.IsDir() {
			names = append(names, name)
		}
	}
	return names, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// splitOf is the split that the file name tells, or empty.
func splitOf(name string) string {
	if m := shardName.FindStringSubmatch(name); m != nil {
		if m[1] == "part" {
			return ""
		}
		return m[1]
	}
	stem := strings.TrimSuffix(name, ".parquet")
	for _, s := range splitNames {
		rest, ok := strings.CutPrefix(stem, s)
		if ok && strings.Trim(rest, "-_.0123456789") == "" {
			return s
		}
	}
	return ""
}

// complete checks that none is missing of files whose names tell how many there are.
func complete(names []string) error {
	for _, name := range names {
		m := shardName.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(m[3])
		if err != nil || n != len(names) {
			e := damaged("found %d files of %q, expected %s", len(names), cmp.Or(m[1], name), strings.TrimLeft(m[3], "0"))
			e.Advice = "fetch those that are missing, or name the files to read"
			return e
		}
	}
	return nil
}

// natural compares names, digits by the number they are: part-2 comes before part-10.
func natural(a, b string) int {
	for a != "" && b != "" {
		n, m := digits(a), digits(b)
		if n > 0 && m > 0 {
			x, y := strings.TrimLeft(a[:n], "0"), strings.TrimLeft(b[:m], "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y), cmp.Compare(n, m)); c != 0 {
				return c
			}
			a, b = a[n:], b[m:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

// digits is the number of digits that s starts with.
func digits(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}
