package publish

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// refuse refuses a target that Options.Overwrite does not allow either, such as an input. The
// other outputs are those before it.
func (out *output) refuse(inputs []string, others []*output) error {
	path, folder := out.target.Path, out.target.Folder
	isDir := out.info != nil && out.info.IsDir()
	switch {
	case out.direct && (folder || out.info.Mode()&fs.ModeSocket != 0):
		return refusal(path, "it is a device, FIFO or socket", "name a new file or folder")
	case out.direct:
		return nil
	case out.info != nil && isDir != folder:
		kinds := map[bool]string{true: "a folder", false: "a file"}
		return refusal(path, "it is "+kinds[isDir]+", expected "+kinds[folder], "delete it, or choose another name")
	case isDir && isAbove(out.info, "."):
		return refusal(path, "it is the current folder, or contains it", "name a new folder inside it")
	}
	parts, _ := fs.Glob(os.DirFS(filepath.Dir(out.real)), "part-*-"+strings.Repeat("[0-9a-f]", 16)+".*")
	if len(parts) > 0 {
		return refusal(path, "its folder has part files: programs read every file in it as a part",
			"use another folder")
	}
	return out.refuseOverlap(inputs, others)
}

// refuseOverlap refuses an output that is, contains or is inside an input or another output. Inputs
// are compared by identity, not by their spelling; those that do not exist are ignored.
func (out *output) refuseOverlap(inputs []string, others []*output) error {
	for _, input := range inputs {
		real, err := filepath.EvalSymlinks(input)
		if err != nil {
			continue
		}
		info, err := os.Stat(real)
		if err == nil && (isAbove(out.info, real) || info.IsDir() && isAbove(info, filepath.Dir(out.real))) {
			return refusal(out.target.Path, "it is, contains or is inside the input "+input,
				"name a new file or folder outside it")
		}
	}
	isInside := func(a, b *output) bool {
		return b.target.Folder && strings.HasPrefix(a.real, b.real+string(filepath.Separator))
	}
	for _, other := range others {
		same := out.real == other.real || os.SameFile(out.info, other.info)
		if same || isInside(out, other) || isInside(other, out) {
			return refusal(out.target.Path, "it is, contains or is inside the output "+other.target.Path,
				"give every output a place of its own")
		}
	}
	return nil
}

// isAbove reports whether info describes the file or folder at path, or a folder above it.
func isAbove(info fs.FileInfo, path string) bool {
	path, err := filepath.Abs(path)
	for last := ""; err == nil && path != last; last, path = path, filepath.Dir(path) {
		if found, err := os.Stat(path); err == nil && os.SameFile(info, found) {
			return true
		}
	}
	return false
}
