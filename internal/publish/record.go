package publish

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/idxport/idxport/internal/fault"
)

// refuseForeign fails with fault.Refused unless the folder at path, an occupied target or what was
// moved from there, is an earlier output and holds nothing else: its listing is that of a record.
func (out *output) refuseForeign(d disk, path string) error {
	records, _, err := out.siblings(d)
	found, listErr := resultOn(d, "list", list, path)
	recorded := slices.ContainsFunc(records, func(r record) bool { return r.listing == digits(found) })
	if err = cmp.Or(err, listErr); err == nil && !recorded {
		why := "files in it were added, removed or changed since idxport made it"
		if records == nil {
			why = "idxport has no record of it, a hidden file beside it"
		}
		err = refusal(why, "move away what you need and delete it, or name a new folder")
	}
	return failure(out.target.Path, "listing it", err)
}

// digits returns a hash as text.
func digits(hash uint64) string { return fmt.Sprintf("%016x", hash) }

// term returns the term in a listing of a file, by its path in the folder with slashes, or of a
// folder, whose path ends with one.
func term(path string, size int64) uint64 {
	var scratch [256]byte
	return xxh3.Hash(strconv.AppendInt(append(append(scratch[:0], path...), 0), size, 10))
}

// list returns the listing of the folder at path: a hash of the names and sizes of all files in it,
// and of the names of its folders. It is the sum of their terms, whatever their order.
func list(path string) (listing uint64, err error) {
	err = filepath.WalkDir(path, func(full string, entry fs.DirEntry, err error) error {
		if err != nil || full == path {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, size := filepath.ToSlash(strings.TrimPrefix(full[len(path):], string(filepath.Separator))), info.Size()
		switch {
		case info.IsDir():
			name, size = name+"/", 0
		case !info.Mode().IsRegular(): // idxport never makes links: no file has this name
			name += "//"
		}
		listing += term(name, size)
		return nil
	})
	return listing, err
}

// Fingerprint returns a hash, as 16 hexadecimal digits, of the content of the file at path, or of
// the names and contents of all files in the folder at path. Links are followed.
func Fingerprint(path string) (string, error) {
	h := xxh3.New()
	err := hashTree(h, path, ".", 0)
	return digits(h.Sum64()), err
}

// hashTree adds the file or folder at full to h; name is its path in the whole.
func hashTree(h *xxh3.Hasher, full, name string, depth int) error {
	f, err := os.Open(full)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		_, _ = h.Write(binary.BigEndian.AppendUint64([]byte(name+"\x00"), uint64(info.Size())))
		_, err = io.Copy(h, f)
		return err
	case depth == 8: // a link may lead to a folder above it
		return fault.New(fault.IO, "found more than 8 folders in one another, perhaps by a link").In(full)
	}
	entries, err := os.ReadDir(full)
	for i := 0; err == nil && i < len(entries); i++ {
		err = hashTree(h, filepath.Join(full, entries[i].Name()), path.Join(name, entries[i].Name()), depth+1)
	}
	return err
}
