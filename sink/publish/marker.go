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

// The up-to-date marker of an output tells what it was made of. It is an empty hidden file beside it, whose name is all it has to say, as readers of a folder take files with anything
// in them for data:
//
//	.<base>.idxport-<16 hex>-<16 hex>.made
//
// The first digits are Target.Key, the others the fingerprint of the output: it counts only while the output is what was published.
const markerSuffix = ".made"

// UpToDate reports whether what stands at path was made under key and is as it was published: see Target.Key.
func UpToDate(path, key string) (bool, error) {
	at, err := locate(path)
	if err != nil || at.info == nil || at.direct {
		return false, failure(path, "resolving it", err)
	}
	dir, base := filepath.Split(at.path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, failure(path, "listing its folder", err)
	}
	i := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(digitsOf(e.Name(), base, markerSuffix), key+"-") })
	if i < 0 {
		return false, nil
	}
	print, err := Fingerprint(at.path)
	return entries[i].Name() == markerName(base, key, print), failure(path, "reading it", err)
}

// markerName is the name of the up-to-date marker of the output base.
func markerName(base, key, print string) string {
	return Hidden(base, hiddenInfix+key+"-"+print+markerSuffix)
}

// isMarker reports whether name is that of an up-to-date marker of the output base.
func isMarker(name, base string) bool {
	digits := digitsOf(name, base, markerSuffix)
	return len(digits) == 2*hiddenDigits+1 && digits[hiddenDigits] == '-'
}

// markUpToDate leaves the up-to-date marker of a published output, if it has a key, and removes those of what was there before. What fails costs no more
// than a run that need not have been.
func markUpToDate(d disk, out *output) {
	dir, base := filepath.Split(out.path)
	entries, err := d.readDir(dir)
	name := ""
	if err == nil && out.Key != "" {
		var print string
		print, err = Fingerprint(out.path)
		name = markerName(base, out.Key, print)
	}
	if err != nil {
		return
	}
	for _, entry := range entries {
		if isMarker(entry.Name(), base) && entry.Name() != name {
			_ = d.remove(dir + entry.Name())
		}
	}
	if name == "" {
		return
	}
	if f, err := d.createFile(dir+name, nil); err == nil {
		_ = f.Close()
	}
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
