package publish

import (
	"encoding/binary"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
)

// What an output was made of is told by an empty hidden file beside it, whose name is all it has to say, as readers of a folder take files with anything
// in them for data:
//
//	.<base>.idxport-<16 hex>-<16 hex>.made
//
// The first digits are Target.Key, the others the fingerprint of the output: it counts only while the output is what was published.
const madeSuffix = ".made"

// IsMade tells whether what stands at path was made under key and is as it was published: see Target.Key.
func IsMade(path, key string) (bool, error) {
	at, err := locate(path)
	if err != nil || at.info == nil || at.direct {
		return false, failure(path, "resolving it", err)
	}
	dir, base := filepath.Split(at.path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, failure(path, "listing its folder", err)
	}
	i := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(digitsOf(e.Name(), base, madeSuffix), key+"-") })
	if i < 0 {
		return false, nil
	}
	print, err := Fingerprint(at.path)
	return entries[i].Name() == madeName(base, key, print), failure(path, "reading it", err)
}

// madeName is the name that tells what the output base was made of.
func madeName(base, key, print string) string {
	return Hidden(base, hiddenInfix+key+"-"+print+madeSuffix)
}

// tellMade leaves the files that tell what the outputs were made of, and removes those that told it of what was there before. What fails costs no more
// than a run that need not have been.
func (s *Set) tellMade() {
	for _, out := range s.outputs {
		if out.direct {
			continue
		}
		dir, base := filepath.Split(out.path)
		entries, err := s.disk.readDir(dir)
		if err != nil {
			continue
		}
		name := ""
		if out.Key != "" {
			print, err := Fingerprint(out.path)
			if err != nil {
				continue
			}
			name = madeName(base, out.Key, print)
		}
		for _, entry := range entries {
			if isMadeName(entry.Name(), base) && entry.Name() != name {
				_ = s.disk.remove(dir + entry.Name())
			}
		}
		if name == "" {
			continue
		}
		if f, err := s.disk.createFile(dir+name, nil); err == nil {
			_ = f.Close()
		}
	}
}

// isMadeName tells whether name tells what the output base was made of.
func isMadeName(name, base string) bool {
	digits := digitsOf(name, base, madeSuffix)
	return len(digits) == 2*hiddenDigits+1 && digits[hiddenDigits] == '-'
}

// Fingerprint is a hash, of 16 hexadecimal digits, over the content of the file at path, or over the names and contents of all files in a folder.
func Fingerprint(path string) (string, error) {
	h := xxh3.New()
	err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(path, name)
		if err != nil {
			return err
		}
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		head := binary.BigEndian.AppendUint64([]byte(filepath.ToSlash(relative)+"\x00"), uint64(info.Size()))
		_, _ = h.Write(head) // a hash takes everything
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close() // only read from
		_, err = io.Copy(h, f)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}
