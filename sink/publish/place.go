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

// What hidden names have behind the name of their target, and what they end with.
const (
	hiddenInfix   = ".idxport-"
	partialSuffix = ".partial"
	oldSuffix     = ".old"
	lockSuffix    = ".idxport-lock"
	hiddenDigits  = 16 // hexadecimal
)

// maxLinks is how many dangling symbolic links are followed, as in Linux's own limit.
const maxLinks = 40

// A place is where a target really lies.
type place struct {
	path    string      // absolute, free of symbolic links; a direct target's as spelled
	info    fs.FileInfo // what stands there; nil if nothing
	missing []string    // the folders above it that do not exist, outermost first
	direct  bool        // a device, FIFO or socket
}

// hidden returns a new name beside the place. 64 random bits keep runs apart where there are no locks.
func (p place) hidden(suffix string) string {
	var random [hiddenDigits / 2]byte
	_, _ = rand.Read(random[:]) // never fails, says its documentation
	dir, base := filepath.Split(p.path)
	return dir + Hidden(base, hiddenInfix+hex.EncodeToString(random[:])+suffix)
}

// Lengths of names, in bytes.
const (
	maxName     = 255 // that file systems take
	shownOfLong = 64  // of a name that is too long for a hidden one
)

// Hidden returns the hidden name beside base that ends with tail: .<base><tail>. Where file systems would not take that, the beginning of base and a hash of it
// stand for base.
func Hidden(base, tail string) string {
	if len("."+base+tail) <= maxName {
		return "." + base + tail
	}
	cut := min(shownOfLong, len(base))
	for cut > 0 && cut < len(base) && !utf8.RuneStart(base[cut]) {
		cut--
	}
	hash := sha256.Sum256([]byte(base))
	return "." + base[:cut] + "-" + hex.EncodeToString(hash[:16]) + tail
}

// isHidden reports whether name could be hidden's for the target base.
func isHidden(name, base, suffix string) bool {
	digits := digitsOf(name, base, suffix)
	return len(digits) == hiddenDigits && !strings.Contains(digits, "-")
}

// digitsOf returns the hexadecimal digits, with hyphens perhaps, of a hidden name that ends with suffix; "" if name is none of the target base.
func digitsOf(name, base, suffix string) string {
	at := strings.LastIndex(name, hiddenInfix)
	if at < 0 || !strings.HasSuffix(name, suffix) || name != Hidden(base, name[at:]) {
		return ""
	}
	digits := strings.TrimSuffix(name[at+len(hiddenInfix):], suffix)
	if strings.Trim(digits, "0123456789abcdef-") != "" {
		return ""
	}
	return digits
}

// locate finds a target's place.
func locate(path string) (place, error) {
	if runtime.GOOS == "windows" {
		if err := refuseNames(path); err != nil {
			return place{}, err
		}
	}
	followed, statErr := os.Stat(path)
	const special = fs.ModeDevice | fs.ModeCharDevice | fs.ModeNamedPipe | fs.ModeSocket
	if statErr == nil && followed.Mode()&special != 0 {
		return place{path: path, info: followed, direct: true}, nil
	}
	at, err := whereIs(path)
	if err != nil && errors.Is(statErr, syscall.ELOOP) {
		return place{}, refusal(path, "its symbolic links lead round in a circle", "remove the link, or choose another path")
	}
	if errors.Is(err, syscall.ENOTDIR) { // a file stands where a folder should
		return place{}, noParent(path, "what should be a folder is a file", "choose another path")
	}
	if path != "" && errors.Is(err, fs.ErrNotExist) { // else there is a root, and whereIs says what is missing below it
		return place{}, noParent(path, noRoot(path), "go to a folder that exists, or name the output by a path from its root")
	}
	if err != nil {
		return place{}, err
	}
	if at.info, err = os.Lstat(at.path); errors.Is(err, fs.ErrNotExist) {
		at.info, err = nil, nil
	}
	if err != nil {
		return place{}, err
	}
	if statErr == nil && (at.info == nil || !os.SameFile(followed, at.info)) {
		// Such as /dev/stdout led to a deleted file.
		return place{}, refusal(path, "it leads to something that has no name", "name a file")
	}
	for dir := filepath.Dir(at.path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			return at, err
		}
		if filepath.Dir(dir) == dir {
			return place{}, noParent(path, "there is no "+dir, "choose a drive that exists")
		}
		at.missing = append([]string{dir}, at.missing...)
	}
}

// noRoot says why path leads nowhere at all.
func noRoot(path string) string {
	if filepath.IsAbs(path) {
		return "there is no drive " + filepath.VolumeName(path)
	}
	return "the working directory does not exist any more"
}

func whereIs(path string) (place, error) {
	path, err := absolute(path)
	if err != nil {
		return place{}, err
	}
	real, err := follow(path, maxLinks)
	return place{path: real}, err
}

// absolute joins path to the working folder and, unlike filepath.Abs, keeps its "..": after a symbolic link they lead elsewhere than
// the spelling suggests. Windows itself goes by the spelling.
func absolute(path string) (string, error) {
	if path == "" {
		return "", fs.ErrNotExist
	}
	if filepath.IsAbs(path) || runtime.GOOS == "windows" {
		return filepath.Abs(path)
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
	if dir == "" || base == "" { // not even the root: an unknown drive
		return "", err
	}
	if dir, err = follow(dir, links); err != nil {
		return "", err
	}
	real = filepath.Join(dir, base)
	link, err := os.Readlink(real)
	if err != nil {
		return real, nil // there is nothing
	}
	if links == 0 {
		return "", &fs.PathError{Op: "readlink", Path: path, Err: errors.New("too many symbolic links")}
	}
	if !filepath.IsAbs(link) {
		link = dir + string(filepath.Separator) + link
	}
	return follow(link, links-1)
}
