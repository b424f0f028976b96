package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A candidate is a file in a folder that seems to be IDX.
type candidate struct {
	path   string
	name   Name
	column string // the name of the column, if it is an additional one in a table of images or labels
	// unequal is why it is no such column, if only the number of records differs, or empty.
	unequal string
}

func (c candidate) base() string { return filepath.Base(c.path) }

// uncompressedName returns the base name without the extension of the compression. Files with equal
// uncompressed names are twins.
func (c candidate) uncompressedName() string {
	base := c.base()
	if c.name.Compression != "" {
		base = base[:len(base)-len(".")-len(c.name.Compression)]
	}
	return base
}

// A fileGroup has the candidates of one table: those with the same set and split.
type fileGroup struct {
	set, split string
	files      []candidate
}

// folder makes the tables of the folder dir.
func (f finder) folder(dir string) ([]Split, error) {
	all, notes, err := f.scan(dir)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, f.noFiles(dir, notes)
	}
	f.findColumns(all)
	if all, err = f.selectSet(dir, all); err != nil {
		return nil, err
	}
	groups := groupFiles(all)
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = g.split
	}
	if err := f.checkSplits(dir, names); err != nil {
		return nil, err
	}
	var splits []Split
	sets := map[string][]int{} // the splits of each data set
	for _, g := range groups {
		if !f.wanted(g.split) {
			continue // and not examined: another split may be damaged
		}
		s, err := f.table(dir, g)
		if err != nil {
			return nil, err
		}
		sets[g.set] = append(sets[g.set], len(splits))
		splits = append(splits, s)
	}
	splits[0].FolderNotes = append(notes, noteUnpaired(splits)...)
	for _, set := range slices.Sorted(maps.Keys(sets)) {
		var together []*Split
		for _, i := range sets[set] {
			together = append(together, &splits[i])
		}
		if strings.HasPrefix(set, "/") {
			set = "" // that of a prefix
		}
		if err := f.identify(together, set); err != nil {
			return nil, err
		}
	}
	return splits, nil
}

// noteUnpaired returns a note if the splits are files whose names do not say what they are, but
// which may be images with labels, as they have the same number of records.
func noteUnpaired(splits []Split) []string {
	var images, labels string
	for _, s := range splits {
		f := s.Files[0]
		if len(s.Files) > 1 || f.Role != Data || len(f.Header.Dims) == 0 || f.Header.Dims[0] != splits[0].Files[0].Header.Dims[0] {
			return nil
		}
		if len(f.Header.Dims) > 1 {
			images = f.Path
		} else {
			labels = f.Path
		}
	}
	if images == "" || labels == "" {
		return nil
	}
	return []string{fmt.Sprintf("%s and %s are separate tables, as their names do not pair them; for one table, give image=%s label=%s", images, labels, shell.Path(images), shell.Path(labels))}
}

// findColumns makes a file an additional column of a table of images or labels, if its name begins
// like theirs and it has as many records: train-weather-idx2-float beside train-images-idx3-ubyte.
func (f finder) findColumns(all []candidate) {
	for i, c := range all {
		var owner Name
		column := ""
		for _, other := range all {
			name := c.name.columnOf(other.name)
			if name == "" || column != "" && len(other.name.Prefix) <= len(owner.Prefix) {
				continue
			}
			mine, _ := f.header(c.path) // a file that cannot be read has no dimensions
			theirs, _ := f.header(other.path)
			if known := len(mine.Dims) > 0 && len(theirs.Dims) > 0; known && mine.Records() == theirs.Records() {
				owner, column = other.name, name
			} else if known {
				all[i].unequal = fmt.Sprintf("%s has %s and %s has %d, so they are not columns of one table",
					c.base(), display.Count(mine.Records(), "record"), other.base(), theirs.Records())
			}
		}
		if column != "" {
			all[i].column, all[i].name.Dataset, all[i].name.Prefix, all[i].name.Split = column, owner.Dataset, owner.Prefix, owner.Split
		}
	}
}

// checkSplits requires every requested split to exist.
func (f finder) checkSplits(where string, names []string) error {
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
	for _, asked := range f.options.Split {
		if slices.ContainsFunc(names, func(name string) bool { return isSplit(asked, name) }) {
			continue
		}
		advice := "the file names have no split: leave out --split"
		if len(names) > 0 {
			advice = "it has " + strings.Join(names, ", ")
		}
		if strings.Contains(asked, ",") {
			advice = "repeat it:"
			for _, name := range strings.Split(asked, ",") {
				advice += " --split " + shell.Quote(strings.TrimSpace(name))
			}
		}
		return fault.New(fault.Usage, "%s has no split %q", where, asked).WithHint("%s", advice)
	}
	return nil
}

// scan lists the IDX files in dir by their names. It probes those whose names do not suffice: git
// and subtitles also use a plain ".idx", and decompressed images and labels may have lost the
// ending that says they are IDX. Everything else is ignored: folders, hidden files, other formats.
func (f finder) scan(dir string) (found []candidate, notes []string, err error) {
	entries, err := f.options.Files.ReadDir(dir, 0)
	if err != nil {
		return nil, nil, fault.In(dir, err)
	}
	var tables []string
	for _, e := range entries {
		c := candidate{path: source.Under(dir, e.Name()), name: ParseName(e.Name())}
		if hidden(e.Name()) || !maybeIDX(c.name) || !regular(c.path, e) {
			if !hidden(e.Name()) && f.options.Table(e.Name()) {
				tables = append(tables, e.Name())
			}
			continue
		}
		if c.name.Format == "idx" && c.name.Role == Data {
			if _, err := f.Header(c.path); errors.Is(err, idx.ErrMagic) {
				notes = append(notes, fmt.Sprintf("skipped, not IDX: %v", fault.In(c.path, err)))
				continue
			}
		}
		if c.name.Format == "" {
			if _, err := f.Header(c.path); err != nil {
				continue
			}
		}
		found = append(found, c)
	}
	if tables != nil && found != nil {
		notes = append(notes, fmt.Sprintf("%s: skipped %s, because the IDX files are read", dir, strings.Join(tables, ", ")))
	}
	return found, notes, nil
}

// maybeIDX reports whether n may be the name of an IDX file, perhaps one that has lost its format.
func maybeIDX(n Name) bool {
	return n.Format != "" || n.Role != Data && !strings.Contains(n.Stem, ".")
}

// hidden reports whether an entry of a folder is not data, such as a lock or the rest of an
// interrupted run.
func hidden(name string) bool { return strings.HasPrefix(name, ".") }

func regular(path string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.Type().IsRegular()
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Limits of the search for folders with IDX files, which a hint names.
const (
	hintDepth   = 2 // torchvision's root has MNIST/raw
	hintFolders = 5
	hintEntries = 1 << 10 // of each folder
)

// noFiles returns the error for a folder without IDX files. Its hint names inner folders that have
// some.
func (f finder) noFiles(dir string, notes []string) error {
	e := fault.New(fault.NotFound, "found no IDX files, and no others that idxport reads").In(dir).
		WithHint("unpack archives first; IDX files are found by names such as train-images-idx3-ubyte.gz, others are given one by one")
	if folders := f.foldersWithFiles(dir, hintDepth); len(folders) > 1 {
		e.Hint = "subfolders are not searched; these have files: " + strings.Join(folders, ", ")
	} else if len(folders) > 0 {
		e.Hint = "subfolders are not searched; give the one that has files: " + folders[0]
	} else if len(notes) > 0 {
		e.Msg += ": " + strings.Join(notes, ", ")
	}
	return e
}

// foldersWithFiles lists up to hintFolders folders below dir that have tables or files with a
// published name.
func (f finder) foldersWithFiles(dir string, depth int) (found []string) {
	entries, _ := f.options.Files.ReadDir(dir, hintEntries) // folders that cannot be read are not named
	isData := func(e fs.DirEntry) bool {
		return !e.IsDir() && !hidden(e.Name()) && (ParseName(e.Name()).Format != "" || f.options.Table(e.Name()))
	}
	if depth < hintDepth && slices.ContainsFunc(entries, isData) {
		found = append(found, shell.Path(dir))
	}
	for _, e := range entries {
		if e.IsDir() && !hidden(e.Name()) && depth > 0 && len(found) < hintFolders {
			found = append(found, f.foldersWithFiles(source.Under(dir, e.Name()), depth-1)...)
		}
	}
	return found[:min(len(found), hintFolders)]
}

// groupFiles groups candidates into tables, in the order in which Find returns the tables.
func groupFiles(all []candidate) []fileGroup {
	var groups []fileGroup
	for _, c := range all {
		set, split := c.name.setKey(), c.name.Split
		i := slices.IndexFunc(groups, func(g fileGroup) bool { return g.set == set && g.split == split })
		if i < 0 {
			i, groups = len(groups), append(groups, fileGroup{set: set, split: split})
		}
		groups[i].files = append(groups[i].files, c)
	}
	slices.SortStableFunc(groups, func(a, b fileGroup) int {
		return cmp.Or(cmp.Compare(splitRank(a.split), splitRank(b.split)), cmp.Compare(a.split, b.split), cmp.Compare(a.set, b.set))
	})
	return groups
}

// splitRank orders splits: train, test, other names, no name.
func splitRank(name string) int {
	switch name {
	case "train":
		return 0
	case "test":
		return 1
	case "":
		return 3
	}
	return 2
}

// table makes the table of one split in dir, with one file for every role and additional column.
func (f finder) table(dir string, g fileGroup) (Split, error) {
	s := Split{Name: g.split, Stem: tableStem(dir, g)}
	rank := func(c candidate) string { return fmt.Sprint(int(c.name.Role), c.column) }
	slices.SortStableFunc(g.files, func(a, b candidate) int { return cmp.Compare(rank(a), rank(b)) })
	for len(g.files) > 0 {
		n := 1
		for n < len(g.files) && rank(g.files[n]) == rank(g.files[0]) {
			n++
		}
		file, notes, err := f.choose(g.files[:n])
		if err != nil {
			return Split{}, err
		}
		if column := g.files[0].column; column != "" {
			file.Name = column
			notes = append(notes, fmt.Sprintf("%s is read as the column %s", file.base(), column))
		}
		g.files = g.files[n:]
		s.Files = append(s.Files, file)
		s.Notes = append(s.Notes, notes...)
	}
	switch only := s.Files[0]; {
	case len(s.Files) > 1 || len(only.Header.Dims) == 0: // if the only file cannot be read, that is reported instead
	case only.Role == Image:
		s.Lacks, s.Notes = "labels", append(s.Notes, "no labels found for "+only.base())
	case only.Role == Label:
		s.Lacks, s.Notes = "images", append(s.Notes, "no images found for "+only.base())
	}
	return s, f.check(&s)
}

// tableStem returns the prefix of a table's files, or for plain data the whole name; without a
// prefix, the name of a lone file or of the folder.
func tableStem(dir string, g fileGroup) string {
	first := g.files[0].name
	switch {
	case first.Role == Data && first.Stem != "" && g.files[0].column == "":
		return first.Stem
	case first.Prefix != "":
		return first.Prefix
	case len(g.files) == 1 && first.Stem != "":
		return first.Stem
	}
	return folderName(dir)
}

// choose chooses one of the files with the same role in a table.
func (f finder) choose(files []candidate) (File, []string, error) {
	files, notes := preferExtended(files)
	for _, c := range files[1:] {
		if c.uncompressedName() != files[0].uncompressedName() {
			return File{}, nil, fault.New(fault.Usage,
				"found %d files for the column %q, expected one: this file and %s",
				len(files), c.name.Role, baseNames(files[1:])).In(files[0].path).
				WithHint("give the files to use instead of the folder, or move the other files away")
		}
	}
	file, more, err := f.chooseTwin(files)
	return file, append(notes, more...), err
}

// preferExtended drops QMNIST's plain labels if the extended ones, which include them, exist too.
func preferExtended(files []candidate) ([]candidate, []string) {
	var extended, plain []candidate
	for _, c := range files {
		if c.name.Dataset == "qmnist" && c.name.Role == Label && c.name.Format == "idx2-int" {
			extended = append(extended, c)
		} else {
			plain = append(plain, c)
		}
	}
	if extended == nil || plain == nil {
		return files, nil
	}
	return extended, []string{fmt.Sprintf("skipped %s: %s has the same labels and more", baseNames(plain), extended[0].base())}
}

// chooseTwin chooses one of the files whose names differ only in the compression: the uncompressed
// one, as torchvision keeps both. Twins that are not IDX are ignored, because an interrupted
// download may lie beside the good file.
func (f finder) chooseTwin(files []candidate) (File, []string, error) {
	slices.SortStableFunc(files, func(a, b candidate) int { return cmp.Compare(f.cost(a), f.cost(b)) })
	var good []candidate
	var headers []idx.Header
	var notes []string
	var firstErr error
	for _, c := range files {
		h, err := f.header(c.path)
		if err != nil {
			firstErr = cmp.Or(firstErr, err)
			notes = append(notes, fmt.Sprintf("skipped: %v", err))
			continue
		}
		good, headers = append(good, c), append(headers, h)
	}
	if len(good) == 0 && f.options.Damaged {
		good, headers, notes = files[:1], []idx.Header{{}}, nil // the next reader reports what is wrong
	}
	if len(good) == 0 {
		return File{}, nil, firstErr
	}
	for i := range good {
		if !sameHeader(headers[i], headers[0]) {
			return File{}, nil, fault.New(fault.Usage, "this file is %s, but its compressed copy %s is %s, expected the same data in both",
				headers[0], good[i].base(), headers[i]).In(good[0].path).
				WithHint("remove the one that is out of date, or give the files to use instead of the folder")
		}
	}
	if len(good) > 1 {
		notes = append(notes, fmt.Sprintf("%s is read, and not %s, with the same header (the data was not compared)",
			good[0].base(), strings.ReplaceAll(baseNames(good[1:]), ", ", " or ")))
	}
	first := good[0]
	return File{Path: first.path, Role: first.name.Role, Name: first.name.Role.String(), Header: headers[0]}, notes, nil
}

// cost orders twins by the work to read them: uncompressed files, by content and then by name, come
// first.
func (f finder) cost(c candidate) int {
	cost := 1 + slices.Index(compressions[:], c.name.Compression)
	if f.Compressed(c.path) {
		cost += 1 + len(compressions)
	}
	return cost
}
