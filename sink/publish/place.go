package publish

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// maxLinks limits how many dangling symbolic links are followed; Linux has the same limit for
// links.
const maxLinks = 40

// A place is the location of a target.
type place struct {
	path    string      // absolute, without symbolic links; if direct, as the user spelled it
	info    fs.FileInfo // of the existing file or folder, or nil
	missing []string    // the folders above it that do not exist, outermost first
	direct  bool        // a device, FIFO or socket; sockets are refused
}

// locate finds the place of a target.
func locate(path string) (p place, err error) {
	if runtime.GOOS == "windows" {
		if err := refuseNames(path); err != nil {
			return p, err
		}
	}
	followed, statErr := os.Stat(path)
	const special = fs.ModeDevice | fs.ModeCharDevice | fs.ModeNamedPipe | fs.ModeSocket
	if statErr == nil && followed.Mode()&special != 0 {
		return place{path: path, info: followed, direct: true}, nil
	}
	full, err := absolute(path)
	if err == nil {
		p.path, err = follow(full, maxLinks)
	}
	switch {
	case err == nil:
	case errors.Is(statErr, syscall.ELOOP):
		return p, refusal(path, "its symbolic links form a loop", "remove the link, or choose another path")
	case errors.Is(err, syscall.ENOTDIR):
		return p, noParent(path, "part of the path is a file, not a folder", "choose another path")
	case path != "" && errors.Is(err, fs.ErrNotExist): // not even the root exists
		reason := "the current folder does not exist any more"
		if filepath.IsAbs(path) {
			reason = "there is no drive " + filepath.VolumeName(path)
		}
		return p, noParent(path, reason, "change to a folder that exists, or give an absolute path")
	default:
		return p, err
	}
	if p.info, err = (disk{}).lstat(p.path); err != nil {
		return p, err
	}
	if statErr == nil && (p.info == nil || !os.SameFile(followed, p.info)) {
		// For example, /dev/stdout leads to a file that was deleted.
		return p, refusal(path, "it leads to a file that has no name", "name a file")
	}
	for dir := filepath.Dir(p.path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			return p, err
		}
		if filepath.Dir(dir) == dir {
			return p, noParent(path, "there is no "+dir, "choose a drive that exists")
		}
		p.missing = append([]string{dir}, p.missing...)
	}
}

// absolute joins path to the current folder. Unlike filepath.Abs it keeps "..": after a symbolic
// link, ".." is the parent of the folder that the link leads to. On Windows it is the parent of the
// link itself.
func absolute(path string) (string, error) {
	switch {
	case path == "":
		return "", fs.ErrNotExist
	case runtime.GOOS == "windows":
		return filepath.Abs(path)
	case filepath.IsAbs(path):
		return path, nil
	}
	dir, err := os.Getwd()
	return dir + string(filepath.Separator) + path, err
}

// follow resolves the symbolic links of a path whose last elements need not exist.
func follow(path string, links int) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	dir, base := filepath.Split(strings.TrimRight(path, string(filepath.Separator)))
	if dir == "" || base == "" { // not even the root exists: an unknown drive
		return "", err
	}
	if dir, err = follow(dir, links); err != nil {
		return "", err
	}
	real = filepath.Join(dir, base)
	link, err := os.Readlink(real)
	if err != nil {
		return real, nil // nothing exists there
	}
	if links == 0 {
		return "", &fs.PathError{Op: "readlink", Path: path, Err: errors.New("too many symbolic links")}
	}
	if !filepath.IsAbs(link) {
		link = dir + string(filepath.Separator) + link
	}
	return follow(link, links-1)
}

// contains reports whether path is the file or folder that info describes, or lies below it. It
// compares the identities of path and the folders above it, not their spellings.
func contains(info fs.FileInfo, path string) bool {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	if path, err = filepath.Abs(path); err != nil {
		return false
	}
	for above := ""; path != above; above, path = path, filepath.Dir(path) {
		if found, err := os.Lstat(path); err == nil && os.SameFile(found, info) {
			return true
		}
	}
	return false
}

// beside returns the path of the hidden name with the given tail, in the folder of the place.
func (p place) beside(tail string) string {
	dir, base := filepath.Split(p.path)
	return dir + Hidden(base, tail)
}

// hiddenPath returns a new hidden path beside the place. Its 64 random bits make it different for
// each run, even on file systems without locks.
func (p place) hiddenPath(suffix string) string {
	var random [hiddenDigits / 2]byte
	_, _ = rand.Read(random[:]) // never fails, according to its documentation
	return p.beside(hiddenInfix + hex.EncodeToString(random[:]) + suffix)
}
