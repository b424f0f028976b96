package formats

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/idxport/idxport/source"
)

// Find returns the tables of the file or folder at path, in the order of their names. There is none, and no error, if it is not of a known format, as
// IDX files and folders of them. The error wraps ErrUnknown where a folder holds tables that cannot be told apart.
func Find(path string) ([]Table, error) {
	if path == source.Stdin {
		return nil, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, source.ErrorIn(path, err)
	}
	if info.IsDir() {
		return folder(path, true)
	}
	f, ok, err := file(path)
	if err != nil || !ok {
		return nil, err
	}
	return []Table{{Format: f, Name: stem(path), Paths: []string{path}, path: path}}, nil
}

// As is the table of format name ("parquet", …) that lies at path, whatever that is called; prefix is what the files of a folder begin with that holds several
// tables. Messages call it label. ok is false for a format that cannot be read.
func As(name, path, prefix, label string) (t Table, ok bool, err error) {
	all := append(formats(), pngFormat())
	i := slices.IndexFunc(all, func(f Format) bool { return f.Name == alias(name) })
	if i < 0 {
		return Table{}, false, nil
	}
	t = Table{Format: all[i], Name: stem(label), Paths: []string{path}, path: label}
	info, err := os.Stat(path)
	if err != nil {
		return t, true, source.ErrorIn(label, err)
	}
	if !info.IsDir() || t.Format.Name == "png" {
		return t, true, nil
	}
	l, err := list(path)
	t.Paths = nil
	for _, file := range l.files {
		if strings.HasPrefix(file, prefix) {
			t.Paths = append(t.Paths, filepath.Join(path, file))
		}
	}
	return t, true, err
}

// alias is the format that reads what the output format name writes.
func alias(name string) string {
	switch name {
	case "arrows":
		return "arrow"
	case "tsv":
		return "csv"
	}
	return name
}

// Patterns of names.
var (
	partName  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^part-\d{5,}\b`) })
	shardName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.+)-\d{5}-of-\d{5}\.`) })
	idxName   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(^|[-.])idx(\d|$|\.)`) })
)

// listing is what a folder holds, without what is hidden and the marks of publishers.
type listing struct {
	files, folders []string // names
	images         bool     // there are PNG files
	idx            bool     // there are IDX files
}

func list(dir string) (l listing, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return l, source.ErrorIn(dir, err)
	}
	for _, entry := range entries {
		name := entry.Name()
		switch lower := strings.ToLower(name); {
		case name[0] == '.' || name[0] == '_':
		case entry.IsDir():
			l.folders = append(l.folders, name)
		case idxName().MatchString(name):
			l.idx = true
		case strings.HasSuffix(lower, ".png"):
			l.images = true
		default:
			l.files = append(l.files, name)
		}
	}
	return l, nil
}

// folder finds the tables in dir; deep looks into its folders too.
func folder(dir string, deep bool) ([]Table, error) {
	l, err := list(dir)
	if err != nil || l.idx {
		return nil, err
	}
	if l.images {
		return []Table{{Format: pngFormat(), Name: filepath.Base(dir), Paths: []string{dir}, path: dir}}, nil
	}
	tables, err := inFiles(dir, l.files)
	if err != nil || tables != nil {
		return tables, err
	}
	for _, name := range l.folders {
		inner, err := list(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if inner.images { // class folders
			return []Table{{Format: pngFormat(), Name: filepath.Base(dir), Paths: []string{dir}, path: dir}}, nil
		}
	}
	if !deep {
		return nil, nil
	}
	for _, name := range l.folders {
		path := filepath.Join(dir, name)
		found, err := folder(path, false)
		if err != nil {
			return nil, err
		}
		if len(found) == 1 && name != "data" { // the Hub's, whose shards have names of their own
			found[0].Name = strings.TrimPrefix(stem(path), "split=")
		}
		tables = append(tables, found...)
	}
	return tables, nil
}

// inFiles finds the tables among the files of dir.
func inFiles(dir string, names []string) ([]Table, error) {
	var tables []Table
	for _, name := range names {
		path := filepath.Join(dir, name)
		f, ok := named(path)
		if !ok {
			continue
		}
		table := Table{Format: f, Name: stem(path), Paths: []string{path}, path: path}
		switch shard := shardName().FindStringSubmatch(name); {
		case partName().MatchString(name):
			table.Name, table.path = stem(dir), dir
		case shard != nil:
			table.Name, table.path = shard[1], filepath.Join(dir, shard[1]+"-*")
		}
		last := len(tables) - 1
		if last >= 0 && table.path != path && tables[last].path == table.path { // in the order of their numbers
			tables[last].Paths = append(tables[last].Paths, path)
			continue
		}
		if i := slices.IndexFunc(tables, func(t Table) bool { return t.Name == table.Name }); i >= 0 && !f.OneColumn {
			return nil, source.ErrorIn(dir, &Error{
				Message: fmt.Sprintf("found %s in two formats, %s and %s", table.Name, tables[i].Format.Name, f.Name),
				Advice:  "give one of the files: " + path,
			})
		}
		tables = append(tables, table)
	}
	return tables, nil
}
