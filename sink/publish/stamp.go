package publish

import (
	"encoding/binary"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/idxport/idxport/fault"
)

// UpToDate reports whether the file or folder at path was published with this Target.Key and has
// not changed since.
//
// Commit records that in the name of an up-to-date stamp, a hidden file beside the output:
//
//	.<base>.idxport-<16 hex>-<16 hex>.made
//
// The first digits are the key, the others the fingerprint of the published output. The file is
// empty because programs that read whole folders would read its content as data.
func UpToDate(path, key string) (bool, error) {
	p, err := locate(path)
	if err != nil || p.info == nil || p.direct {
		return false, Failure(path, "resolving it", err)
	}
	dir, base := filepath.Split(p.path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, Failure(path, "listing its folder", err)
	}
	for _, entry := range entries {
		suffix, digits := parseHidden(entry.Name(), base)
		if recorded, ok := strings.CutPrefix(digits, key+"-"); ok && suffix == stampSuffix {
			found, err := Fingerprint(p.path)
			return err == nil && found == recorded, Failure(path, "reading it", err)
		}
	}
	return false, nil
}

// writeStamp makes the up-to-date stamp of a published output, if it has a key, and removes older
// stamps. It ignores errors: without a stamp the next run only repeats the work.
func writeStamp(d disk, out *output) {
	dir, base := filepath.Split(out.path)
	entries, err := d.readDir(dir)
	stamp := ""
	if err == nil && out.Key != "" {
		var print string
		print, err = Fingerprint(out.path)
		stamp = out.beside(hiddenInfix + out.Key + "-" + print + stampSuffix)
	}
	if err != nil {
		return
	}
	for _, entry := range entries {
		if suffix, _ := parseHidden(entry.Name(), base); suffix == stampSuffix && dir+entry.Name() != stamp {
			_ = d.remove(dir + entry.Name())
		}
	}
	if stamp == "" {
		return
	}
	if f, err := d.createFile(stamp, nil); err == nil {
		_ = f.Close()
	}
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
