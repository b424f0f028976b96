package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A candidate is a file in a folder that seems to be IDX.
type candidate struct {
	path   string
	name   Name
	column string // the name of the column, if it is an additional one in a table of images or labels
}

func (c candidate) base() string { return filepath.Base(c.path) }

func (c candidate) file(h idx.Header) File {
	return File{Path: c.path, Role: c.name.Role, Name: c.name.Role.String(), Header: h}
}

func (f finder) folder(dir string) ([]Split, error) {
	all, notes, err := f.scan(dir)
	if err != nil {
		return nil, err
	}
	f.findColumns(all)
	if err := f.checkApart(all); err != nil && !f.options.Damaged {
		return nil, err
	} else if all, err = f.selectSet(all); err != nil {
		return nil, err
	}
	groups := groupFiles(all, tableKey)
	names := make([]string, len(groups))
	for i, g := range groups {
		if names[i] = g[0].name.Split; names[i] == "" && len(groups) > 1 {
			names[i] = tableStem(dir, g)
		}
	}
	if err := f.checkSplits(dir, slices.Clone(names)); err != nil {
		return nil, err
	}
	splits := make([]Split, 0, len(groups)) // does not grow, so that sets can point to its elements
	sets := map[string][]*Split{}
	for i, g := range groups {
		if !f.options.wants(names[i]) {
			continue // and not examined: another split may be damaged
		}
		s, err := f.table(dir, g)
		if err != nil {
			return nil, err
		}
		splits = append(splits, s)
		set := g[0].name.setKey()
		sets[set] = append(sets[set], &splits[len(splits)-1])
	}
	splits[0].FolderNotes = notes
	for _, set := range slices.Sorted(maps.Keys(sets)) {
		named, _, _ := strings.Cut(set, "/") // empty for the set of a prefix
		if err := f.identify(sets[set], named); err != nil {
			return nil, err
		}
	}
	return splits, nil
}

// findColumns makes a file an additional column of a table of images or labels, if its name begins
// like theirs and it has as many records: train-weather-idx2-float beside train-images-idx3-ubyte.
func (f finder) findColumns(all []candidate) {
	for i, c := range all {
		if slices.ContainsFunc(all, func(o candidate) bool { return c.name.Pairs(o.name) }) {
			continue
		}
		own := &all[i]
		if own.column = c.name.ownColumn(); own.column != "" {
			own.name.Role, own.name.Prefix = Data, ""
			continue
		}
		for _, other := range all {
			column := c.name.ColumnOf(other.name)
			if column == "" || own.column != "" && len(other.name.Prefix) <= len(own.name.Prefix) {
				continue
			}
			mine, err := f.header(c.path)
			theirs, otherErr := f.header(other.path)
			if err == nil && otherErr == nil && mine.Records() == theirs.Records() {
				own.column, own.name.Role, own.name.Dataset = column, Data, other.name.Dataset
				own.name.Prefix, own.name.Split = other.name.Prefix, other.name.Split
			}
		}
	}
}

// checkApart returns an error if two files of separate tables may be columns of one: their names
// begin or end alike, or are single words, and they have as many records, of different ranks.
func (f finder) checkApart(all []candidate) error {
	begin := func(n Name) string { base, _ := n.cutLast(); return base }
	end := func(n Name) string { return lowerASCII(n.Stem[strings.IndexByte(n.Stem, '-')+1:]) } // img-val, lab-val
	isY := func(c candidate) bool { return IsCalledY(c.path) }
	others := slices.DeleteFunc(slices.Clone(all), isY)
	all = append(others, slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { return !isY(c) })...)
	for i, c := range slices.Backward(all) { // from those called y, which are labels rather than w
		for _, other := range all[:i] {
			if begin(c.name) != begin(other.name) && end(c.name) != end(other.name) || tableKey(c) == tableKey(other) ||
				max(c.name.Role, other.name.Role) != Data ||
				c.name.Split != other.name.Split && c.name.Split != "" && other.name.Split != "" {
				continue
			}
			a, _ := f.header(other.path) // without dimensions if it cannot be read
			b, _ := f.header(c.path)
			if len(a.Dims)*len(b.Dims) > 0 && a.Records() == b.Records() && len(a.Dims) != len(b.Dims) {
				return ErrApart(other.path, c.path, false, f.mayLabel)
			}
		}
	}
	return nil
}

// ErrApart returns the error for a and b, or among more files, that may be columns of one table.
func ErrApart(a, b string, more bool, mayLabel func(path string) bool) error {
	columns := map[bool]string{false: named(a, b, mayLabel), true: "NAME=FILE NAME=FILE"}[more]
	return fault.New(fault.Usage, "%s and %s may be two tables or columns of one: their names do not tell", a, b).
		WithHint("give one at a time, or name every column, such as %s", columns)
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
			advice = "it has " + strings.Join(names, ", ") + "; repeat --split for several"
		}
		return fault.New(fault.Usage, "%s has no split %q", where, asked).WithHint("%s", advice)
	}
	return nil
}

// scan lists the IDX files in dir by their names. It probes those whose names do not suffice: git
// also uses a plain ".idx", and decompressed images and labels may have lost their format.
func (f finder) scan(dir string) (found []candidate, notes []string, err error) {
	entries, err := f.options.Files.ReadDir(dir, 0)
	if err != nil {
		return nil, nil, fault.In(dir, err)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return source.IsHidden(e.Name()) }) // and locks
	var tables, others []string
	for _, e := range entries {
		c := candidate{path: source.Under(dir, e.Name()), name: ParseName(e.Name())}
		ext := filepath.Ext(lowerASCII(c.name.Stem)) // train.images is IDX, perhaps, and images.txt is not
		isIDX := c.name.Format != "" || c.name.Role != Data && (ext == "" || roleOf(ext[1:]) != Data)
		isRegular := func() bool { info, err := os.Stat(c.path); return err == nil && info.Mode().IsRegular() }
		if !isIDX || !e.Type().IsRegular() && !isRegular() {
			others = append(others, e.Name())
			if f.options.Table != nil && f.options.Table(e.Name()) {
				tables = append(tables, e.Name())
			}
			continue
		}
		if c.name.Format == "" || c.name.Format == "idx" && c.name.Role == Data {
			if _, err := f.header(c.path); errors.Is(err, idx.ErrMagic) {
				if c.name.Format != "" {
					notes = append(notes, fmt.Sprintf("skipped, not IDX: %v", err))
				}
				continue
			}
		}
		found = append(found, c)
	}
	var inside []string
	if found == nil {
		found, inside = inFolders(dir)
	}
	if found == nil {
		e := fault.New(fault.NotFound, "found no IDX files, and no others that idxport reads").In(dir).
			WithHint("finish downloads and unpack archives first; IDX files are found by names such as " +
				"train-images-idx3-ubyte.gz, others are given one by one")
		if inside != nil {
			e.Hint = "subfolders are not searched; give one that has files: " + strings.Join(inside, ", ")
		} else if slices.ContainsFunc(entries, fs.DirEntry.IsDir) {
			e.Hint = "subfolders are not searched; give the one that has files, such as MNIST/raw in the root of " +
				"torchvision, or class folders with images, such as train/train of a data set of Kaggle"
		} else if len(notes) > 0 {
			e.Msg += ": " + strings.Join(notes, ", ")
		}
		return nil, nil, e
	}
	if tables != nil {
		notes = append(notes, dir+": skipped "+strings.Join(tables, ", ")+", because the IDX files are read")
	}
	for _, name := range others {
		if err := f.checkUnread(dir, name, slices.Contains(tables, name), found); err != nil {
			return nil, nil, err
		}
	}
	return found, notes, nil
}

// inFolders returns the IDX files in folders of their own names, into which 7-Zip unpacks archives:
// train-images-idx3-ubyte/train-images.idx3-ubyte; and the folders with others, quoted.
func inFolders(dir string) (found []candidate, others []string) {
	for _, pattern := range []string{"*/*[iI][dD][xX]*", "*/*/*[iI][dD][xX]*"} {
		names, _ := fs.Glob(os.DirFS(dir), pattern) // none of object storage
		for _, name := range names {
			above, c := path.Dir(name), candidate{path: source.Under(dir, name), name: ParseName(name)}
			switch {
			case c.name.Format == "" || name[0] == '.':
			case c.base() == above || c.base() == strings.Replace(above, "-idx", ".idx", 1):
				found = append(found, c)
			default:
				others = append(others, text.Path(source.Under(dir, above)))
			}
		}
	}
	return found, slices.Compact(others)
}

// unreadName matches names of IDX files with more behind them: of archives, unfinished downloads,
// second downloads by wget (.gz.1), backups.
var unreadName = text.Pattern(`(?i)^(.*(?:\bidx[0-9]+[-.][a-z]+|\.idx[0-9]*\b)(?:\.(?:gz|zst|xz|bz2))?)[^-a-z].*$`)

// checkUnread returns an error for name in dir, which is not read, if it may be a column that none
// of found is: it is named like an IDX file, but has more extensions, such as .zip, or is a folder,
// or a link to nothing; or it is an image, or a table or labels of their prefix, and none has its
// role, or its split train or test if they have splits. Others may be outputs of --holdout.
func (f finder) checkUnread(dir, name string, isTable bool, found []candidate) error {
	base := unreadName().ReplaceAllString(name, "$1")
	stem, _, _ := strings.Cut(name, ".")
	n, bare, isImage := ParseName(base), ParseName(stem), source.ImageName().MatchString(name)
	if bare.Role == Data && IsCalledY(bare.Prefix) { // y.txt, targets.npy
		bare.Role, bare.Prefix = Label, strings.Trim(yName().ReplaceAllString(bare.Prefix, "-"), "-")
	}
	isRead := func(c candidate) bool {
		return c.name.Role == n.Role && c.name.Split == n.Split && c.name.Prefix == n.Prefix
	}
	what, advice := "files of this name are not read", "unpack it, rename it to "+text.Quote(base)+" if it is IDX"
	switch isNamed := n.Format != "" && (n.Role != Data || n.Format != "idx" && base != name); {
	case isNamed && base == name:
		what, advice = "found a folder, or a link to nothing", "put the file itself here"
	case !isNamed && (isTable || isImage || bare.Role == Label):
		what, advice = "found it beside IDX files", "put IDX files of it here, which -o idx=DIR/ makes"
		n = bare
		if isImage {
			n = Name{Role: Image, Prefix: found[0].name.Prefix}
		} else if n.Role == Label {
			labels := found[0].name.Prefix + "-" + cmp.Or(n.Split, found[0].name.Split) + "-labels.idx"
			labels = strings.TrimLeft(strings.ReplaceAll(labels, "--", "-"), "-")
			advice = fmt.Sprintf("write it as IDX: idxport convert %s -o %s", text.Path(source.Under(dir, name)),
				text.Path(source.Under(dir, labels)))
		}
		isAny := f.options.Holdout || n.Split != "train" && n.Split != "test"
		isRead = func(c candidate) bool {
			isRole := c.name.Role == n.Role || max(c.name.Role, n.Role) == Data
			return c.name.Prefix != n.Prefix || isRole && (isAny || c.name.Split == "" || c.name.Split == n.Split)
		}
	case !isNamed:
		return nil
	}
	if slices.ContainsFunc(found, isRead) || !f.options.wants(n.Split) {
		return nil
	}
	return fault.New(fault.Usage, "%s, and no other is column %q of its split", what, n.Role).
		In(source.Under(dir, name)).WithHint("%s; or move it away, or choose with --split", advice)
}

// groupFiles groups the candidates that have the same key, in the order of the keys.
func groupFiles(all []candidate, key func(candidate) string) (groups [][]candidate) {
	all = slices.SortedStableFunc(slices.Values(all), func(a, b candidate) int { return cmp.Compare(key(a), key(b)) })
	for i, c := range all {
		if i == 0 || key(all[i-1]) != key(c) {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], c)
	}
	return groups
}

// tableKey is equal for the files of a table: its split (train, test, others, none), then its set.
func tableKey(c candidate) string {
	rank := map[string]string{"train": "1", "test": "2", "": "4"}[c.name.Split]
	return cmp.Or(rank, "3") + c.name.Split + "/" + c.name.setKey()
}

// table makes the table of one split in dir, with one file for every role and additional column.
func (f finder) table(dir string, files []candidate) (Split, error) {
	s := Split{Name: files[0].name.Split, Stem: tableStem(dir, files)}
	for _, same := range groupFiles(files, func(c candidate) string { return fmt.Sprint(int(c.name.Role), c.column) }) {
		file, notes, err := f.choose(same)
		if err != nil {
			return Split{}, err
		}
		if column := same[0].column; column != "" {
			file.Name = column
			notes = append(notes, fmt.Sprintf("%s is read as the column %s", file.base(), column))
		}
		s.Files = append(s.Files, file)
		s.Notes = append(s.Notes, notes...)
	}
	missing := map[Role]string{Image: "labels", Label: "images"}[s.Files[0].Role]
	if only := s.Files[0]; len(s.Files) == 1 && missing != "" && len(only.Header.Dims) > 0 { // else it cannot be read
		s.Notes = append(s.Notes, fmt.Sprintf("no %s found for %s", missing, only.base()))
	}
	return s, f.checkSwapped(&s)
}

// tableStem returns the prefix of a table's files, or for plain data the whole name; without a
// prefix, the name of a lone file or of the folder.
func tableStem(dir string, files []candidate) string {
	first := files[0].name
	if first.Role == Data && files[0].column == "" || first.Prefix == "" && len(files) == 1 {
		return cmp.Or(first.Stem, FolderName(dir))
	}
	return cmp.Or(first.Prefix, FolderName(dir))
}

// FolderName returns the last element of dir, also for "." and "..", and "data" for the root.
func FolderName(dir string) string {
	abs, _ := filepath.Abs(dir)
	name := filepath.Base(cmp.Or(abs, dir)) // the separator, if it is the root
	return cmp.Or(strings.Trim(name, string(filepath.Separator)), "data")
}

// choose chooses one of the files with the same role in a table. They must be copies, such as a
// file that is decompressed beside its archive, as torchvision keeps both, or downloaded twice. It
// ignores those that are damaged, such as interrupted downloads.
func (f finder) choose(files []candidate) (chosen File, notes []string, err error) {
	isExtended := func(c candidate) bool { return c.name.Dataset == "qmnist" && c.name.Format == "idx2-int" }
	if less := slices.DeleteFunc(slices.Clone(files), isExtended); len(less) > 0 && len(less) < len(files) {
		files = slices.DeleteFunc(files, func(c candidate) bool { return !isExtended(c) })
		notes = []string{fmt.Sprintf("skipped %s: %s has the same labels and more", baseNames(less), files[0].base())}
	}
	var sum string            // of the chosen file
	for _, c := range files { // sorted by name
		h, unread := f.header(c.path)
		own := ""
		if unread == nil && len(files) > 1 {
			own, unread = f.SHA256(c.path, h.Records())
		}
		switch {
		case unread != nil:
			err, notes = cmp.Or(err, unread), append(notes, fmt.Sprintf("skipped: %v", unread))
		case chosen.Path == "":
			chosen, sum = c.file(h), own
		case own != sum || !sameHeader(h, chosen.Header):
			return File{}, nil, fault.New(fault.Usage, "this file (%s) and %s (%s) differ, expected one file for the "+
				"column %q, or copies", chosen.Header, c.base(), h, c.name.Role).In(chosen.Path).WithHint(
				"move away the one that is out of date, or give the files to use instead of the folder")
		}
	}
	if chosen.Path != "" {
		return chosen, notes, nil
	} else if f.options.Damaged { // the next reader reports what is wrong
		return files[0].file(idx.Header{}), nil, nil
	}
	return File{}, nil, err
}
