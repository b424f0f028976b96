package source

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
)

// A File is an open input: an *os.File, an object in a bucket, or a file on a web server.
type File interface {
	fs.File
	io.ReaderAt
	io.Seeker
}

// Files opens inputs by the names that users give.
type Files interface {
	Open(name string) (File, error)
	Stat(name string) (fs.FileInfo, error)
	// ReadDir lists a folder, sorted by name; if limit > 0, only some entries, at most limit.
	ReadDir(name string, limit int) ([]fs.DirEntry, error)
}

// Local opens the files of this machine.
type Local struct{}

// Open opens a file or folder. Reads fail with fault.Changed once it is not as it was when it was
// opened: the data may be of two versions. Its method ETag returns what differs between versions.
func (l Local) Open(name string) (File, error) {
	if _, err := l.Stat(name); err != nil { // opening a pipe would wait for its writer
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &local{f, opened}, nil
}

type local struct {
	File
	opened fs.FileInfo
}

func (l *local) ETag() string { return fmt.Sprint(l.opened.Size(), l.opened.ModTime().UnixNano()) }

func (l *local) Read(p []byte) (int, error)             { return l.checked(l.File.Read(p)) }
func (l *local) ReadAt(p []byte, at int64) (int, error) { return l.checked(l.File.ReadAt(p, at)) }

func (l *local) checked(n int, err error) (int, error) {
	now, statErr := l.Stat()
	if statErr == nil && (now.Size() != l.opened.Size() || !now.ModTime().Equal(l.opened.ModTime())) {
		return 0, fault.ChangedIn("")
	}
	return n, err
}

// Stat describes a file or folder. A pipe is an error, as most inputs are opened several times.
func (Local) Stat(name string) (fs.FileInfo, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, fault.New(fault.Usage, "found a pipe or a device, expected a file or - for standard input").
			In(name).WithHint("save it in a file; IDX and Arrow may also come by | idxport convert - -o OUT")
	}
	return info, err
}

// ReadDir lists a folder.
func (Local) ReadDir(name string, limit int) ([]fs.DirEntry, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read-only: an error does not matter
	entries, err := f.ReadDir(limit)
	if err == io.EOF {
		err = nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// OpenFile opens a file in files, which may be nil for Local, and returns what read returns for it.
// If read fails, its error gets the name, and the file is closed. The error for a folder says what
// was expected instead, such as "a CSV file".
func OpenFile[T any](files Files, name, expected string, read func(File, fs.FileInfo) (T, error)) (t T, err error) {
	f, err := cmp.Or[Files](files, Local{}).Open(name)
	if err != nil {
		return t, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "read", Path: name, Err: errors.New("is a folder, expected " + expected)}
	} else if err == nil {
		t, err = read(f, info)
		err = fault.In(name, err)
	}
	if err != nil {
		err = errors.Join(err, f.Close())
	}
	return t, err
}

// CheckAlone refuses a file that begins so at byte at, after one that ends so, as cat joins them:
// its footer counts from its own beginning, so that the other would be read in its place.
func CheckAlone(r io.ReaderAt, end, begin string, at int64) error {
	seam := make([]byte, len(end+begin))
	if at <= int64(len(end)) {
		return nil
	} else if _, err := r.ReadAt(seam, at-int64(len(end))); err != nil || string(seam) != end+begin {
		return err
	}
	return fault.New(fault.Malformed, "found a second file, appended to the first one").At(at).
		WithHint("take them apart, into files of the same extension: "+
			"head -c %d FILE > first; tail -c +%d FILE > second", at, at+1)
}

var hidden = text.Pattern(`^\.|^(__MACOSX|lost\+found|@eaDir|[#@][rR]ecycle|\$RECYCLE\.BIN|System Volume Information)$`)

// IsHidden reports whether a file or folder of this name is hidden or not the user's: macOS packs
// __MACOSX with others, and file systems, Windows, Synology and QNAP make the rest.
func IsHidden(name string) bool { return hidden().MatchString(name) }

// CompareNames compares names by the numbers in them: part-2 is before part-10.
func CompareNames(a, b string) int {
	leadingDigits := func(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }
	for a != "" && b != "" {
		m, n := leadingDigits(a), leadingDigits(b)
		if m == 0 || n == 0 {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		x, y := strings.TrimLeft(a[:m], "0"), strings.TrimLeft(b[:n], "0")
		if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y), cmp.Compare(m, n)); c != 0 {
			return c
		}
		a, b = a[m:], b[n:]
	}
	return cmp.Compare(len(a), len(b))
}

// Under joins the folder dir, which may be a URL, and the name of an entry. It keeps // in URLs,
// and "..", but on Windows: after a symbolic link, that is the parent of what the link leads to.
func Under(dir, name string) string {
	if text.IsURL(dir) || strings.Contains(dir, "..") && filepath.Separator == '/' {
		return strings.TrimSuffix(dir, "/") + "/" + name
	}
	return filepath.Join(dir, name)
}

// Above returns the folder of the file name, which may be a URL.
func Above(name string) string {
	if text.IsURL(name) {
		return name[:strings.LastIndexByte(name, '/')+1]
	}
	return filepath.Dir(name)
}

// Base returns the last element of name, which may be a URL. In URLs of web servers it decodes
// percent-encoding, unless a file cannot have the decoded name.
func Base(name string) string {
	if !text.IsURL(name) {
		return filepath.Base(name)
	}
	base := name[strings.LastIndexByte(name, '/')+1:]
	unsafe := func(r rune) bool { return r == '/' || r == '\\' || unicode.IsControl(r) }
	plain, err := url.PathUnescape(base)
	if err == nil && strings.HasPrefix(name, "http") && !strings.ContainsFunc(plain, unsafe) {
		return plain
	}
	return base
}
