package publish

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
)

// maxManifest bounds what is read of a file that only claims to be a manifest, in bytes; a class folder takes about 110.
const maxManifest = 64 << 20

const notOursHint = "remove the folder yourself, or name a new one"

// ownFolder returns the mark of the folder at path, the target or what was the target, if it is an earlier output and holds nothing else.
// Otherwise it fails with fault.Refused and names the stranger. Contents are not read.
func (s *Set) ownFolder(out *output, path string) ([]byte, error) {
	mark := out.Target.Mark
	if mark == PartsMark {
		return s.ownParts(out, path)
	}
	text, err := s.readManifest(filepath.Join(path, mark.file()))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refusal(out.Path, "it has no "+mark.file()+", so it is no output of idxport", notOursHint)
	}
	if err != nil {
		return nil, failure(out.Path, "reading its "+mark.file(), err)
	}
	m, err := mark.manifestIn(text)
	if err != nil {
		return nil, refusal(out.Path, mark.file()+": "+err.Error(), notOursHint)
	}
	reason, err := s.stranger(path, mark.file(), m)
	if err != nil {
		return nil, failure(out.Path, "listing it", err)
	}
	if reason != "" {
		return nil, refusal(out.Path, reason, "move it away, or name a new folder")
	}
	return text, nil
}

func (s *Set) readManifest(path string) ([]byte, error) {
	info, err := s.disk.lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil // no manifest of ours
	}
	f, err := s.disk.open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxManifest))
}

// stranger says how the listing of the folder at path, less the file mark, differs from the manifest; "" if it does not.
func (s *Set) stranger(path, mark string, m *manifest) (string, error) {
	entries, err := s.disk.readDir(path)
	if err != nil {
		return "", err
	}
	var files []string
	folders := 0
	for _, entry := range entries {
		name := entry.Name()
		record, known := m.Classes[name]
		switch {
		case entry.Type().IsRegular():
			if name != mark {
				files = append(files, name)
			}
		case entry.IsDir() && known:
			folders++
			if reason, err := s.strangerIn(path, name, record); reason != "" || err != nil {
				return reason, err
			}
		default:
			return fmt.Sprintf("it holds %s, which is not in its manifest", name), nil
		}
	}
	if reason := compareNames(".", files, m.Classes["."]); reason != "" {
		return reason, nil
	}
	delete(m.Classes, ".")
	if folders != len(m.Classes) {
		return fmt.Sprintf("it holds %d of the %d class folders in its manifest", folders, len(m.Classes)), nil
	}
	return "", nil
}

func (s *Set) strangerIn(path, class string, record classRecord) (string, error) {
	entries, err := s.disk.readDir(filepath.Join(path, class))
	if err != nil {
		return "", err
	}
	files := make([]string, 0, len(entries))
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			return fmt.Sprintf("it holds %s, which is not in its manifest", filepath.Join(class, entry.Name())), nil
		}
		files = append(files, entry.Name())
	}
	return compareNames(class, files, record), nil
}

// compareNames says how the files of a class folder differ from its record. The record has only a sum, but a single stranger
// is the one whose term is the difference; among several, the one with the rarest extension is named.
func compareNames(class string, files []string, record classRecord) string {
	var names sum
	for _, name := range files {
		names.add(nameTerm(name))
	}
	if int64(len(files)) == record.Files && names == record.Names {
		return ""
	}
	if int64(len(files)) < record.Files {
		return fmt.Sprintf("folder %s holds %d files, its manifest says %d", class, len(files), record.Files)
	}
	names.subtract(record.Names)
	for _, name := range files {
		if nameTerm(name) == names {
			return fmt.Sprintf("it holds %s, which is not in its manifest", filepath.Join(class, name))
		}
	}
	return fmt.Sprintf("folder %s holds %d files, such as %s, its manifest says %d or others", class, len(files),
		rarestExtension(files), record.Files)
}

func rarestExtension(files []string) string {
	count := map[string]int{}
	for _, name := range files {
		count[filepath.Ext(name)]++
	}
	return slices.MinFunc(files, func(a, b string) int { return count[filepath.Ext(a)] - count[filepath.Ext(b)] })
}
