package publish

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idxport/idxport/shell"
)

// refuseDangerous refuses targets whose replacement would destroy what is no output, whatever the options.
func (s *Set) refuseDangerous(inputs []string) error {
	for _, out := range s.outputs {
		if out.direct {
			if out.Target.Folder {
				return refusal(out.Path, "is a device, FIFO or socket, not a folder", "name a new folder")
			}
			continue
		}
		check := refuseFile
		if out.Target.Folder {
			check = refuseFolder
		}
		if err := check(out); err != nil {
			return err
		}
		if err := refuseInputs(out, inputs); err != nil {
			return err
		}
		if err := checkParent(out); err != nil {
			return err
		}
	}
	return s.refuseOverlap()
}

func refuseFile(out *output) error {
	switch {
	case out.info != nil && out.info.IsDir() && holdsParts(out.path):
		return refusal(out.Path, "is a folder of parts", "name a new file, or make parts again to replace it")
	case out.info != nil && out.info.IsDir():
		return refusal(out.Path, "is a folder", "name a file in it")
	case os.IsPathSeparator(out.Path[len(out.Path)-1]):
		return refusal(out.Path, "names a folder, not a file", "leave out the last "+string(filepath.Separator))
	}
	return nil
}

func refuseFolder(out *output) error {
	if out.info == nil {
		return nil
	}
	inside := "name a new folder inside it"
	if !out.info.IsDir() {
		return refusal(out.Path, "is a file, not a folder", "name a new folder")
	}
	if filepath.Dir(out.path) == out.path {
		return refusal(out.Path, "is the root of a file system", inside)
	}
	work, err := os.Getwd()
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // one that was removed is in no folder
		return failure(out.Path, "asking for the working folder", err)
	}
	if err == nil && holds(out.info, work) {
		return refusal(out.Path, "is the working folder or holds it", inside)
	}
	mounted, err := isMountPoint(out.path)
	if err != nil {
		return failure(out.Path, "looking for a mount point", err)
	}
	if mounted {
		return refusal(out.Path, "is a mount point", inside)
	}
	return nil
}

// holds reports whether path is, or lies below, the file or folder that info describes, whatever the spellings: it compares
// identities on the way up.
func holds(info fs.FileInfo, path string) bool {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false // no such path
	}
	if path, err = filepath.Abs(path); err != nil {
		return false
	}
	for {
		if there, err := os.Lstat(path); err == nil && os.SameFile(there, info) {
			return true
		}
		parent := filepath.Dir(path)
		if parent == path {
			return false
		}
		path = parent
	}
}

func refuseInputs(out *output, inputs []string) error {
	if out.info == nil {
		return nil
	}
	for _, input := range inputs {
		if !holds(out.info, input) {
			continue
		}
		if out.Target.Folder {
			return refusal(out.Path, fmt.Sprintf("holds the input %s", input), "name a new folder")
		}
		return refusal(out.Path, "is an input", "name a new file")
	}
	return nil
}

func checkParent(out *output) error {
	parent := filepath.Dir(out.path)
	if len(out.missing) > 0 && !out.MakeParents {
		named := filepath.Dir(out.Path)
		if _, err := os.Stat(named); err == nil { // a link there leads to where there is no folder
			named = parent
		}
		return noParent(out.Path, "", shell.MakeFolder(named))
	}
	if len(out.missing) > 0 {
		parent = filepath.Dir(out.missing[0])
	}
	info, err := os.Stat(parent)
	if err != nil {
		return failure(out.Path, "looking at its folder", err)
	}
	if !info.IsDir() {
		return refusal(out.Path, parent+" is not a folder", "name another folder")
	}
	if len(out.missing) == 0 && holdsParts(parent) {
		return refusal(out.Path, filepath.Dir(out.Path)+" is a folder of parts, whose readers would take it for one more", "name another folder")
	}
	return nil
}

// holdsParts reports whether the folder at path is an output under PartsMark, perhaps with other files in it.
func holdsParts(path string) bool {
	if info, err := os.Lstat(filepath.Join(path, PartsMark.file())); err != nil || !info.Mode().IsRegular() || info.Size() > 0 {
		return false
	}
	entries, err := os.ReadDir(path)
	return err == nil && slices.ContainsFunc(entries, func(entry fs.DirEntry) bool { return partName().MatchString(entry.Name()) })
}

// refuseOverlap refuses two targets that are one, and a target inside a target folder.
func (s *Set) refuseOverlap() error {
	for i, a := range s.outputs {
		for _, b := range s.outputs[i+1:] {
			switch {
			case a.direct || b.direct:
			case a.path == b.path, a.info != nil && b.info != nil && os.SameFile(a.info, b.info):
				return refusal(b.Path, "is the same output as "+a.Path, "give every output a name of its own")
			case a.Target.Folder && within(b.path, a.path):
				return refusal(b.Path, "lies inside the output "+a.Path, "put it beside that folder")
			case b.Target.Folder && within(a.path, b.path):
				return refusal(a.Path, "lies inside the output "+b.Path, "put it beside that folder")
			}
		}
	}
	return nil
}

func within(path, dir string) bool {
	return strings.HasPrefix(path, dir+string(filepath.Separator))
}

// isAt reports whether the file or folder that identity describes is what path leads to.
func (s *Set) isAt(path string, identity fs.FileInfo) bool {
	there, err := s.disk.lstat(path)
	return err == nil && identity != nil && os.SameFile(there, identity)
}

// absent reports whether nothing stands at path.
func (s *Set) absent(path string) bool {
	_, err := s.disk.lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}
