package dataset

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/idx"
)

// table makes the table of one split in dir: for every role the one file that has it.
func (f finder) table(dir string, p pairing) (Split, error) {
	s := Split{Name: p.split, Stem: tableStem(dir, p)}
	for _, role := range []Role{Image, Label, Data} {
		var files []candidate
		for _, c := range p.files {
			if c.name.Role == role {
				files = append(files, c)
			}
		}
		if len(files) == 0 {
			continue
		}
		file, notes, err := f.choose(files)
		if err != nil {
			return Split{}, err
		}
		s.Files = append(s.Files, file)
		s.Notes = append(s.Notes, notes...)
	}
	switch only := s.Files[0]; {
	case len(s.Files) > 1 || len(only.Header.Dims) == 0: // a file that cannot be read has worse to tell
	case only.Role == Image:
		s.Lacks, s.Notes = "labels", append(s.Notes, "no labels found for "+filepath.Base(only.Path))
	case only.Role == Label:
		s.Lacks, s.Notes = "images", append(s.Notes, "no images found for "+filepath.Base(only.Path))
	}
	return s, f.check(&s)
}

// tableStem is the prefix of a table's files, of plain data the whole name; where there is none, the name of a lone file or of the folder.
func tableStem(dir string, p pairing) string {
	first := p.files[0].name
	switch {
	case first.Role == Data && first.Stem != "":
		return first.Stem
	case first.Prefix != "":
		return first.Prefix
	case len(p.files) == 1 && first.Stem != "":
		return first.Stem
	}
	return folderName(dir)
}

// choose takes one of the files that have the same role in a table.
func (f finder) choose(files []candidate) (File, []string, error) {
	files, notes := preferExtended(files)
	for _, c := range files[1:] {
		if c.twin() != files[0].twin() {
			list := candidatePaths(files)
			return File{}, nil, fault.New(fault.Usage, "found %d files for the column %q, expected one: this and %s", len(files), c.name.Role, baseNames(list[1:])).In(list[0]).
				WithHint("give the files to use one by one, or move the others away")
		}
	}
	file, more, err := f.chooseTwin(files)
	return file, append(notes, more...), err
}

// preferExtended leaves out QMNIST's plain labels where the extended ones, which begin with them, are there too.
func preferExtended(files []candidate) ([]candidate, []string) {
	const extended = "idx2-int"
	isExtended := func(c candidate) bool { return c.name.Format == extended }
	if files[0].name.Dataset != "qmnist" || files[0].name.Role != Label || !slices.ContainsFunc(files, isExtended) {
		return files, nil
	}
	var kept, left []candidate
	for _, c := range files {
		if isExtended(c) {
			kept = append(kept, c)
		} else {
			left = append(left, c)
		}
	}
	if len(left) == 0 {
		return files, nil
	}
	return kept, []string{fmt.Sprintf("%s not used: %s has the same labels and more", baseNames(candidatePaths(left)), filepath.Base(kept[0].path))}
}

// chooseTwin takes one of the files whose names differ in compression alone: the plain one, as torchvision leaves both. A twin that is no
// IDX file is passed over, as an interrupted download may lie beside the good file.
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
			notes = append(notes, fmt.Sprintf("not used: %v", err))
			continue
		}
		good, headers = append(good, c), append(headers, h)
	}
	if len(good) == 0 && f.options.Damaged {
		good, headers, notes = files[:1], []idx.Header{{}}, nil // who reads it will tell
	}
	if len(good) == 0 {
		return File{}, nil, firstErr
	}
	for i := range good {
		if !sameHeader(headers[i], headers[0]) {
			return File{}, nil, fault.New(fault.Usage, "found %s, and %s in %s, expected the same data from names that differ in compression alone",
				headers[0], headers[i], filepath.Base(good[i].path)).In(good[0].path).
				WithHint("remove the one that is out of date, or give the files to use one by one")
		}
	}
	if len(good) > 1 {
		notes = append(notes, fmt.Sprintf("%s taken; %s, whose header is the same, is not used and was not compared",
			filepath.Base(good[0].path), baseNames(candidatePaths(good[1:]))))
	}
	first := good[0]
	return File{Path: first.path, Role: first.name.Role, Name: first.name.Role.String(), Header: headers[0]}, notes, nil
}

// cost orders twins by the work to read them: plain files, by content and then by name, before compressed ones.
func (f finder) cost(c candidate) int {
	cost := 1 + slices.Index(compressions[:], c.name.Compression)
	if f.Compressed(c.path) {
		cost += 1 + len(compressions)
	}
	return cost
}

// candidatePaths are the paths of files.
func candidatePaths(files []candidate) []string {
	list := make([]string, len(files))
	for i, c := range files {
		list[i] = c.path
	}
	return list
}
