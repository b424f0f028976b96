package publish

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/idxport/idxport/shell"
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

func (p place) lockPath() string {
	dir, base := filepath.Split(p.path)
	return dir + Hidden(base, lockSuffix)
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
	var at place
	full, err := absolute(path)
	if err == nil {
		at.path, err = follow(full, maxLinks)
	}
	if err != nil && errors.Is(statErr, syscall.ELOOP) {
		return place{}, refusal(path, "its symbolic links lead round in a circle", "remove the link, or choose another path")
	}
	if errors.Is(err, syscall.ENOTDIR) { // a file stands where a folder should
		return place{}, noParent(path, "what should be a folder is a file", "choose another path")
	}
	if path != "" && errors.Is(err, fs.ErrNotExist) { // else there is a root, and follow says what is missing below it
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

// occupiedTries bounds the race with runs that replace the folder again and again.
const occupiedTries = 10

// occupied reports whether something stands at the target that counts: an empty folder does not stand in a folder's way. It is also asked
// before the lock is taken, when another run may be replacing the folder: to list one that was deleted fails as if there were none.
func (out *output) occupied(d disk) (bool, error) {
	if out.info == nil || !out.Target.Folder || !out.info.IsDir() {
		return out.info != nil, nil
	}
	for range occupiedTries {
		entries, err := d.readDir(out.path)
		if err == nil {
			return len(entries) > 0, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return false, failure(out.Path, "listing it", err)
		}
		if absent(d, out.path) {
			return false, nil
		}
	}
	return true, nil
}

// keeps is what stands at the target, whose permissions the output gets, so that nobody can read it
// who could not before; nil if there is nothing. On Windows a new file has them from its folder.
func (out *output) keeps() fs.FileInfo {
	if out.info == nil || out.info.IsDir() != out.Target.Folder || runtime.GOOS == "windows" {
		return nil
	}
	return out.info
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

// holdsParts reports whether the folder at path is an output under PartsMark, perhaps with other files in it.
func holdsParts(path string) bool {
	if info, err := os.Lstat(filepath.Join(path, PartsMark.file())); err != nil || !info.Mode().IsRegular() || info.Size() > 0 {
		return false
	}
	entries, err := os.ReadDir(path)
	return err == nil && slices.ContainsFunc(entries, func(entry fs.DirEntry) bool { return partName().MatchString(entry.Name()) })
}

// FreeSpace returns how many bytes this user may still write to the file system that holds path, or would hold it once it is made.
// It fails with errors.ErrUnsupported where the system does not tell.
func FreeSpace(path string) (uint64, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return 0, err
	}
	for {
		free, err := freeSpace(path)
		parent := filepath.Dir(path)
		if !errors.Is(err, fs.ErrNotExist) || parent == path {
			return free, err
		}
		path = parent
	}
}

// refuseNames refuses a path with names that Windows cannot keep, or would change without a word: con.parquet is the console,
// "x.csv." becomes x.csv, and a:b writes to a hidden stream of the file a.
// See https://learn.microsoft.com/windows/win32/fileio/naming-a-file
func refuseNames(path string) error {
	names := strings.FieldsFunc(path[len(filepath.VolumeName(path)):], func(r rune) bool { return r < 0x80 && os.IsPathSeparator(byte(r)) })
	for i, name := range names {
		better, reason := windowsName(name)
		device := i == len(names)-1 && !strings.Contains(name, ".") && isDevice().MatchString(name) // NUL is written to, as /dev/null is
		if reason == "" || device {
			continue
		}
		return refusal(path, fmt.Sprintf("Windows cannot keep the name %q: %s", name, reason), "choose another name, such as "+shell.Path(better))
	}
	return nil
}

// windowsName returns a name that Windows can give a file in place of name, and what is wrong with name; "" if nothing is.
func windowsName(name string) (better, reason string) {
	if name == "." || name == ".." {
		return name, ""
	}
	i := strings.IndexFunc(name, wrongOnWindows)
	better = strings.TrimRight(strings.Map(func(r rune) rune {
		if wrongOnWindows(r) {
			return '_'
		}
		return r
	}, name), ". ")
	if better == "" || isDevice().MatchString(better) {
		better = "_" + better
	}
	long := utf16.Encode([]rune(better)) // Windows counts in these
	if len(long) > maxName {
		ending := filepath.Ext(better)
		ending = ending[:min(len(ending), shownOfLong)]
		better = string(utf16.Decode(long[:maxName-len(ending)])) + ending
	}
	switch {
	case i >= 0:
		reason = fmt.Sprintf("it has a %q", name[i:i+1])
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		reason = "it ends with a dot or space"
	case len(long) > maxName:
		reason = fmt.Sprintf("it is longer than %d", maxName)
	case better != name:
		reason = "it is a device"
	}
	return better, reason
}

func wrongOnWindows(r rune) bool { return r < ' ' || strings.ContainsRune(`<>:"|?*`, r) }

// isDevice matches the names that some version of Windows takes for devices, in any folder and with any ending.
var isDevice = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\..*)?$`)
})
