package publish

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"unicode/utf16"
)

// A Target is one output.
type Target struct {
	Path   string
	Folder bool // a folder of files, published as one; otherwise a file
	Kind   Kind // of a folder
	// Key is 16 hexadecimal digits that identify the inputs and options of the output (see
	// [UpToDate]), or empty.
	Key string
	// MakeParents creates missing folders above the target. Discard removes them again if they are
	// still empty.
	MakeParents bool
}

// An output is the state of one target.
type output struct {
	target   Target
	real     string      // its path, absolute and without symbolic links; if direct, target.Path
	direct   bool        // a device, FIFO or socket; sockets are refused
	missing  []string    // the folders above it that do not exist, outermost first
	info     fs.FileInfo // of the existing file or folder, or nil
	occupied bool        // something exists there, other than an empty folder where a folder is to be published

	content interface { // a *File or *Folder
		create(partial string, mode fs.FileMode, inherited bool) error
		complete() error
		close() error
	}
	lock     *os.File // nil if the file system has no locks
	partial  string   // the path that Discard removes, or ""
	record   string   // the path of a record that Discard removes, or ""
	stale    []string // records from before the run
	replaced string   // path of the replaced folder, which is to be deleted
}

// maxLooks limits how often a target is looked at again because it was replaced meanwhile.
const maxLooks = 100

// locate finds the place of a target. A path such as /dev/stdout may lead to a file that was
// deleted, and so has no name; but if another program has just replaced the target, it is found at
// the next look.
func locate(t Target) (*output, error) {
	if runtime.GOOS == "windows" {
		if err := refuseNames(t.Path); err != nil {
			return nil, err
		}
	}
	for range maxLooks {
		followed, statErr := os.Stat(t.Path)
		const special = fs.ModeDevice | fs.ModeCharDevice | fs.ModeNamedPipe | fs.ModeSocket
		if statErr == nil && followed.Mode()&special != 0 {
			return &output{target: t, real: t.Path, info: followed, direct: true}, nil
		}
		out, err := resolve(t)
		switch {
		case errors.Is(statErr, syscall.ELOOP), errors.Is(err, syscall.ELOOP):
			return nil, refusal(t.Path, "its symbolic links form a loop", "remove the link, or choose another path")
		case err != nil || statErr != nil || out.info != nil && os.SameFile(followed, out.info):
			return out, err
		}
	}
	return nil, refusal(t.Path, "it leads to a file that has no name", "name a file")
}

// resolve finds the place of a target that is not direct.
func resolve(t Target) (*output, error) {
	out := &output{target: t}
	full, err := absolute(t.Path)
	if err == nil {
		out.real, out.missing, err = follow(full, maxLinks)
	}
	switch {
	case err == nil:
		out.info, err = disk(nil).lstat(out.real)
	case errors.Is(err, syscall.ENOTDIR):
		err = noParent(t.Path, "part of the path is a file, not a folder", "choose another path")
	case t.Path != "" && errors.Is(err, fs.ErrNotExist): // not even the root exists
		reason := "the current folder does not exist any more"
		hint := "change to a folder that exists, or give an absolute path"
		if drive := filepath.VolumeName(full); drive != "" {
			reason, hint = "there is no "+strings.ToUpper(drive)+string(filepath.Separator), "choose a drive that exists"
		}
		err = noParent(t.Path, reason, hint)
	}
	return out, err
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
// links. A link to gone/../itself, for example, has no end.
const maxLinks = 40

// follow resolves the symbolic links of a path whose last elements need not exist, and returns the
// missing folders above the last one.
func follow(path string, links int) (real string, missing []string, err error) {
	real, err = filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, nil, err
	}
	dir, base := filepath.Split(strings.TrimRight(path, string(filepath.Separator)))
	if dir == "" || base == "" {
		return "", nil, fs.ErrNotExist
	}
	if dir, missing, err = follow(dir, links); err != nil {
		return "", nil, err
	}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		if missing = append(missing, dir); filepath.Dir(dir) == dir { // not even the root exists
			return "", nil, fs.ErrNotExist
		}
	}
	real = filepath.Join(dir, base)
	link, err := os.Readlink(real)
	if err != nil {
		return real, missing, nil // nothing exists there
	}
	if !filepath.IsAbs(link) {
		link = dir + string(filepath.Separator) + link
	}
	if links == 0 {
		return "", nil, syscall.ELOOP
	}
	return follow(link, links-1)
}

// inspect looks at the target again. It is also called before the lock is taken: listing a folder
// that another run has just replaced fails with fs.ErrNotExist.
func (out *output) inspect(d disk) (err error) {
	if out.info, err = d.lstat(out.real); err != nil {
		return Failure(out.target.Path, "cannot check it", err)
	}
	out.occupied = out.info != nil
	if !out.occupied || !out.target.Folder || !out.info.IsDir() {
		return nil
	}
	entries, err := resultOn(d, "readDir", os.ReadDir, out.real)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	out.occupied = len(entries) > 0
	return Failure(out.target.Path, "listing it", err)
}

// mode returns the permissions of the partial. They are inherited from an existing target, so that
// nobody can read the output who could not read the old one. On Windows new files have the
// permissions of their folder.
func (out *output) mode() (mode fs.FileMode, inherited bool) {
	const fromFolder = fs.ModeSetgid | fs.ModeSticky // the group of new files, and who may delete files
	switch {
	case out.info != nil && out.info.IsDir() == out.target.Folder && runtime.GOOS != "windows":
		if out.target.Folder {
			return out.info.Mode()&(fs.ModePerm|fromFolder) | 0o700, true // its owner fills and deletes it
		}
		return out.info.Mode().Perm(), true
	case out.target.Folder:
		return 0o777, false
	}
	return 0o666, false
}

// refuseNames refuses a path with names that Windows cannot store, or silently changes: con.parquet
// is the console, "x.csv." becomes x.csv, and a:b writes to a hidden stream of the file a. See
// https://learn.microsoft.com/windows/win32/fileio/naming-a-file
func refuseNames(path string) error {
	names := strings.FieldsFunc(path[len(filepath.VolumeName(path)):], func(r rune) bool { return r == '/' || r == '\\' })
	for i, name := range names {
		reason := windowsReason(name)
		// A device such as NUL may be the output, as /dev/null may.
		isDevice := i == len(names)-1 && !strings.Contains(name, ".") && reason == deviceReason
		if reason != "" && !isDevice {
			return refusal(path, fmt.Sprintf("Windows cannot store the name %q: %s", name, reason), "choose another name")
		}
	}
	return nil
}

const deviceReason = "it is the name of a device"

// windowsReason returns why Windows cannot store the name, or "".
func windowsReason(name string) string {
	bad := strings.IndexFunc(name, func(r rune) bool { return r < ' ' || strings.ContainsRune(`<>:"|?*`, r) })
	// These are devices in some version of Windows, in any folder and with any extension.
	device, _ := regexp.MatchString(`(?i)^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\..*)?$`, name)
	switch {
	case name == "." || name == "..":
	case bad >= 0:
		return fmt.Sprintf("it has a %q", name[bad:bad+1])
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return "it ends with a dot or space"
	case len(utf16.Encode([]rune(name))) > maxName: // Windows counts UTF-16 code units
		return fmt.Sprintf("it is longer than %d characters", maxName)
	case device:
		return deviceReason
	}
	return ""
}
