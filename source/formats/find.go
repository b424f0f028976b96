package formats

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/picture"
)

// Find returns the tables of the file or folder at path, which it opens through files, sorted by
// name. It returns none, and no error, for other formats, such as IDX files and folders of them.
// The error is of the kind fault.Usage if the tables of a folder are ambiguous.
func Find(files source.Files, path string) ([]Table, error) {
	tables, err := find(files, path)
	for i, t := range tables {
		if t.Format.Name == "npz" && len(t.Paths) == 1 && err == nil {
			err = tables[i].findArrays(files)
		}
	}
	if err != nil {
		return nil, err
	}
	return tables, nil
}

func find(files source.Files, path string) ([]Table, error) {
	if path == source.Stdin {
		return nil, nil
	}
	info, err := files.Stat(path)
	if err != nil {
		return nil, fault.In(path, err)
	}
	if info.IsDir() {
		tables, err := folder(files, path, true)
		for i := range tables {
			tables[i].folder = path
		}
		return tables, err
	}
	f, ok, err := detect(files, path)
	if err != nil || !ok {
		return nil, err
	}
	return []Table{{Format: f, Name: stem(path), Paths: []string{path}, path: path, folder: source.Above(path)}}, nil
}

// As returns the table at path, which has the format called name ("parquet", …), whatever the
// extension of path. If path is a folder, only files whose names begin with prefix are part of the
// table. Messages call the table label. ok is false for a format that cannot be read.
func As(name, path, prefix, label string) (t Table, ok bool, err error) {
	f, ok := byName(name)
	if !ok {
		return Table{}, false, nil
	}
	t = Table{Format: f, Name: stem(label), Paths: []string{path}, path: label}
	info, err := os.Stat(path)
	if err != nil {
		return t, true, fault.In(label, err)
	}
	if !info.IsDir() || t.Format.Name == "png" {
		return t, true, nil
	}
	l, err := list(source.Local{}, path, 0)
	t.Paths = nil
	for _, file := range l.files {
		if strings.HasPrefix(file, prefix) {
			t.Paths = append(t.Paths, filepath.Join(path, file))
		}
	}
	slices.SortStableFunc(t.Paths, source.CompareNames)
	return t, true, err
}

// metadataStem is the name, without its extension, of the table beside images or class folders that
// package png reads or refuses.
const metadataStem = "metadata"

// Patterns of names. Spark and this program number parts as part-00000, pyarrow and Dask as part-0
// and part.0.
var (
	partName  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(part[-.])(\d+)\b`) })
	shardName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.+)-\d{5}-of-(\d{5})\.`) })
	ownName   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^part-\d{5,}-[0-9a-f]{16}(?:\.[a-z]+)+$`)
	})
	idxName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(^|[-.])idx(\d|$|\.)`) })
)

// A listing has the entries of a folder, except hidden files and markers such as _SUCCESS.
type listing struct {
	files, folders []string // names
	image          string   // one of the images, or empty
	log            string   // the folder of the log of a table of Delta Lake or Hudi, or empty
	idx            bool     // there are IDX files
}

// list lists dir, or up to limit of its entries if limit > 0.
func list(files source.Files, dir string, limit int) (l listing, err error) {
	entries, err := files.ReadDir(dir, limit)
	if err != nil {
		return l, fault.In(dir, err)
	}
	for _, entry := range entries {
		name := entry.Name()
		switch {
		case name == deltaLog || name == hudiLog:
			l.log = name
		case name[0] == '.' || name[0] == '_':
		case isFolder(dir, entry):
			l.folders = append(l.folders, name)
		case isImage(name): // idx0.png too
			l.image = name
		case idxName().MatchString(name):
			l.idx = true
		default:
			l.files = append(l.files, name)
		}
	}
	return l, nil
}

// isImage reports whether a file is an image, by its name.
func isImage(name string) bool {
	kind, _ := picture.KindByName(name)
	return kind != ""
}

// isFolder reports whether an entry of dir is a folder, or a link to one.
func isFolder(dir string, entry os.DirEntry) bool {
	if entry.Type()&os.ModeSymlink == 0 {
		return entry.IsDir()
	}
	info, err := os.Stat(filepath.Join(dir, entry.Name()))
	return err == nil && info.IsDir() // opening a link that leads to nothing fails later
}

// folder finds the tables in dir, and also in its folders if deep is true.
func folder(files source.Files, dir string, deep bool) ([]Table, error) {
	l, err := list(files, dir, 0)
	if err != nil || l.idx {
		return nil, err
	}
	if err := refuseLake(files, dir, l); err != nil {
		return nil, err
	}
	if err := refusePartitions(files, dir, l); err != nil {
		return nil, err
	}
	png, _ := byName("png")
	images := []Table{{Format: png, Name: filepath.Base(dir), Paths: []string{dir}, path: dir}}
	tables, err := inFiles(dir, l.files)
	// beside images or class folders, if there are any
	onlyMetadata := len(tables) == 1 && stem(tables[0].path) == metadataStem
	switch {
	case l.image != "" && (tables == nil || onlyMetadata):
		return images, nil
	case l.image != "":
		return nil, mixedError(dir, l.image, filepath.Base(tables[0].Paths[0]))
	case err != nil:
		return nil, err
	case tables != nil && !onlyMetadata:
		return tables, noteFolders(files, dir, l.folders, tables)
	}
	classes, err := hasClassFolders(files, dir, l.folders)
	if err != nil || classes {
		return images, err
	}
	if onlyMetadata || !deep {
		return tables, nil
	}
	var empty []string
	for _, name := range l.folders {
		path := source.Under(dir, name)
		found, err := folder(files, path, false)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			empty = append(empty, name)
		}
		if len(found) == 1 && name != "data" { // shards of the Hub have their own names
			found[0].Name = strings.TrimPrefix(stem(path), "split=")
		}
		tables = append(tables, found...)
	}
	if err := numberTogether(files, tables); err != nil {
		return nil, err
	}
	if tables == nil || tables[0].Format.Name == "png" {
		err = refuseDeep(files, dir, empty)
	}
	return tables, err
}

// mixedError returns the error for a folder with both images and tables, one of which would be
// silently ignored.
func mixedError(dir, image, table string) error {
	return fault.New(fault.Usage, "found images, such as %s, and tables, such as %s, expected only one of them", image,
		table).In(dir).
		WithHint("give the file of the table, or move the images or the tables away")
}

// noteFolders adds a note about folders of dir that are ignored because the files in dir are
// tables. It refuses class folders, and images in a folder that has the name of a table.
func noteFolders(files source.Files, dir string, folders []string, tables []Table) error {
	var ignored []string
	images := 0
	for _, name := range folders {
		found, err := folder(files, source.Under(dir, name), false)
		if err != nil || len(found) == 0 {
			continue // not read, whatever it holds
		}
		if ignored = append(ignored, name); found[0].Format.Name != "png" {
			continue
		}
		images++
		if images > 1 || slices.ContainsFunc(tables, func(t Table) bool { return t.Name == name }) {
			return mixedError(dir, "those in "+name, filepath.Base(tables[0].Paths[0]))
		}
	}
	if ignored != nil {
		what := "the folder"
		if len(ignored) > 1 {
			what += "s"
		}
		tables[0].notes = append(tables[0].notes,
			fmt.Sprintf("%s: skipped %s %s: only the tables directly in this folder are read, such as %s", dir, what,
				listFew(ignored), filepath.Base(tables[0].Paths[0])))
	}
	return nil
}

// listFew lists up to three names, and how many more there are.
func listFew(names []string) string {
	if n := len(names) - 3; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), n)
	}
	return strings.Join(names, ", ")
}

// inFiles finds the tables among the files of dir.
func inFiles(dir string, names []string) ([]Table, error) {
	var tables []Table
	shards := map[string]int{} // expected number of shards, by the path of the table
	for _, name := range names {
		path := source.Under(dir, name)
		f, ok := byExtension(path)
		if !ok {
			continue
		}
		table := Table{Format: f, Name: stem(path), Paths: []string{path}, path: path}
		switch shard := shardName().FindStringSubmatch(name); {
		case partName().MatchString(name):
			table.Name, table.path = stem(dir), dir
		case shard != nil:
			table.Name, table.path = shard[1], source.Under(dir, shard[1]+"-*")
			shards[table.path], _ = strconv.Atoi(shard[2]) // five digits
		}
		last := len(tables) - 1
		// another of its files
		if last >= 0 && table.path != path && tables[last].path == table.path && tables[last].Format.Name == f.Name {
			tables[last].Paths = append(tables[last].Paths, path)
			continue
		}
		if i := slices.IndexFunc(tables, func(t Table) bool { return t.Name == table.Name }); i >= 0 && !f.OneColumn {
			return nil, fault.New(fault.Usage, "found %s in two formats, %s and %s", table.Name,
				filepath.Base(tables[i].Paths[0]), name).In(dir).
				WithHint("give one of the files: %s", shell.Path(path))
		}
		tables = append(tables, table)
	}
	for i, t := range tables {
		slices.SortStableFunc(t.Paths, source.CompareNames)
		switch missing := missingParts(t.Paths); {
		case missing == "" || t.path != dir:
		case ownName().MatchString(filepath.Base(t.Paths[0])):
			return nil, fault.New(fault.Malformed, "%s, expected all parts that idxport wrote", missing).In(dir).
				WithHint("write the table again, or convert each existing file with a command of its own: "+
					"idxport convert %s -o OUT", shell.Path(t.Paths[0]))
		default:
			tables[i].notes = append(t.notes,
				fmt.Sprintf("%s: %s: some writers, such as Spark, leave out parts without rows", dir, missing))
		}
		if want := shards[t.path]; want > 0 && len(t.Paths) != want {
			return nil, fault.New(fault.Usage, "found %s of %s, such as %s, expected %d",
				display.Count(len(t.Paths), "shard"), t.Name, filepath.Base(t.Paths[0]), want).In(dir).
				WithHint("download the missing shards, or give one of the files")
		}
	}
	return tables, nil
}

// missingParts describes the missing numbers among the parts at paths; it is empty if there are
// none. Numbers begin at 0, or at 1 if none has as many digits as those of Spark: then they are
// those of --part.
func missingParts(paths []string) string {
	var missing []string
	next, count := uint64(0), uint64(0)
	for _, path := range paths {
		part := partName().FindStringSubmatch(filepath.Base(path))
		if part == nil {
			return ""
		}
		number, err := strconv.ParseUint(part[2], 10, 32)
		if err != nil {
			return "" // too large for a number of parts
		}
		if next == 0 && number == 1 && len(part[2]) < 5 {
			next = 1
		}
		for ; next < number && len(missing) < 3; next++ {
			missing, count = append(missing, fmt.Sprintf("%s%0*d", part[1], len(part[2]), next)), count+1
		}
		if next < number {
			count += number - next
		}
		next = max(next, number+1)
	}
	switch more := count - uint64(len(missing)); {
	case count == 0:
		return ""
	case more > 0:
		return fmt.Sprintf("%s and %d more are missing", strings.Join(missing, ", "), more)
	case count > 1:
		return strings.Join(missing, ", ") + " are missing"
	}
	return missing[0] + " is missing"
}

// numberTogether gives each table of class folders the class folders of all of them, because they
// are splits of one data set: a class then has the same number in all splits. It returns an error
// if only some of them record their labels.
func numberTogether(files source.Files, tables []Table) error {
	classes := map[string]bool{}
	with, without := "", "" // tables of class folders: one that records their labels, and one that does not
	for i, t := range tables {
		if t.Format.Name != "png" {
			continue
		}
		tables[i].folders = classes
		named := false
		entries, err := files.ReadDir(t.path, 0)
		if err != nil {
			return fault.In(t.path, err)
		}
		for _, entry := range entries {
			// like package png
			if name := entry.Name(); name[0] != '.' && name != "__MACOSX" && isFolder(t.path, entry) {
				inner, err := list(files, source.Under(t.path, name), maxExamined)
				if err != nil {
					return err
				}
				classes[name] = classes[name] || inner.image != ""
				named = named || inner.image != ""
			}
		}
		if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == schema.ClassesFile }) {
			with = t.path
		} else if named {
			without = t.path
		}
	}
	if with != "" && without != "" {
		return fault.New(fault.Usage, "found the labels of the class folders of %s in %s, and none for those of %s",
			with, schema.ClassesFile, without).In(without).WithHint("if they have the same classes: cp %s %s",
			shell.Path(source.Under(with, schema.ClassesFile)), shell.Path(without))
	}
	return nil
}

// splitNames are the names of folders with a split, as in Hugging Face's datasets.
var splitNames = []string{"train", "test", "val", "valid", "validation"}

// maxExamined is how many entries of a folder are examined for images: there may be a million.
const maxExamined = 1 << 10

// hasClassFolders reports whether folders of dir have images, and not all of these are named
// after splits, each of which is a table.
func hasClassFolders(files source.Files, dir string, folders []string) (images bool, err error) {
	image, table := "", ""
	for _, name := range folders {
		inner, err := list(files, source.Under(dir, name), maxExamined)
		if err != nil {
			return false, err
		}
		if inner.image != "" {
			image = filepath.Join(name, inner.image)
			images = images || !slices.Contains(splitNames, strings.ToLower(name))
			continue
		}
		for _, file := range inner.files {
			if _, ok := byExtension(file); ok && stem(file) != metadataStem {
				table = filepath.Join(name, file)
			}
		}
	}
	if images && table != "" {
		return false, mixedError(dir, image, table)
	}
	return images, nil
}
