package publish

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"math/bits"
	"sync"
)

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

// A sum is an integer modulo 2^256, its most significant word first: sums of digests do not depend on the order of files.
type sum [4]uint64

func (s *sum) add(t sum) {
	var carry uint64
	for i := 3; i >= 0; i-- {
		s[i], carry = bits.Add64(s[i], t[i], carry)
	}
}

func (s *sum) subtract(t sum) {
	var borrow uint64
	for i := 3; i >= 0; i-- {
		s[i], borrow = bits.Sub64(s[i], t[i], borrow)
	}
}

func sumOf(digest []byte) sum {
	var s sum
	for i := range s {
		s[i] = binary.BigEndian.Uint64(digest[8*i:])
	}
	return s
}

// MarshalText returns 64 hexadecimal digits.
func (s sum) MarshalText() ([]byte, error) {
	var digest []byte
	for _, word := range s {
		digest = binary.BigEndian.AppendUint64(digest, word)
	}
	return hex.AppendEncode(nil, digest), nil
}

// UnmarshalText is MarshalText's inverse.
func (s *sum) UnmarshalText(text []byte) error {
	digest, err := hex.DecodeString(string(text))
	if err != nil {
		return err
	}
	if len(digest) != sha256.Size {
		return fmt.Errorf("hash of %d bytes, want %d", len(digest), sha256.Size)
	}
	*s = sumOf(digest)
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
	return sumOf(h.Sum(scratch[:0]))
}

func nameTerm(name string) sum {
	digest := sha256.Sum256([]byte(name))
	return sumOf(digest[:])
}

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
