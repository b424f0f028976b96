package publish

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/idxport/idxport/shell"
)

// refuseDangerous refuses targets that Options.Overwrite does not allow either, such as an input or
// a file in a folder that does not exist.
func refuseDangerous(outputs []*output, inputs []string) error {
	read := look(inputs)
	for i, out := range outputs {
		err := refuseKind(out)
		if err == nil && !out.direct {
			err = checkParent(out)
		}
		around := above(filepath.Dir(out.path))
		for _, in := range read {
			if err == nil && !out.direct {
				err = in.refuse(out, around)
			}
		}
		for _, other := range outputs[:i] {
			if err == nil && !out.direct && !other.direct {
				err = refuseOverlap(out, other)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// refuseKind refuses an existing target of another kind than the output, such as a folder for a
// file, and folders that must never be replaced, such as the current one.
func refuseKind(out *output) error {
	const inside = "name a new folder inside it"
	isDir := out.info != nil && out.info.IsDir()
	switch {
	case out.direct && out.Target.Folder:
		return refusal(out.Path, "it is a device, FIFO or socket, not a folder", "name a new folder")
	case out.direct && out.info.Mode()&fs.ModeSocket != 0:
		return refusal(out.Path, "it is a socket, not a file", "name a new file")
	case out.direct:
		return nil
	case !out.Target.Folder && isDir && holdsParts(out.path):
		return refusal(out.Path, "it is a folder of part files, as --rows-per-file makes",
			"name a new file; or, to replace the folder, add --rows-per-file N --overwrite")
	case !out.Target.Folder && isDir:
		return refusal(out.Path, "it is a folder", "name a file in it")
	case !out.Target.Folder && os.IsPathSeparator(out.Path[len(out.Path)-1]):
		return refusal(out.Path, "it names a folder, not a file", "leave out the last "+string(filepath.Separator))
	case !out.Target.Folder || out.info == nil:
		return nil
	case !isDir:
		return refusal(out.Path, "the output is a folder, but a file has this name", "remove the file, or give the path of a new folder")
	case filepath.Dir(out.path) == out.path:
		return refusal(out.Path, "it is the root of a file system", inside)
	}
	work, err := os.Getwd()
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // if the working folder was removed, no target can contain it
		return Failure(out.Path, "cannot find the current folder", err)
	}
	if err == nil && among(out.info, above(work)) {
		return refusal(out.Path, "it is the current folder, or contains it", inside)
	}
	return nil
}

// An input is what a run reads. It is compared with the outputs by identity, not by its spelling.
type input struct {
	path   string
	info   fs.FileInfo   // links followed
	around []fs.FileInfo // see above
}

// look looks at the inputs once for all outputs.
func look(paths []string) (inputs []input) {
	folders := map[string][]fs.FileInfo{} // of many parts in one folder
	for _, path := range paths {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		info, err := os.Stat(real)
		if err != nil {
			continue
		}
		dir := filepath.Dir(real)
		if folders[dir] == nil {
			folders[dir] = above(dir)
		}
		os.SameFile(info, info) // on Windows, the first call looks up the identity by name
		inputs = append(inputs, input{path, info, folders[dir]})
	}
	return inputs
}

// refuse refuses a target that is an input, contains one, or is inside a folder that is one; around
// are the folders above the target.
func (in input) refuse(out *output, around []fs.FileInfo) error {
	same := out.info != nil && os.SameFile(in.info, out.info)
	switch {
	case same && !out.Target.Folder:
		return refusal(out.Path, "it is an input", "name a new file")
	case same, out.info != nil && out.Target.Folder && among(out.info, in.around):
		return refusal(out.Path, "it contains the input "+in.path, "name a new folder")
	case in.info.IsDir() && among(in.info, around):
		return refusal(out.Path, "it is inside the input "+in.path, "name a file or folder outside it")
	}
	return nil
}

// above returns the folder at path and all folders above it that exist.
func above(path string) (found []fs.FileInfo) {
	path, err := filepath.Abs(path)
	for last := ""; err == nil && path != last; last, path = path, filepath.Dir(path) {
		if info, err := os.Stat(path); err == nil {
			os.SameFile(info, info)
			found = append(found, info)
		}
	}
	return found
}

// among reports whether info describes one of the folders.
func among(info fs.FileInfo, folders []fs.FileInfo) bool {
	return slices.ContainsFunc(folders, func(folder fs.FileInfo) bool { return os.SameFile(info, folder) })
}

func checkParent(out *output) error {
	parent := filepath.Dir(out.path)
	if len(out.missing) > 0 && !out.MakeParents {
		missing := filepath.Dir(out.Path)
		_, err := os.Stat(missing)
		// If that folder exists, the target is a link into a missing one. If the path has "..",
		// filepath.Dir may have given another folder.
		if err == nil || strings.Contains(out.Path, "..") {
			missing = parent
		}
		return noParent(out.Path, "", shell.MakeFolder(missing))
	}
	if len(out.missing) == 0 && holdsParts(parent) {
		reason := " is a folder of part files, and programs that read it would read this file as a part"
		return refusal(out.Path, filepath.Dir(out.Path)+reason, "name another folder")
	}
	return nil
}

// partName matches the name of a published part.
var partName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^part-\d{5,}-[0-9a-f]{16}\.[a-z]+(\.[a-z]+)?$`)
})

// holdsParts reports whether the folder at path is an output with Parts, perhaps with other files
// in it.
func holdsParts(path string) bool {
	info, err := os.Lstat(filepath.Join(path, successName))
	if err != nil || !info.Mode().IsRegular() || info.Size() > 0 {
		return false
	}
	entries, err := os.ReadDir(path)
	return err == nil && slices.ContainsFunc(entries, func(entry fs.DirEntry) bool {
		return partName().MatchString(entry.Name())
	})
}

// refuseOverlap refuses two targets with the same path, and a target inside a target folder.
func refuseOverlap(out, other *output) error {
	inside := func(inner, outer *output) bool {
		return outer.Target.Folder && strings.HasPrefix(inner.path, outer.path+string(filepath.Separator))
	}
	inner, outer := other, out
	if inside(out, other) {
		inner, outer = out, other
	}
	switch {
	case out.path == other.path, out.info != nil && other.info != nil && os.SameFile(out.info, other.info):
		return refusal(out.Path, "it is the same output as "+other.Path, "give every output a name of its own")
	case inside(inner, outer):
		return refusal(inner.Path, "it lies inside the output "+outer.Path, "put it beside that folder")
	}
	return nil
}
