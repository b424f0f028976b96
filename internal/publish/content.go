package publish

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/idxport/idxport/internal/fault"
)

// A listing is a hash of the names and sizes of all files in a folder, and of the names of its
// folders. It is the sum of their terms, so that it does not depend on their order.
type listing uint64

func (l listing) String() string { return fmt.Sprintf("%016x", uint64(l)) }

// term returns the term of a file, by its path in the folder with slashes, or of a folder, whose
// path ends with one.
func term(path string, size int64) listing {
	var scratch [256]byte
	return listing(xxh3.Hash(strconv.AppendInt(append(append(scratch[:0], path...), 0), size, 10)))
}

// list returns the listing of the folder at path.
func list(path string) (total listing, err error) {
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
		total += term(name, size)
		return nil
	})
	return total, err
}

// Fingerprint returns a hash, as 16 hexadecimal digits, of the content of the file at path, or of
// the names and contents of all files in the folder at path. Links are followed.
func Fingerprint(path string) (string, error) {
	h := xxh3.New()
	err := hashTree(h, path, ".", 0)
	return hex.EncodeToString(h.Sum(nil)), err
}

// maxDepth limits the folders in one another: a link may lead to a folder above it.
const maxDepth = 8

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
		_, _ = h.WriteString(name + "\x00")
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(info.Size())))
		_, err = io.Copy(h, f)
		return err
	case depth == maxDepth:
		return fault.New(fault.IO, "found more than %d folders in one another, perhaps by a link", maxDepth).In(full)
	}
	entries, err := os.ReadDir(full)
	for _, entry := range entries {
		if err == nil {
			err = hashTree(h, filepath.Join(full, entry.Name()), path.Join(name, entry.Name()), depth+1)
		}
	}
	return err
}
