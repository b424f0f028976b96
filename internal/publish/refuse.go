package publish

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idxport/idxport/shell"
)

// refuse refuses a target that Options.Overwrite does not allow either, such as an input or a file
// in a folder that does not exist. The other outputs are those before it.
func (out *output) refuse(inputs []input, others []*output) (err error) {
	path, folder := out.target.Path, out.target.Folder
	isDir, parent := out.info != nil && out.info.IsDir(), filepath.Dir(out.real)
	refuse := func(found bool, reason, hint string) {
		if found && err == nil {
			err = refusal(path, reason, hint)
		}
	}
	refuse(out.direct && folder, "it is a device, FIFO or socket, not a folder", "name a new folder")
	refuse(out.direct && out.info.Mode()&fs.ModeSocket != 0, "it is a socket, not a file", "name a new file")
	if out.direct {
		return err
	}
	refuse(isDir && !folder && holdsParts(out.real), "it is a folder of part files, as --rows-per-file makes",
		"name a new file; or, to replace the folder, add --rows-per-file N --overwrite")
	refuse(isDir && !folder, "it is a folder", "name a file in it")
	refuse(!folder && os.IsPathSeparator(path[len(path)-1]), "it names a folder, not a file",
		"leave out the last "+string(filepath.Separator))
	refuse(folder && out.info != nil && !isDir, "the output is a folder, but a file has this name",
		"remove the file, or give the path of a new folder")
	refuse(folder && isDir && parent == out.real, "it is the root of a file system", "name a new folder inside it")
	work, _ := os.Getwd() // if the working folder was removed, no target can contain it
	refuse(folder && isDir && among(out.info, above(work)), "it is the current folder, or contains it",
		"name a new folder inside it")
	if err == nil {
		err = out.refuseMissing()
	}
	refuse(len(out.missing) == 0 && holdsParts(parent), filepath.Dir(path)+
		" is a folder of part files, and programs that read it would read this file as a part", "name another folder")
	around := above(parent)
	for _, in := range inputs {
		same := out.info != nil && os.SameFile(in.info, out.info)
		refuse(same && !folder, "it is an input", "name a new file")
		refuse(same || isDir && among(out.info, in.folders), "it contains the input "+in.path, "name a new folder")
		refuse(in.info.IsDir() && among(in.info, around), "it is inside the input "+in.path,
			"name a file or folder outside it")
	}
	for _, other := range others {
		same := out.info != nil && other.info != nil && os.SameFile(out.info, other.info)
		refuse(out.real == other.real || same, "it is the same output as "+other.target.Path,
			"give every output a name of its own")
		refuse(out.isInside(other), "it lies inside the output "+other.target.Path, "put it beside that folder")
		refuse(other.isInside(out), "the output "+other.target.Path+" lies inside it", "put it beside that output")
	}
	return err
}

// refuseMissing refuses a target whose folder does not exist and must not be made.
func (out *output) refuseMissing() error {
	if len(out.missing) == 0 || out.target.MakeParents {
		return nil
	}
	missing := filepath.Dir(out.target.Path)
	// If that folder exists, the target is a link into a missing one. If the path has "..",
	// filepath.Dir may have given another folder.
	if _, err := os.Stat(missing); err == nil || strings.Contains(out.target.Path, "..") {
		missing = filepath.Dir(out.real)
	}
	return noParent(out.target.Path, "", shell.MakeFolder(missing))
}

// isInside reports whether the output is in the folder that the other one will be.
func (out *output) isInside(other *output) bool {
	return other.target.Folder && strings.HasPrefix(out.real, other.real+string(filepath.Separator))
}

// An input is what a run reads. It is compared with the outputs by identity, not by its spelling.
type input struct {
	path    string
	info    fs.FileInfo   // links followed
	folders []fs.FileInfo // above it
}

// lookAt looks at the inputs once for all outputs. Those that do not exist are ignored.
func lookAt(paths []string) (inputs []input) {
	var lastDir string
	var folders []fs.FileInfo
	for _, path := range paths {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		if dir := filepath.Dir(real); dir != lastDir { // else it is another part in one folder
			lastDir, folders = dir, above(dir)
		}
		if info, err := os.Stat(real); err == nil {
			os.SameFile(info, info) // on Windows, the first call looks up the identity by name
			inputs = append(inputs, input{path, info, folders})
		}
	}
	return inputs
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

// among reports whether info describes one of the files or folders.
func among(info fs.FileInfo, all []fs.FileInfo) bool {
	return slices.ContainsFunc(all, func(one fs.FileInfo) bool { return os.SameFile(info, one) })
}

// holdsParts reports whether the folder at path is an output with Parts, perhaps with other files
// in it.
func holdsParts(path string) bool {
	info, err := os.Lstat(filepath.Join(path, marks[Parts]))
	if err != nil || !info.Mode().IsRegular() || info.Size() > 0 {
		return false
	}
	parts, err := fs.Glob(os.DirFS(path), "part-*-"+strings.Repeat("[0-9a-f]", 16)+".*")
	return err == nil && len(parts) > 0
}

// refuseForeign fails with fault.Refused unless the folder at path, which is the target or was
// moved from there, is an earlier output and holds nothing else: its listing is that of a record.
// An empty folder needs no record.
func (out *output) refuseForeign(d disk, path string) error {
	shown := out.target.Path
	records, _, err := out.siblings(d)
	if err == nil && len(records) == 0 && out.occupied {
		return refusal(shown, "there is no record that idxport made it",
			"delete it or name a new folder: an earlier version may have made it, or it was moved or copied without its record")
	}
	recorded := map[listing]bool{0: !out.occupied}
	for _, h := range records {
		recorded[h.listing] = true
	}
	total, odd := listing(0), ""
	if err == nil {
		err = d.do("list", path, func() error {
			return list(path, func(name string, term listing) {
				total += term
				if term == 0 && odd == "" {
					odd = name
				}
			})
		})
	}
	if err != nil {
		return Failure(shown, "listing it", err)
	}
	if odd == "" && recorded[total] {
		return nil
	}
	// If there is one file more than recorded, its term is the difference.
	_ = list(path, func(name string, term listing) {
		if odd == "" && recorded[total-term] {
			odd = name
		}
	})
	const hint = "move it away, or name a new folder"
	if odd != "" {
		return refusal(shown, "it holds "+odd+", which idxport did not write", hint)
	}
	return refusal(shown, "files were added to it, removed or changed since idxport wrote it", hint)
}
