package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/fault"
)

// Values of Split.Evidence.
const (
	ByOption = "--dataset" // the user named the data set
	byName   = "the file names"
	byLabels = "its labels"
	byOthers = "the labels of another split"
)

// identify recognises the data set of splits that belong together; file names give named, or "".
func (f finder) identify(splits []*Split, named string) error {
	asked, roles := f.options.Dataset, []Role{Image, Label}
	switch {
	case asked == DatasetNone:
		return nil
	case asked != "" && named != "" && named != asked: // class names and transposition would be wrong
		return fault.New(fault.Usage, "%s: judging by the file names, this is %s, expected %s",
			baseNames(splits[0].Files), named, asked).
			WithHint("rename the files, or read them as they are with --dataset %s", DatasetNone)
	case asked != "":
		apply(splits, asked, ByOption)
	case named != "":
		apply(splits, named, byName)
	default:
		f.identifyByLabels(splits)
		roles = roles[:1]
	}
	for _, s := range splits {
		f.compare(s, roles)
	}
	return nil
}

// apply sets the data set of all splits to the one of Known with that name.
func apply(splits []*Split, name, evidence string) {
	for _, s := range splits {
		d, _ := Lookup(name)
		s.Dataset, s.Evidence = &d, evidence
	}
}

// identifyByLabels compares labels with published ones; splits without follow the others, if equal.
func (f finder) identifyByLabels(splits []*Split) {
	var found []string
	var unlabelled []*Split
	for _, s := range splits {
		if fileOf(s, Label).Path == "" {
			unlabelled = append(unlabelled, s)
		} else if s.Dataset, _ = f.published(s, Label); s.Dataset != nil {
			s.Evidence, found = byLabels, append(found, s.Dataset.Name)
		}
	}
	slices.Sort(found)
	if found = slices.Compact(found); len(found) == 1 {
		apply(unlabelled, found[0], byOthers)
	} else if len(found) > 1 {
		splits[0].Notes = append(splits[0].Notes,
			"judging by their labels, the splits belong to different data sets: "+strings.Join(found, ", "))
	}
}

// compare compares the files of s that have the roles with the published ones. If they are those of
// another data set, or images do not belong to the labels, only the user's word still counts.
func (f finder) compare(s *Split, roles []Role) {
	for i := 0; i < len(roles) && s.Dataset != nil; i++ {
		d := s.Dataset
		found, alike := f.published(s, roles[i])
		doubtful := len(roles) == 1 && slices.Contains(alike, d.Name)
		if found != nil { // QMNIST has images, labels and classes of MNIST
			doubtful = !slices.Equal(found.Classes, d.Classes) || found.Transposed != d.Transposed
		}
		if doubtful {
			s.Doubt = fmt.Sprintf("judging by %s, this is %s, but not by its %ss", s.Evidence, d.Title, roles[i])
		}
		if doubtful && s.Evidence != ByOption {
			s.Dataset, s.Doubt = nil, s.Doubt+": the classes have no names without --dataset"
		}
	}
}

// published returns the data set that published the file of s with that role, or nil, and the names
// of those that published one with its header. A file is hashed only if there are any.
func (f finder) published(s *Split, role Role) (same *Info, alike []string) {
	file, sum := fileOf(s, role), ""
	for _, d := range Known() {
		for _, p := range d.Files {
			if p.Role != role || !sameHeader(p.Header, file.Header) {
				continue
			}
			if alike == nil {
				if sum, _ = f.SHA256(file.Path, p.Hashed); sum == "" {
					return nil, nil // the next reader reports why
				}
			}
			alike = append(alike, d.Name)
			if sum == p.SHA256 {
				same = &d
			}
		}
	}
	return same, alike
}

// fileOf returns the file of the column that is named after the role, or the zero File.
func fileOf(s *Split, role Role) File {
	for _, f := range s.Files {
		if f.Name == role.String() {
			return f
		}
	}
	return File{}
}

// selectSet returns the candidates of the requested data set, or all if they belong to one. Files
// without a known data set or split are tables of their own, and do not count as data sets.
func (f finder) selectSet(all []candidate) ([]candidate, error) {
	asked := f.options.Dataset != "" && f.options.Dataset != DatasetNone
	counts := func(c candidate) bool { return c.name.Dataset != "" || c.name.Split != "" }
	sets := groupFiles(all, func(c candidate) string { return c.name.setKey() })
	if asked {
		isOwn := func(set []candidate) bool { return set[0].name.setKey() == f.options.Dataset }
		if i := slices.IndexFunc(sets, isOwn); i >= 0 {
			return sets[i], nil
		}
		// MNIST's files have no prefix, but others without a known one may be those that are meant.
		counts = func(c candidate) bool { return c.name.Dataset == "" && (c.name.Prefix == "" || c.name.Split != "") }
	}
	sets = slices.DeleteFunc(sets, func(set []candidate) bool { return !slices.ContainsFunc(set, counts) })
	if len(sets) < 2 {
		if asked && len(sets) == 1 {
			all = slices.DeleteFunc(all, func(c candidate) bool { return c.name.Dataset != "" })
		}
		return all, nil // with asked, identify refuses them
	}
	var list, known []string
	for _, set := range sets {
		known = append(known, set[0].name.Dataset)
		list = append(list, cmp.Or(set[0].name.Dataset, "files like "+set[0].base()))
	}
	advice := "give the files to use instead of the folder, or a folder with one data set"
	if known = slices.DeleteFunc(known, func(name string) bool { return name == "" }); len(known) > 0 {
		advice = "choose one with --dataset " + strings.Join(known, " or --dataset ")
	}
	return nil, fault.New(fault.Usage, "found several data sets in its folder: %s", strings.Join(list, ", ")).
		In(sets[0][0].path).WithHint("%s", advice)
}
