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
	"strings"
	"sync"
)

// A Mark is a kind of file that shows that its folder is complete and was written by idxport; see
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
	// same subfolder.
	CardMark
)

// file returns the name of the mark.
func (mark Mark) file() string { return [...]string{"_manifest.json", "_SUCCESS", "README.md"}[mark] }

// The texts before and after the manifest in a card.
const (
	cardBegin = "<!-- "
	cardEnd   = " -->\n"
)

// text returns the content of the mark. Encoding a manifest cannot fail.
func (mark Mark) text(m *manifest, card []byte) []byte {
	switch mark {
	case PartsMark:
		return nil
	case CardMark:
		digest := sha256.Sum256(card)
		m.Card = hex.EncodeToString(digest[:])
		line, _ := json.Marshal(m)
		return slices.Concat(card, []byte(cardBegin), line, []byte(cardEnd))
	}
	text, _ := json.MarshalIndent(m, "", "  ")
	return append(text, '\n')
}

// errNotOurs is the error for a file with the name of a mark that another program wrote.
var errNotOurs = errors.New("was not written by idxport")

// parse returns the manifest in text, the content of a mark. Its error completes a message that
// begins with the name of the file.
func (mark Mark) parse(text []byte) (*manifest, error) {
	var card []byte
	if mark == CardMark {
		begin := bytes.LastIndex(text, []byte(cardBegin))
		if begin < 0 || !bytes.HasSuffix(text[begin+len(cardBegin):], []byte(cardEnd)) {
			return nil, errNotOurs
		}
		card, text = text[:begin], text[begin+len(cardBegin):len(text)-len(cardEnd)]
	}
	m := new(manifest)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("%w: %v", errNotOurs, err)
	}
	digest := sha256.Sum256(card)
	switch {
	case m.Format != manifestFormat:
		return nil, errNotOurs
	case m.Version < 1 || m.Version > manifestVersion:
		return nil, fmt.Errorf("has version %d, expected 1 to %d", m.Version, manifestVersion)
	case mark == CardMark && hex.EncodeToString(digest[:]) != m.Card:
		return nil, errors.New("was edited")
	}
	return m, nil
}

const (
	manifestFormat  = "idxport-folder"
	manifestVersion = 2
)

// A manifest describes a published folder; see the package comment.
type manifest struct {
	Format     string                     `json:"format"`
	Version    int                        `json:"version"`
	Files      int64                      `json:"files"`
	Bytes      int64                      `json:"bytes"`
	Content    sum                        `json:"content"`
	Subfolders map[string]subfolderRecord `json:"classes"`        // by folder; encoding/json sorts them
	Card       string                     `json:"card,omitempty"` // SHA-256 of a card's text before its manifest
}

type subfolderRecord struct {
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

// contentTerm returns the term of a file in "content"; digest is the SHA-256 of its bytes. It
// allocates nothing for names of a usual length, as there may be 60,000 files.
func contentTerm(subfolder, name string, digest []byte) sum {
	var scratch [256]byte
	term := append(scratch[:0], subfolder...)
	term = append(term, '/')
	term = append(term, name...)
	term = append(term, 0)
	return sha256.Sum256(append(term, digest...))
}

func nameTerm(name string) sum { return sha256.Sum256([]byte(name)) }

// totals describes the files of a subfolder.
type totals struct {
	files, bytes   int64
	content, names sum
}

// add adds the totals of a subfolder to the manifest.
func (m *manifest) add(subfolder string, t totals) {
	m.Files += t.files
	m.Bytes += t.bytes
	m.Content.add(t.content)
	m.Subfolders[subfolder] = subfolderRecord{Files: t.files, Names: t.names}
}

// maxManifest bounds the bytes read from a foreign file with the name of a mark. A subfolder needs
// about 110 bytes.
const maxManifest = 64 << 20

const foreignHint = "move it away, or name a new folder"

// refuseForeign fails with fault.Refused, and the reason, unless the folder at path is an earlier
// output and holds nothing else. It reads no file but the mark. shown is the path of the target,
// for messages: path may be a hidden name.
func (mark Mark) refuseForeign(d disk, shown, path string) error {
	if mark == PartsMark {
		return refuseForeignParts(d, shown, path)
	}
	text, err := readMark(d, filepath.Join(path, mark.file()))
	if errors.Is(err, fs.ErrNotExist) {
		return noMark(shown, mark)
	}
	if err != nil {
		return Failure(shown, "reading its "+mark.file(), err)
	}
	m, err := mark.parse(text)
	if err != nil {
		return refusal(shown, mark.file()+" "+err.Error(), foreignHint)
	}
	reason, err := m.difference(d, path, ".", mark.file())
	if reason != "" {
		return refusal(shown, reason, foreignHint)
	}
	return Failure(shown, "listing it", err)
}

// noMark returns the error for a folder without a mark.
func noMark(shown string, mark Mark) error {
	return refusal(shown, "it has no "+mark.file()+", so it is not an output of idxport", foreignHint)
}

// readMark reads the file at path, which has the name of a mark. If it is not a regular file,
// readMark returns no bytes.
func readMark(d disk, path string) ([]byte, error) {
	info, err := d.lstat(path)
	if err == nil && info == nil {
		err = fs.ErrNotExist
	}
	if err != nil || !info.Mode().IsRegular() {
		return nil, err
	}
	return doValue(d, "open", path, func() ([]byte, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return io.ReadAll(io.LimitReader(f, maxManifest))
	})
}

// difference describes how the listing of a subfolder of the folder at path differs from the
// manifest, or returns "". Subfolder "." is the folder itself, with its mark and all subfolders.
func (m *manifest) difference(d disk, path, subfolder, mark string) (string, error) {
	entries, err := d.readDir(filepath.Join(path, subfolder))
	if err != nil {
		return "", err
	}
	var files []string
	folders := 0
	for _, entry := range entries {
		name, top := entry.Name(), subfolder == "."
		_, known := m.Subfolders[name]
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
			return notListed(subfolder, name), nil
		}
	}
	if reason := m.Subfolders[subfolder].difference(subfolder, files); reason != "" || subfolder != "." {
		return reason, nil
	}
	expected := len(m.Subfolders)
	if _, ok := m.Subfolders["."]; ok {
		expected--
	}
	if folders != expected {
		return fmt.Sprintf("it holds %d of the %d class folders in its manifest", folders, expected), nil
	}
	return "", nil
}

// difference describes how the files of a subfolder differ from its record, or returns "". The
// record has only a sum of the names, but that suffices to find a single additional file.
func (record subfolderRecord) difference(subfolder string, files []string) string {
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
			return notListed(subfolder, name)
		}
	}
	what := "its files"
	if subfolder != "." {
		what = "the files in folder " + subfolder
	}
	return fmt.Sprintf("%s are not those of its manifest: found %d, expected %d", what, len(files), record.Files)
}

func notListed(subfolder, name string) string {
	return fmt.Sprintf("it holds %s, which is not in its manifest", filepath.Join(subfolder, name))
}

// partName matches the name of a published part; its groups are the number and the extensions.
var partName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^part-(\d{5,})-[0-9a-f]{16}(\.[a-z]+(?:\.[a-z]+)?)$`)
})

// refuseForeignParts is refuseForeign for PartsMark: the names of the parts are the manifest.
func refuseForeignParts(d disk, shown, path string) error {
	entries, err := d.readDir(path)
	if err != nil {
		return Failure(shown, "listing it", err)
	}
	foreign := func(name string) error {
		return refusal(shown, fmt.Sprintf("it holds %s, which idxport did not write", name), foreignHint)
	}
	digits := func(e fs.DirEntry) int { return strings.IndexByte(strings.TrimPrefix(e.Name(), "part-"), '-') }
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return digits(a) - digits(b) }) // 99999, then 100000
	marked, parts, ext := false, 0, ""
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
		if parts == 0 {
			ext = match[2]
		}
		if match[2] != ext || match[1] != fmt.Sprintf("%05d", parts) {
			return foreign(name)
		}
		parts++
	}
	if !marked {
		return noMark(shown, PartsMark)
	}
	return nil
}

// holdsParts reports whether the folder at path is an output with PartsMark, perhaps with other
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
