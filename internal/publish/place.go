package publish

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"unicode/utf8"
)

// A place is the location of a target.
type place struct {
	path    string      // absolute, without symbolic links; if direct, as the user spelled it
	info    fs.FileInfo // of the existing file or folder, or nil
	missing []string    // the folders above it that do not exist, outermost first
	direct  bool        // a device, FIFO or socket; sockets are refused
}

// maxLooks limits how often a target is looked at again because it was replaced meanwhile.
const maxLooks = 100

// locate finds the place of a target. A path such as /dev/stdout may lead to a file that was
// deleted, and so has no name; but if another program has just replaced the target, it is found at
// the next look.
func locate(path string) (p place, err error) {
	if runtime.GOOS == "windows" {
		if err := refuseNames(path); err != nil {
			return p, err
		}
	}
	for range maxLooks {
		followed, statErr := os.Stat(path)
		const special = fs.ModeDevice | fs.ModeCharDevice | fs.ModeNamedPipe | fs.ModeSocket
		if statErr == nil && followed.Mode()&special != 0 {
			return place{path: path, info: followed, direct: true}, nil
		}
		if p, err = resolve(path, statErr); err != nil {
			return p, err
		}
		if statErr != nil || p.info != nil && os.SameFile(followed, p.info) {
			return p, nil
		}
	}
	return p, refusal(path, "it leads to a file that has no name", "name a file")
}

// resolve finds the place of a target that is no device; statErr is the error of os.Stat for it.
func resolve(path string, statErr error) (p place, err error) {
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

// maxLinks limits how many dangling symbolic links are followed; Linux has the same limit for
// links.
const maxLinks = 40

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

// The parts of hidden names after the name of the target; see the package comment.
const (
	lockSuffix    = ".idxport"
	hiddenInfix   = ".idxport-"
	partialSuffix = ".partial"
	oldSuffix     = ".old"
	recordSuffix  = ".made"
	hiddenDigits  = 16 // hexadecimal
)

// keptBytes is the number of bytes that are kept of a name that would be too long as a whole.
const keptBytes = 64

// hidden returns the hidden name .<base><tail>. If that is too long for file systems, the beginning
// of base and its hash replace base.
func hidden(base, tail string) string {
	if len("."+base+tail) <= maxName {
		return "." + base + tail
	}
	cut := min(keptBytes, len(base))
	for cut > 0 && cut < len(base) && !utf8.RuneStart(base[cut]) {
		cut--
	}
	hash := sha256.Sum256([]byte(base))
	return "." + base[:cut] + "-" + hex.EncodeToString(hash[:16]) + tail
}

// beside returns the path of the hidden name with the given tail, in the folder of the place.
func (p place) beside(tail string) string {
	dir, base := filepath.Split(p.path)
	return dir + hidden(base, tail)
}

// hiddenPath returns a new hidden path beside the place. Its 64 random bits make it different for
// each run, even on file systems without locks.
func (p place) hiddenPath(suffix string) string {
	var random [hiddenDigits / 2]byte
	_, _ = rand.Read(random[:]) // never fails, according to its documentation
	return p.beside(hiddenInfix + hex.EncodeToString(random[:]) + suffix)
}

// A sibling is a hidden name beside a target: a partial, an old folder or a record.
type sibling struct {
	path    string
	suffix  string
	numbers []string // three for a record, otherwise one
}

// siblings returns the hidden names beside the place, except the lock.
func (p place) siblings(d disk) (found []sibling, err error) {
	dir, base := filepath.Split(p.path)
	entries, err := d.readDir(dir)
	for _, entry := range entries {
		name := entry.Name()
		i := strings.LastIndex(name, hiddenInfix)
		if i < 0 || name != hidden(base, name[i:]) {
			continue
		}
		digits, suffix, _ := strings.Cut(name[i+len(hiddenInfix):], ".")
		h := sibling{dir + name, "." + suffix, strings.Split(digits, "-")}
		if h.valid() {
			found = append(found, h)
		}
	}
	return found, err
}

func (h sibling) valid() bool {
	for _, number := range h.numbers {
		if len(number) != hiddenDigits || strings.Trim(number, "0123456789abcdef") != "" {
			return false
		}
	}
	if h.suffix == recordSuffix {
		return len(h.numbers) == 3
	}
	return len(h.numbers) == 1 && (h.suffix == partialSuffix || h.suffix == oldSuffix)
}
