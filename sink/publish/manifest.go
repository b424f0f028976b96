package publish

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Mark is how a folder shows that it is whole and whose it is; see the package comment.
type Mark int

const (
	// ManifestMark is the file _manifest.json.
	ManifestMark Mark = iota
	// PartsMark is the empty file _SUCCESS beside parts whose names end with a hash. A stream called part-00000.parquet becomes
	// part-00000-0123456789abcdef.parquet.
	PartsMark
	// CardMark is README.md, with the text that [Folder.SetCard] gave. Streams are shards: train-00000.parquet becomes
	// train-00000-of-00002.parquet if train-00001.parquet is in the same class.
	CardMark
)

// file is the name of the file that is the mark.
func (m Mark) file() string {
	switch m {
	case PartsMark:
		return "_SUCCESS"
	case CardMark:
		return "README.md"
	}
	return "_manifest.json"
}

func (m Mark) reserved() error {
	return fmt.Errorf("%w: %s is the folder's mark", fs.ErrInvalid, m.file())
}

// names is what all streams of a folder are called at last.
func (m Mark) names(all []*Stream) []string {
	shards := map[shardSet]int{}
	for _, f := range all {
		shards[f.shardSet()]++
	}
	names := make([]string, len(all))
	for i, f := range all {
		stem, ext := cutExtension(f.name)
		switch m {
		case PartsMark:
			names[i] = stem + "-" + hex.EncodeToString(f.sum) + ext
		case CardMark:
			names[i] = fmt.Sprintf("%s-of-%05d%s", stem, shards[f.shardSet()], ext)
		default:
			names[i] = f.name
		}
	}
	return names
}

// A shardSet is what the shards of one split have in common.
type shardSet struct {
	class  *Class
	prefix string // of their names, before the number
}

func (f *Stream) shardSet() shardSet {
	stem, _ := cutExtension(f.name)
	return shardSet{f.class, stem[:strings.LastIndexByte(stem, '-')+1]}
}

// cutExtension cuts name before its extensions: part-00000 and .csv.gz. The name of a split may have points of its own.
func cutExtension(name string) (stem, ext string) {
	at := strings.LastIndexByte(name, '-')
	if point := strings.IndexByte(name[at+1:], '.'); point >= 0 {
		return name[:at+1+point], name[at+1+point:]
	}
	return name, ""
}

// text is what the file that is the mark holds.
func (m Mark) text(made *manifest, card []byte) []byte {
	switch m {
	case PartsMark:
		return nil
	case CardMark:
		digest := sha256.Sum256(card)
		made.Card = hex.EncodeToString(digest[:])
		line, _ := json.Marshal(made) // it has no value that could fail
		return slices.Concat(card, []byte(cardBegin), line, []byte(cardEnd))
	}
	return made.encode()
}

// The manifest in a card lies between these.
const (
	cardBegin = "<!-- "
	cardEnd   = " -->\n"
)

// manifestIn finds the manifest in text, which a file that is the mark holds.
func (m Mark) manifestIn(text []byte) (*manifest, error) {
	if m != CardMark {
		return decodeManifest(text)
	}
	at := bytes.LastIndex(text, []byte(cardBegin))
	if at < 0 || !bytes.HasSuffix(text, []byte(cardEnd)) {
		return nil, errors.New("not a card of ours")
	}
	made, err := decodeManifest(text[at+len(cardBegin) : len(text)-len(cardEnd)])
	if err != nil {
		return nil, err
	}
	if digest := sha256.Sum256(text[:at]); hex.EncodeToString(digest[:]) != made.Card {
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

// A sum is an integer modulo 2^256, big-endian: sums of digests do not depend on the order of files.
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
	digest, err := hex.DecodeString(string(text))
	if err != nil {
		return err
	}
	if len(digest) != len(s) {
		return fmt.Errorf("hash of %d bytes, want %d", len(digest), len(s))
	}
	copy(s[:], digest)
	return nil
}

// hashers are reused: one hash for each of 60,000 files would be garbage for nothing.
var hashers = sync.Pool{New: func() any { return sha256.New() }}

// contentTerm is the term of a file whose content has the SHA-256 digest content.
func contentTerm(class, name string, content []byte) sum {
	h := hashers.Get().(hash.Hash)
	defer hashers.Put(h)
	h.Reset()
	var scratch [256]byte
	head := append(scratch[:0], class...)
	head = append(head, '/')
	head = append(head, name...)
	head = append(head, 0)
	h.Write(append(head, content...))
	return sum(h.Sum(scratch[:0]))
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

func (m *manifest) encode() []byte {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil // it has no value that could fail
	}
	return append(text, '\n')
}

func decodeManifest(text []byte) (*manifest, error) {
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, err
	}
	if m.Format != manifestFormat {
		return nil, errors.New("not a manifest of ours")
	}
	if m.Version < 1 || m.Version > manifestVersion {
		return nil, fmt.Errorf("manifest of version %d, want 1 to %d", m.Version, manifestVersion)
	}
	return &m, nil
}

// maxManifest bounds what is read of a file that only claims to be a manifest, in bytes; a class folder takes about 110.
const maxManifest = 64 << 20

const notOursHint = "remove the folder yourself, or name a new one"

// sealOf returns the seal of the folder at path, the target shown or what was the target, if it is an earlier output and holds nothing else: the text of its
// mark, or the names of its parts. Otherwise it fails with fault.Refused and names the stranger. Contents are not read.
func (m Mark) sealOf(d disk, shown, path string) ([]byte, error) {
	if m == PartsMark {
		return sealOfParts(d, shown, path)
	}
	text, err := readManifest(d, filepath.Join(path, m.file()))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refusal(shown, "it has no "+m.file()+", so it is no output of idxport", notOursHint)
	}
	if err != nil {
		return nil, failure(shown, "reading its "+m.file(), err)
	}
	made, err := m.manifestIn(text)
	if err != nil {
		return nil, refusal(shown, m.file()+": "+err.Error(), notOursHint)
	}
	reason, err := made.stranger(d, path, ".", m.file())
	if err != nil {
		return nil, failure(shown, "listing it", err)
	}
	if reason != "" {
		return nil, refusal(shown, reason, "move it away, or name a new folder")
	}
	return text, nil
}

func readManifest(d disk, path string) ([]byte, error) {
	info, err := d.lstat(path)
	if err != nil || !info.Mode().IsRegular() { // what is no file is no manifest of ours
		return nil, err
	}
	f, err := d.open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxManifest))
}

// stranger says how the listing of a class folder of the folder at path, less the file mark, differs from the manifest; "" if it does not. Class "." is the folder
// itself, with all classes.
func (m *manifest) stranger(d disk, path, class, mark string) (string, error) {
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
			if reason, err := m.stranger(d, path, name, mark); reason != "" || err != nil {
				return reason, err
			}
		default:
			return fmt.Sprintf("it holds %s, which is not in its manifest", filepath.Join(class, name)), nil
		}
	}
	if reason := compareNames(class, files, m.Classes[class]); reason != "" || class != "." {
		return reason, nil
	}
	delete(m.Classes, ".")
	if folders != len(m.Classes) {
		return fmt.Sprintf("it holds %d of the %d class folders in its manifest", folders, len(m.Classes)), nil
	}
	return "", nil
}

// compareNames says how the files of a class folder differ from its record. The record has only a sum, but a single stranger
// is the one whose term is the difference.
func compareNames(class string, files []string, record classRecord) string {
	var names sum
	for _, name := range files {
		names.add(nameTerm(name))
	}
	if int64(len(files)) == record.Files && names == record.Names {
		return ""
	}
	for _, name := range files {
		without := record.Names
		without.add(nameTerm(name))
		if without == names && int64(len(files)) > record.Files {
			return fmt.Sprintf("it holds %s, which is not in its manifest", filepath.Join(class, name))
		}
	}
	return fmt.Sprintf("folder %s holds %d files, which are not the %d in its manifest", class, len(files), record.Files)
}

// partName matches the name of a part as published; its groups are the number, the hash and the extensions. Parts of a plan have the beginning of its ID for a
// hash, and are counted over all its targets.
var partName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^part-(\d{5,})-([0-9a-f]{8}|[0-9a-f]{16})(\.[a-z]+(?:\.[a-z]+)?)$`)
})

// planDigits is how many digits of the ID of a plan the names of its parts have.
const planDigits = 8

// sealOfParts is sealOf for PartsMark.
func sealOfParts(d disk, shown, path string) ([]byte, error) {
	entries, err := d.readDir(path)
	if err != nil {
		return nil, failure(shown, "listing it", err)
	}
	whole, first, plan, ext := false, 0, "", ""
	var lines []string
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			return nil, failure(shown, "listing it", err)
		}
		name, regular := entry.Name(), info.Mode().IsRegular()
		if regular && name == PartsMark.file() && info.Size() == 0 {
			whole = true
			continue
		}
		match := partName().FindStringSubmatch(name)
		if lines == nil && match != nil && len(match[2]) == planDigits {
			plan = match[2]
			first, _ = strconv.Atoi(match[1]) // else no number is the one that is expected
		}
		if !regular || match == nil || ext != "" && ext != match[3] || plan != "" && plan != match[2] || match[1] != fmt.Sprintf("%05d", first+len(lines)) {
			return nil, refusal(shown, fmt.Sprintf("it holds %s, which is no part of an output of idxport", name), notOursHint)
		}
		ext = match[3]
		lines = append(lines, partLine(name, info.Size()))
	}
	if !whole {
		return nil, refusal(shown, "it has no "+PartsMark.file()+", so it is no output of idxport", notOursHint)
	}
	return sealParts(lines), nil
}

// sealParts is the names of all parts, each with its size, which is all there is to tell of the contents: their hashes are in the names.
func sealParts(lines []string) []byte {
	slices.Sort(lines)
	return []byte(strings.Join(lines, ""))
}

func partLine(name string, size int64) string { return fmt.Sprintf("%s %d\n", name, size) }
