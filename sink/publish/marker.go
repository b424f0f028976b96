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
)

// UpToDate reports whether what stands at path was made under key, and is as it was published.
//
// That is told by an up-to-date marker. It is an empty hidden file beside the output, whose name is
// all it has to say, as readers of a folder take files with anything in them for data:
//
//	.<base>.idxport-<16 hex>-<16 hex>.made
//
// The first digits are Target.Key, the others the fingerprint of the output: the marker counts only
// while the output is what was published.
func UpToDate(path, key string) (bool, error) {
	at, err := locate(path)
	if err != nil || at.info == nil || at.direct {
		return false, Failure(path, "resolving it", err)
	}
	dir, base := filepath.Split(at.path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, Failure(path, "listing its folder", err)
	}
	for _, entry := range entries {
		suffix, digits := parseHidden(entry.Name(), base)
		if print, ok := strings.CutPrefix(digits, key+"-"); ok && suffix == markerSuffix {
			found, err := Fingerprint(at.path)
			return err == nil && found == print, Failure(path, "reading it", err)
		}
	}
	return false, nil
}

// markUpToDate leaves the up-to-date marker of a published output, if it has a key, and removes
// those of what was there before. What fails costs no more than a run that need not have been.
func markUpToDate(d disk, out *output) {
	dir, base := filepath.Split(out.path)
	entries, err := d.readDir(dir)
	marker := ""
	if err == nil && out.Key != "" {
		var print string
		print, err = Fingerprint(out.path)
		marker = out.beside(hiddenInfix + out.Key + "-" + print + markerSuffix)
	}
	if err != nil {
		return
	}
	for _, entry := range entries {
		if suffix, _ := parseHidden(entry.Name(), base); suffix == markerSuffix && dir+entry.Name() != marker {
			_ = d.remove(dir + entry.Name())
		}
	}
	if marker == "" {
		return
	}
	if f, err := d.createFile(marker, nil); err == nil {
		_ = f.Close()
	}
}

// Fingerprint is a hash, of 16 hexadecimal digits, over the content of the file at path, or over
// the names and contents of all files in a folder.
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
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close() // only read from
		info, err := f.Stat()
		if err != nil {
			return err
		}
		_, _ = h.WriteString(filepath.ToSlash(relative) + "\x00") // a hash takes everything
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(info.Size())))
		_, err = io.Copy(h, f)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}
