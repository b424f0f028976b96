package publish

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
)

// A Mark is how a folder shows that it is whole and whose it is; see the package comment.
type Mark int

const (
	// ManifestMark is the file _manifest.json.
	ManifestMark Mark = iota
	// PartsMark is the empty file _SUCCESS beside parts whose names end with a hash. A stream
	// called part-00000.parquet becomes part-00000-0123456789abcdef.parquet.
	PartsMark
	// CardMark is README.md, with the text that [Folder.SetCard] gave. Streams are shards:
	// train-00000.parquet becomes train-00000-of-00002.parquet if train-00001.parquet is in the
	// same class.
	CardMark
)

// file is the name of the file that is the mark.
func (m Mark) file() string { return [...]string{"_manifest.json", "_SUCCESS", "README.md"}[m] }

// The manifest in a card lies between these.
const (
	cardBegin = "<!-- "
	cardEnd   = " -->\n"
)

// text is what the file that is the mark holds. The manifest has no value that could fail to
// encode.
func (m Mark) text(made *manifest, card []byte) []byte {
	switch m {
	case PartsMark:
		return nil
	case CardMark:
		digest := sha256.Sum256(card)
		made.Card = hex.EncodeToString(digest[:])
		line, _ := json.Marshal(made)
		return slices.Concat(card, []byte(cardBegin), line, []byte(cardEnd))
	}
	text, _ := json.MarshalIndent(made, "", "  ")
	return append(text, '\n')
}

// manifestIn finds the manifest in text, which a file that is the mark holds.
func (m Mark) manifestIn(text []byte) (*manifest, error) {
	at, end := 0, len(text)
	if m == CardMark {
		at, end = bytes.LastIndex(text, []byte(cardBegin)), len(text)-len(cardEnd)
		if at < 0 || !bytes.HasSuffix(text[at+len(cardBegin):], []byte(cardEnd)) {
			return nil, errors.New("not a card of ours")
		}
	}
	made, card := new(manifest), text[:at]
	if m == CardMark {
		at += len(cardBegin)
	}
	if err := json.Unmarshal(text[at:end], made); err != nil {
		return nil, err
	}
	digest := sha256.Sum256(card)
	switch {
	case made.Format != manifestFormat:
		return nil, errors.New("not a manifest of ours")
	case made.Version < 1 || made.Version > manifestVersion:
		return nil, fmt.Errorf("manifest of version %d, want 1 to %d", made.Version, manifestVersion)
	case m == CardMark && hex.EncodeToString(digest[:]) != made.Card:
		return nil, errors.New("it was edited")
	}
	return made, nil
}

// The manifest of a published folder; see the package comment.
const (
	manifestFormat  = "idxport-folder"
	manifestVersion = 2
)

type manifest struct {
	Format  string                 `json:"format"`
	Version int                    `json:"version"`
	Files   int64                  `json:"files"`
	Bytes   int64                  `json:"bytes"`
	Content sum                    `json:"content"`
	Classes map[string]classRecord `json:"classes"`        // by folder; encoding/json sorts them
	Card    string                 `json:"card,omitempty"` // SHA-256 of a card's text before its manifest
}

type classRecord struct {
	Files int64 `json:"files"`
	Names sum   `json:"names"`
}

// A sum is an integer modulo 2^256, big-endian: sums of digests do not depend on the order of
// files.
type sum [sha256.Size]byte

func (s *sum) add(t sum) {
	carry := 0
	for i := len(s) - 1; i >= 0; i-- {
		carry += int(s[i]) + int(t[i])
		s[i] = byte(carry)
		carry >>= 8
	}
}

// MarshalText returns 64 hexadecimal digits.
func (s sum) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, s[:]), nil }

// UnmarshalText is MarshalText's inverse.
func (s *sum) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(s)) {
		return fmt.Errorf("hash of %d bytes, want %d", len(text)/2, len(s))
	}
	_, err := hex.Decode(s[:], text)
	return err
}

// contentTerm is the term of a file whose content has the SHA-256 digest content. There are 60,000
// files: nothing is allocated for names of a usual length.
func contentTerm(class, name string, content []byte) sum {
	var scratch [256]byte
	term := append(scratch[:0], class...)
	term = append(term, '/')
	term = append(term, name...)
	term = append(term, 0)
	return sha256.Sum256(append(term, content...))
}

func nameTerm(name string) sum { return sha256.Sum256([]byte(name)) }

// A tally is what a class folder adds to the manifest.
type tally struct {
	files, bytes   int64
	content, names sum
}

func (t *tally) add(size int64, content, name sum) {
	t.files++
	t.bytes += size
	t.content.add(content)
	t.names.add(name)
}

func newManifest(tallies map[string]tally) *manifest {
	m := &manifest{Format: manifestFormat, Version: manifestVersion, Classes: map[string]classRecord{}}
	for class, t := range tallies {
		m.Files += t.files
		m.Bytes += t.bytes
		m.Content.add(t.content)
		m.Classes[class] = classRecord{Files: t.files, Names: t.names}
	}
	return m
}

// maxManifest bounds what is read of a file that only claims to be a manifest, in bytes; a class
// folder takes about 110.
const maxManifest = 64 << 20

const foreignHint = "remove the folder yourself, or name a new one"

// refuseForeign fails with fault.Refused, and says why, unless the folder at path, which is or was
// the target shown, is an earlier output and holds nothing else. Contents are not read.
func (m Mark) refuseForeign(d disk, shown, path string) error {
	if m == PartsMark {
		return refuseForeignParts(d, shown, path)
	}
	text, err := readMark(d, filepath.Join(path, m.file()))
	if errors.Is(err, fs.ErrNotExist) {
		return refusal(shown, "it has no "+m.file()+", so it is no output of idxport", foreignHint)
	}
	if err != nil {
		return Failure(shown, "reading its "+m.file(), err)
	}
	made, err := m.manifestIn(text)
	if err != nil {
		return refusal(shown, m.file()+": "+err.Error(), foreignHint)
	}
	reason, err := made.difference(d, path, ".", m.file())
	if reason != "" {
		return refusal(shown, reason, "move it away, or name a new folder")
	}
	return Failure(shown, "listing it", err)
}

// readMark reads a file that may be a mark. What is no file is none of ours, and reads as nothing.
func readMark(d disk, path string) ([]byte, error) {
	info, err := d.lstat(path)
	if err == nil && info == nil {
		err = fs.ErrNotExist
	}
	if err != nil || !info.Mode().IsRegular() {
		return nil, err
	}
	return get(d, "open", path, func() ([]byte, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return io.ReadAll(io.LimitReader(f, maxManifest))
	})
}

// difference says how the listing of a class of the folder at path, less its mark, differs from the
// manifest; "" if it does not. Class "." is the folder itself, with all classes.
func (m *manifest) difference(d disk, path, class, mark string) (string, error) {
	entries, err := d.readDir(filepath.Join(path, class))
	if err != nil {
		return "", err
	}
	var files []string
	folders := 0
	for _, entry := range entries {
		name, top := entry.Name(), class == "."
		_, known := m.Classes[name]
		switch {
		case top && entry.Type().IsRegular() && name == mark:
		case entry.Type().IsRegular():
			files = append(files, name)
		case top && entry.IsDir() && known:
			folders++
			if reason, err := m.difference(d, path, name, mark); reason != "" || err != nil {
				return reason, err
			}
		default:
			return fmt.Sprintf("it holds %s, which is not in its manifest", filepath.Join(class, name)), nil
		}
	}
	if reason := m.Classes[class].compare(class, files); reason != "" || class != "." {
		return reason, nil
	}
	delete(m.Classes, ".")
	if folders != len(m.Classes) {
		return fmt.Sprintf("it holds %d of the %d class folders in its manifest", folders, len(m.Classes)), nil
	}
	return "", nil
}

// compare says how the files of a class differ from its record. The record has only a sum, but a
// single file too many is the one whose term is the difference.
func (record classRecord) compare(class string, files []string) string {
	var names sum
	for _, name := range files {
		names.add(nameTerm(name))
	}
	if int64(len(files)) == record.Files && names == record.Names {
		return ""
	}
	for _, name := range files {
		with := record.Names
		with.add(nameTerm(name))
		if with == names && int64(len(files)) > record.Files {
			return fmt.Sprintf("it holds %s, which is not in its manifest", filepath.Join(class, name))
		}
	}
	return fmt.Sprintf("folder %s holds %d files, which are not the %d in its manifest", class, len(files), record.Files)
}

// partName matches the name of a part as published; its groups are the number, the hash and the
// extensions. Parts of a plan have the beginning of its ID for a hash, and are counted over all its
// targets.
var partName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^part-(\d{5,})-([0-9a-f]{8}|[0-9a-f]{16})(\.[a-z]+(?:\.[a-z]+)?)$`)
})

// planDigits is how many digits of the ID of a plan the names of its parts have.
const planDigits = 8

// refuseForeignParts is refuseForeign for PartsMark: the names of the parts are the manifest.
func refuseForeignParts(d disk, shown, path string) error {
	entries, err := d.readDir(path)
	if err != nil {
		return Failure(shown, "listing it", err)
	}
	foreign := func(name string) error {
		return refusal(shown, fmt.Sprintf("it holds %s, which is no part of an output of idxport", name), foreignHint)
	}
	whole, parts, first, plan, ext := false, 0, 0, "", ""
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			return Failure(shown, "listing it", err)
		}
		name := entry.Name()
		match := partName().FindStringSubmatch(name)
		switch {
		case !info.Mode().IsRegular():
			return foreign(name)
		case name == PartsMark.file() && info.Size() == 0:
			whole = true
			continue
		case match == nil:
			return foreign(name)
		}
		number, id := match[1], match[2]
		if len(id) != planDigits { // but a hash of its own
			id = ""
		}
		if parts == 0 {
			plan, ext = id, match[3]
			if plan != "" {
				first, _ = strconv.Atoi(number) // else no number is the one that is expected
			}
		}
		if id != plan || match[3] != ext || number != fmt.Sprintf("%05d", first+parts) {
			return foreign(name)
		}
		parts++
	}
	if !whole {
		return refusal(shown, "it has no "+PartsMark.file()+", so it is no output of idxport", foreignHint)
	}
	return nil
}
