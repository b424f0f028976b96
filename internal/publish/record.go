package publish

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/idxport/idxport/fault"
)

// A listing is a hash of the names and sizes of all files in a folder, and of the names of its
// folders. It is a sum, so that it does not depend on their order.
type listing uint64

// add adds a file, by its path in the folder with slashes, or a folder, whose path ends with one.
// It returns what it added.
func (l *listing) add(path string, size int64) listing {
	var scratch [256]byte
	text := strconv.AppendInt(append(append(scratch[:0], path...), 0), size, 10)
	term := listing(xxh3.Hash(text))
	*l += term
	return term
}

func (l listing) String() string { return fmt.Sprintf("%016x", uint64(l)) }

// addFolder adds what the folder at path holds; prefix is its path in the whole folder. It calls
// see for each file and folder, with what it added, or with 0 for what idxport never makes, such
// as links.
func (l *listing) addFolder(d disk, path, prefix string, see func(name string, term listing)) error {
	entries, err := d.readDir(path)
	for _, entry := range entries {
		name := prefix + entry.Name()
		info, infoErr := entry.Info()
		switch {
		case err != nil || infoErr != nil:
			return cmp.Or(err, infoErr)
		case info.Mode().IsRegular():
			see(name, l.add(name, info.Size()))
		case info.IsDir():
			see(name, l.add(name+"/", 0))
			err = l.addFolder(d, filepath.Join(path, entry.Name()), name+"/", see)
		default:
			see(name, 0)
		}
	}
	return err
}

// refuseForeign fails with fault.Refused unless the folder at path, which is the target at p or was
// moved from there, is an earlier output and holds nothing else: its listing is that of a record.
// Messages call the target shown.
func refuseForeign(d disk, p place, shown, path string) error {
	records, err := p.siblings(d)
	records = slices.DeleteFunc(records, func(h sibling) bool { return h.suffix != recordSuffix })
	if err == nil && len(records) == 0 {
		return refusal(shown, "there is no record that idxport made it",
			"delete it or name a new folder: an earlier version may have made it, or it was moved or copied without its record")
	}
	var found listing
	odd := ""
	if err == nil {
		err = found.addFolder(d, path, "", func(name string, term listing) {
			if term == 0 && odd == "" {
				odd = name
			}
		})
	}
	for _, h := range records {
		if err == nil && odd == "" && h.numbers[0] == found.String() {
			return nil
		}
	}
	// If there is one file more than recorded, its term is the difference.
	for _, h := range records {
		recorded, _ := strconv.ParseUint(h.numbers[0], 16, 64) // it has 16 digits
		_ = new(listing).addFolder(d, path, "", func(name string, term listing) {
			if found-term == listing(recorded) && odd == "" {
				odd = name
			}
		})
	}
	const hint = "move it away, or name a new folder"
	switch {
	case err != nil:
		return Failure(shown, "listing it", err)
	case odd != "":
		return refusal(shown, "it holds "+odd+", which idxport did not write", hint)
	}
	return refusal(shown, "files were added to it, removed or changed since idxport wrote it", hint)
}

// UpToDate reports whether the file or folder at path was published with this Target.Key and has
// not changed since.
func UpToDate(path, key string) (bool, error) {
	p, err := locate(path)
	if err != nil || p.info == nil || p.direct {
		return false, Failure(path, "resolving it", err)
	}
	found, err := p.siblings(disk{})
	if err != nil {
		return false, Failure(path, "listing its folder", err)
	}
	for _, h := range found {
		if h.suffix == recordSuffix && h.numbers[1] == key {
			print, err := Fingerprint(p.path)
			if err != nil || print == h.numbers[2] {
				return err == nil, Failure(path, "reading it", err)
			}
		}
	}
	return false, nil
}

// Fingerprint returns a hash, as 16 hexadecimal digits, of the content of the file at path, or of
// the names and contents of all files in the folder at path. Links are followed.
func Fingerprint(path string) (string, error) {
	h := xxh3.New()
	err := hashTree(h, path, maxLinkedFolders)
	return hex.EncodeToString(h.Sum(nil)), err
}

// maxLinkedFolders is how many links to folders a path may contain: a link may lead to a folder
// above it.
const maxLinkedFolders = 3

func hashTree(h *xxh3.Hasher, path string, links int) error {
	return filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(path, name)
		if err != nil {
			return err
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		_, _ = h.WriteString(filepath.ToSlash(relative) + "\x00")
		switch {
		case info.IsDir() && links == 0:
			return fault.New(fault.IO, "found a link in more than %d linked folders", maxLinkedFolders).In(name)
		case info.IsDir():
			target, err := filepath.EvalSymlinks(name) // WalkDir does not follow a link
			if err != nil {
				return err
			}
			return hashTree(h, target, links-1)
		}
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(info.Size())))
		_, err = io.Copy(h, f)
		return err
	})
}
