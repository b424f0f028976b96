package publish

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
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

// SetCard gives the text of the folder's README.md, which ends with an end of line.
func (d *Folder) SetCard(text []byte) { d.card = text }

// partNames is the names of all parts, each with its size, which is all there is to tell of the contents: their hashes are in the names.
func (d *Folder) partNames() []byte {
	var lines []string
	for _, f := range d.streams {
		lines = append(lines, partLine(f.name, f.file.count))
	}
	return joinLines(lines)
}

func partLine(name string, size int64) string { return fmt.Sprintf("%s %d\n", name, size) }

func joinLines(lines []string) []byte {
	slices.Sort(lines)
	return []byte(strings.Join(lines, ""))
}

// partName matches the name of a part as published; its groups are the number and the extensions.
var partName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^part-(\d{5,})-[0-9a-f]{16}(\.[a-z]+(?:\.[a-z]+)?)$`)
})

// ownParts is ownFolder for PartsMark: it returns the names and sizes of the parts.
func (s *Set) ownParts(out *output, path string) ([]byte, error) {
	entries, err := s.disk.readDir(path)
	if err != nil {
		return nil, failure(out.Path, "listing it", err)
	}
	whole, ext := false, ""
	var lines []string
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			return nil, failure(out.Path, "listing it", err)
		}
		name, regular := entry.Name(), info.Mode().IsRegular()
		if regular && name == PartsMark.file() && info.Size() == 0 {
			whole = true
			continue
		}
		match := partName().FindStringSubmatch(name)
		if !regular || match == nil || ext != "" && ext != match[2] || match[1] != fmt.Sprintf("%05d", len(lines)) {
			return nil, refusal(out.Path, fmt.Sprintf("it holds %s, which is no part of an output of idxport", name), notOursHint)
		}
		ext = match[2]
		lines = append(lines, partLine(name, info.Size()))
	}
	if !whole {
		return nil, refusal(out.Path, "it has no "+PartsMark.file()+", so it is no output of idxport", notOursHint)
	}
	return joinLines(lines), nil
}
