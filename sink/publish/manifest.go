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

// A Mark is the file by which a folder shows that it is complete and was written by idxport; see
// the package comment.
type Mark int

const (
	// ManifestMark is the file _manifest.json.
	ManifestMark Mark = iota
	// PartsMark is the empty file _SUCCESS beside parts whose names end with a hash: the stream
	// part-00000.parquet becomes part-00000-0123456789abcdef.parquet.
	PartsMark
	// CardMark is README.md, with the text given to [Folder.SetCard]. Streams are shards:
	// train-00000.parquet becomes train-00000-of-00002.parquet if train-00001.parquet is in the
	// same class.
	CardMark
)

// file returns the name of the mark.
func (m Mark) file() string { return [...]string{"_manifest.json", "_SUCCESS", "README.md"}[m] }

// A card holds its manifest between these.
const (
	cardBegin = "<!-- "
	cardEnd   = " -->\n"
)

// text returns the content of the mark. Encoding a manifest cannot fail.
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

// errNotOurs is the error for a file with the name of a mark that another program wrote.
var errNotOurs = errors.New("was not written by idxport")

// parse returns the manifest in the content of a mark. Its error continues a sentence that begins
// with the name of the file.
func (m Mark) parse(text []byte) (*manifest, error) {
	var card []byte
	if m == CardMark {
		begin := bytes.LastIndex(text, []byte(cardBegin))
		if begin < 0 || !bytes.HasSuffix(text[begin+len(cardBegin):], []byte(cardEnd)) {
			return nil, errNotOurs
		}
		card, text = text[:begin], text[begin+len(cardBegin):len(text)-len(cardEnd)]
	}
	made := new(manifest)
	if err := json.Unmarshal(text, made); err != nil {
		return nil, fmt.Errorf("%w: %v", errNotOurs, err)
	}
	digest := sha256.Sum256(card)
	switch {
	case made.Format != manifestFormat:
		return nil, errNotOurs
	case made.Version < 1 || made.Version > manifestVersion:
		return nil, fmt.Errorf("has version %d, expected 1 to %d", made.Version, manifestVersion)
	case m == CardMark && hex.EncodeToString(digest[:]) != made.Card:
		return nil, errors.New("was edited")
	}
	return made, nil
}

const (
	manifestFormat  = "idxport-folder"
	manifestVersion = 2
)

// A manifest describes a published folder; see the package comment.
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

// A sum is an integer modulo 2^256, big-endian. Sums of digests do not depend on the order of
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

// UnmarshalText is the inverse of MarshalText.
func (s *sum) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(s)) {
		return fmt.Errorf("found a hash of %d digits, expected %d", len(text), hex.EncodedLen(len(s)))
	}
	_, err := hex.Decode(s[:], text)
	return err
}

// contentTerm returns the term of a file whose content has the SHA-256 digest content. It allocates
// nothing for names of a usual length, as there may be 60,000 files.
func contentTerm(class, name string, content []byte) sum {
	var scratch [256]byte
	term := append(scratch[:0], class...)
	term = append(term, '/')
	term = append(term, name...)
	term = append(term, 0)
	return sha256.Sum256(append(term, content...))
}

func nameTerm(name string) sum { return sha256.Sum256([]byte(name)) }

// A tally counts the files of a class.
type tally struct {
	files, bytes   int64
	content, names sum
}

// add adds the tally of a class to the manifest.
func (m *manifest) add(class string, t tally) {
	m.Files += t.files
	m.Bytes += t.bytes
	m.Content.add(t.content)
	m.Classes[class] = classRecord{Files: t.files, Names: t.names}
}

// maxManifest bounds the bytes read from a foreign file with the name of a mark. A class takes
// about 110 bytes.
const maxManifest = 64 << 20

const foreignHint = "move it away, or name a new folder"

// refuseForeign fails with fault.Refused, and the reason, unless the folder at path is an earlier
// output and holds nothing else. It reads no file but the mark. shown is the path of the target,
// which messages name, because path may be a hidden name.
func (m Mark) refuseForeign(d disk, shown, path string) error {
	if m == PartsMark {
		return refuseForeignParts(d, shown, path)
	}
	text, err := readMark(d, filepath.Join(path, m.file()))
	if errors.Is(err, fs.ErrNotExist) {
		return noMark(shown, m)
	}
	if err != nil {
		return Failure(shown, "reading its "+m.file(), err)
	}
	made, err := m.parse(text)
	if err != nil {
		return refusal(shown, m.file()+" "+err.Error(), foreignHint)
	}
	reason, err := made.difference(d, path, ".", m.file())
	if reason != "" {
		return refusal(shown, reason, foreignHint)
	}
	return Failure(shown, "listing it", err)
}

// noMark returns the error for a folder without a mark.
func noMark(shown string, m Mark) error {
	return refusal(shown, "it has no "+m.file()+", so it is not an output of idxport", foreignHint)
}

// readMark reads the file with the name of a mark. It returns no bytes if that is not a regular
// file.
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

// difference says how the listing of a class of the folder at path differs from the manifest; "" if
// it does not. Class "." is the folder itself, with its mark and all classes.
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
			return notListed(class, name), nil
		}
	}
	if reason := m.Classes[class].difference(class, files); reason != "" || class != "." {
		return reason, nil
	}
	delete(m.Classes, ".")
	if folders != len(m.Classes) {
		return fmt.Sprintf("it holds %d of the %d class folders in its manifest", folders, len(m.Classes)), nil
	}
	return "", nil
}

// difference says how the files of a class differ from its record; "" if they do not. The record
// has only a sum of the names, but that suffices to find a single additional file.
func (record classRecord) difference(class string, files []string) string {
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
			return notListed(class, name)
		}
	}
	what := "its files"
	if class != "." {
		what = "the files in folder " + class
	}
	return fmt.Sprintf("%s are not those of its manifest: found %d, expected %d", what, len(files), record.Files)
}

func notListed(class, name string) string {
	return fmt.Sprintf("it holds %s, which is not in its manifest", filepath.Join(class, name))
}

// partName matches the name of a published part; its groups are the number, the hash and the
// extensions. Parts of a plan have the first digits of its ID in place of the hash, and their
// numbers count the parts of all its targets.
var partName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^part-(\d{5,})-([0-9a-f]{8}|[0-9a-f]{16})(\.[a-z]+(?:\.[a-z]+)?)$`)
})

// planDigits is the number of digits of a plan's ID in the names of its parts.
const planDigits = 8

// refuseForeignParts is refuseForeign for PartsMark: the names of the parts are the manifest.
func refuseForeignParts(d disk, shown, path string) error {
	entries, err := d.readDir(path)
	if err != nil {
		return Failure(shown, "listing it", err)
	}
	foreign := func(name string) error {
		return refusal(shown, fmt.Sprintf("it holds %s, which is not a part of an output of idxport", name), foreignHint)
	}
	marked, parts, first, plan, ext := false, 0, 0, "", ""
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			return Failure(shown, "listing it", err)
		}
		name := entry.Name()
		match := partName().FindStringSubmatch(name)
		switch {
		case info.Mode().IsRegular() && name == PartsMark.file() && info.Size() == 0:
			marked = true
			continue
		case !info.Mode().IsRegular() || match == nil:
			return foreign(name)
		}
		number, id := match[1], match[2]
		if len(id) != planDigits { // a hash, which is different for every part
			id = ""
		}
		if parts == 0 {
			plan, ext = id, match[3]
			if plan != "" {
				first, _ = strconv.Atoi(number) // after an error the comparison below fails
			}
		}
		if id != plan || match[3] != ext || number != fmt.Sprintf("%05d", first+parts) {
			return foreign(name)
		}
		parts++
	}
	if !marked {
		return noMark(shown, PartsMark)
	}
	return nil
}

// holdsParts reports whether the folder at path is an output under PartsMark, perhaps with other
// files in it.
func holdsParts(path string) bool {
	info, err := os.Lstat(filepath.Join(path, PartsMark.file()))
	if err != nil || !info.Mode().IsRegular() || info.Size() > 0 {
		return false
	}
	entries, err := os.ReadDir(path)
	return err == nil && slices.ContainsFunc(entries, func(entry fs.DirEntry) bool {
		return partName().MatchString(entry.Name())
	})
}
