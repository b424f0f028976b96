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
)

// A Target is one output.
type Target struct {
	Path   string
	Folder bool // a folder of files, published as one; otherwise a file
	Kind   Kind // of a folder
	// Key is 16 hexadecimal digits that identify the inputs and options of the output (see
	// [UpToDate]), or empty.
	Key string
}

// An output is the state of one target.
type output struct {
	target   Target
	real     string      // its path, absolute and without symbolic links; if direct, target.Path
	direct   bool        // a device, FIFO or socket; sockets are refused
	info     fs.FileInfo // of the existing file or folder, or nil
	occupied bool        // something exists there, other than an empty folder where a folder is to be published

	content interface { // a *File or *Folder
		create(partial string, mode fs.FileMode, inherited bool) error
		complete() error
		close() error
	}
	lock    *os.File // nil if the file system has no locks
	partial string   // the path that Discard removes, or ""
	record  string   // the path of a record that Discard removes, or ""
	stale   []string // what Commit deletes: records from before the run, and the replaced folder
}

// locate finds the place of a target.
func locate(t Target) (*output, error) {
	if runtime.GOOS == "windows" {
		if err := refuseNames(t.Path); err != nil {
			return nil, err
		}
	}
	followed, statErr := os.Stat(t.Path)
	const special = fs.ModeDevice | fs.ModeCharDevice | fs.ModeNamedPipe | fs.ModeSocket
	if statErr == nil && followed.Mode()&special != 0 {
		return &output{target: t, real: t.Path, info: followed, direct: true}, nil
	}
	out := &output{target: t}
	full, err := absolute(t.Path)
	if err == nil {
		out.real, err = follow(full)
	}
	if err == nil {
		out.info, err = system.lstat(out.real)
	}
	switch {
	case errors.Is(statErr, syscall.ELOOP):
		return nil, statErr
	case errors.Is(err, fs.ErrNotExist): // not even the root exists
		return nil, refusal(t.Path, "the current folder or the drive does not exist", "name an existing folder")
	case err == nil && statErr == nil && out.info == nil: // /dev/stdout may lead to a file that was deleted
		return nil, refusal(t.Path, "it leads to a file that has no name", "name a file")
	}
	return out, err
}

// absolute joins path to the current folder. Unlike filepath.Abs it keeps "..", except on Windows:
// after a symbolic link, ".." is the parent of the folder that the link leads to.
func absolute(path string) (string, error) {
	if runtime.GOOS == "windows" {
		return filepath.Abs(path)
	}
	if filepath.IsAbs(path) {
		return path, nil
	}
	work, err := os.Getwd()
	return work + string(filepath.Separator) + path, err
}

// follow resolves the symbolic links of a path whose last elements need not exist.
func follow(path string) (string, error) {
	for range 40 { // as many links as Linux follows: one to gone/../itself has no end
		real, err := filepath.EvalSymlinks(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return real, err
		}
		dir, base := filepath.Split(strings.TrimRight(path, string(filepath.Separator)))
		if dir == "" || base == "" {
			return "", fs.ErrNotExist
		}
		if dir, err = follow(dir); err != nil {
			return "", err
		}
		if _, err := os.Lstat(dir); err != nil && filepath.Dir(dir) == dir { // there is no such drive
			return "", fs.ErrNotExist
		}
		real = filepath.Join(dir, base)
		link, err := os.Readlink(real)
		if err != nil { // nothing exists there
			return real, nil
		}
		if path = link; !filepath.IsAbs(link) {
			path = dir + string(filepath.Separator) + link
		}
	}
	return "", syscall.ELOOP
}

// inspect looks at the target again.
func (out *output) inspect(d disk) (err error) {
	out.info, err = d.lstat(out.real)
	out.occupied = out.info != nil
	if out.occupied && out.target.Folder && out.info.IsDir() {
		var entries []fs.DirEntry
		entries, err = resultOn(d, "readDir", os.ReadDir, out.real)
		out.occupied = err != nil || len(entries) > 0
	}
	return failure(out.target.Path, "cannot check it", err)
}

// mode returns the permissions of the partial. They are inherited from an existing target, so that
// nobody can read the output who could not read the old one. On Windows new files have the
// permissions of their folder.
func (out *output) mode() (mode fs.FileMode, inherited bool) {
	switch inherited = out.info != nil && out.info.IsDir() == out.target.Folder && runtime.GOOS != "windows"; {
	case inherited && out.target.Folder: // its owner fills and deletes it
		mode = out.info.Mode()&(fs.ModePerm|fs.ModeSetgid|fs.ModeSticky) | 0o700
	case inherited:
		mode = out.info.Mode().Perm()
	case out.target.Folder:
		mode = 0o777
	default:
		mode = 0o666
	}
	return mode, inherited
}

// unstorable are the names that Windows cannot store, or silently changes: con.parquet is the
// console, "x.csv." becomes x.csv, and a:b writes to a hidden stream of the file a. See
// https://learn.microsoft.com/windows/win32/fileio/naming-a-file
var unstorable = regexp.MustCompile(
	`(?i)[\x00-\x1f<>:"|?*]|.{256}| $|[^.]\.+$|^\.{3,}$|^(con|prn|aux|nul|con(in|out)\$|(com|lpt)[0-9¹²³]) *(\..*)?$`)

// refuseNames refuses a path with a name that Windows cannot store. NUL may be the output, as
// /dev/null may.
func refuseNames(path string) error {
	names := strings.Split(filepath.ToSlash(path[len(filepath.VolumeName(path)):]), "/")
	for i, name := range names {
		if unstorable.MatchString(name) && !(i == len(names)-1 && strings.EqualFold(name, "nul")) {
			return refusal(path, fmt.Sprintf("Windows cannot store the name %q", name),
				`leave out <>:"|?*, dots and spaces at its end, devices, and more than 255 characters`)
		}
	}
	return nil
}
