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

	"github.com/idxport/idxport/fault"
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

// list calls see for each file and folder in the folder at path, with its path in that folder and
// its term, or 0 for what idxport never makes, such as links.
func list(path string, see func(name string, term listing)) error {
	return filepath.WalkDir(path, func(full string, entry fs.DirEntry, err error) error {
		if err != nil || full == path {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(full[len(path):], string(filepath.Separator)))
		switch {
		case info.Mode().IsRegular():
			see(name, term(name, info.Size()))
		case info.IsDir():
			see(name, term(name+"/", 0))
		default:
			see(name, 0)
		}
		return nil
	})
}

// Fingerprint returns a hash, as 16 hexadecimal digits, of the content of the file at path, or of
// the names and contents of all files in the folder at path. Links are followed.
func Fingerprint(path string) (string, error) {
	h := xxh3.New()
	err := hashTree(h, path, ".", 0)
	return hex.EncodeToString(h.Sum(nil)), err
}

// maxLinkedFolders is how many links to folders a path may contain: a link may lead to a folder
// above it.
const maxLinkedFolders = 3

// hashTree adds the file or folder at full to h; name is its path in the whole, and links is the
// number of links to folders above it.
func hashTree(h *xxh3.Hasher, full, name string, links int) error {
	f, err := os.Open(full)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.IsDir() {
		_, _ = h.WriteString(name + "\x00")
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(info.Size())))
		_, err = io.Copy(h, f)
		return err
	}
	if _, err := os.Readlink(full); err == nil {
		if links++; links > maxLinkedFolders {
			return fault.New(fault.IO, "found a link in more than %d linked folders", maxLinkedFolders).In(full)
		}
	}
	entries, err := os.ReadDir(full)
	for _, entry := range entries {
		if err == nil {
			err = hashTree(h, filepath.Join(full, entry.Name()), path.Join(name, entry.Name()), links)
		}
	}
	return err
}
