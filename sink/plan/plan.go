package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
)

// What plans say of themselves.
const (
	format  = "idxport-plan"
	version = 2
)

// A Plan is one piece of work, divided.
type Plan struct {
	Format     string            `json:"format"`
	Version    int               `json:"version"`
	ID         string            `json:"plan_id"`              // SHA-256 of the plan as JSON without this and the next
	Created    string            `json:"created"`              // RFC 3339
	Tool       string            `json:"tool"`                 // the program and its version: another may make other bytes
	Options    json.RawMessage   `json:"options"`              // of all parts: what decides on their bytes, see package convert
	Parameters map[string]string `json:"parameters,omitempty"` // of the buckets of URLs, such as their endpoint: by URL, as a query
	Targets    []Target          `json:"targets"`

	// Objects is where targets and inputs are that are named by URL.
	Objects *object.Store `json:"-"`

	path string // that it was read from
}

// A Target is one output: a folder of parts.
type Target struct {
	Path      string  `json:"path"`
	Format    string  `json:"format"`
	Extension string  `json:"extension"` // of the parts
	Dataset   string  `json:"dataset"`   // as convert takes it
	Inputs    []Input `json:"inputs"`
	Rows      int64   `json:"rows"`
	Parts     []Part  `json:"parts"`
}

// An Input is one file, or one version of an object.
type Input struct {
	Path   string `json:"path"`
	Column string `json:"column,omitempty"` // its name; empty: it is no column, as the file of class names
	Bytes  int64  `json:"bytes"`            // of the file
	ETag   string `json:"etag,omitempty"`   // of an object: what its storage calls this version
	Header *Piece `json:"header,omitempty"` // of a column in a file of which parts read a piece: what holds its header
}

// A Part is a range of rows, and what it is made of in each input of its target.
type Part struct {
	Index  int     `json:"index"` // over all targets
	First  int64   `json:"first"`
	Last   int64   `json:"last"` // half-open
	Pieces []Piece `json:"pieces"`
}

// A Piece is a range of the bytes of an input.
type Piece struct {
	From int64  `json:"from"`
	To   int64  `json:"to"`             // half-open
	XXH3 string `json:"xxh3,omitempty"` // of 128 bits; empty for an object, which is known by its ETag
}

// Complete fills in what follows from the rest.
func (p *Plan) Complete(created time.Time) {
	p.Format, p.Version = format, version
	p.ID = p.id()
	p.Created = created.UTC().Format(time.RFC3339)
}

// id is the hash of the plan without its name and time.
func (p *Plan) id() string {
	bare := *p
	bare.ID, bare.Created = "", ""
	text, _ := json.Marshal(bare) // strings and numbers, in the order of the fields
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Parts is the number of parts of all targets.
func (p *Plan) Parts() int {
	n := 0
	for _, t := range p.Targets {
		n += len(t.Parts)
	}
	return n
}

// Part is the part with the index, and its target.
func (p *Plan) Part(index int) (*Target, *Part, error) {
	rest := index
	for i := range p.Targets {
		t := &p.Targets[i]
		if rest >= 0 && rest < len(t.Parts) {
			return t, &t.Parts[rest], nil
		}
		rest -= len(t.Parts)
	}
	return nil, nil, fail(fault.Usage, fmt.Sprintf("parts are counted from 0 to %d", p.Parts()-1), "the plan has no part %d", index)
}

// FileName is the name of the file of a part: its number and the plan that it belongs to.
func (p *Plan) FileName(t *Target, part *Part) string {
	return fmt.Sprintf("%s%05d-%s%s", partPrefix, part.Index, p.short(), t.Extension)
}

// Reads reports whether path is an input of t.
func (t *Target) Reads(path string) bool {
	return slices.ContainsFunc(t.Inputs, func(in Input) bool { return in.Path == path })
}

// partPrefix is what the names of parts begin with.
const partPrefix = "part-"

// short is the beginning of the ID, which is enough beside each other.
func (p *Plan) short() string { return p.ID[:8] }

// noPlan is the error for what is in the place of a plan and was not written by the program.
func noPlan(path, message string, values ...any) *fault.Error {
	return fail(fault.Malformed, "make it anew with idxport plan", message, values...).In(path)
}

// fail is a fault with what the user can do.
func fail(kind fault.Kind, advice, message string, values ...any) *fault.Error {
	return fault.New(kind, message, values...).WithHint("%s", advice)
}

// check refuses plans whose parts do not make up their tables: a hash says that nobody changed it,
// not who made it.
func (p *Plan) check(path string) error {
	if len(p.Targets) == 0 {
		return noPlan(path, "it has no targets")
	}
	index, paths := 0, map[string]bool{}
	for i := range p.Targets {
		t := &p.Targets[i]
		named := extension().MatchString(t.Extension) && plain().MatchString(t.Format) && plain().MatchString(t.Dataset)
		if t.Path == "" || paths[t.Path] || len(t.Parts) == 0 || !named {
			return noPlan(path, "target %d is %q with %d parts in format %q of the data set %q that end with %q, "+
				"expected a path of its own, parts, names, and an ending such as .parquet",
				i, t.Path, len(t.Parts), t.Format, t.Dataset, t.Extension)
		}
		paths[t.Path] = true
		if err := t.check(path, index); err != nil {
			return err
		}
		index += len(t.Parts)
	}
	return nil
}

// extension is what the extension of a part may be: no way out of its folder.
var extension = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\.[A-Za-z0-9_]+)+$`) })

// plain is what formats and data sets may be called.
var plain = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]+$`) })

// check refuses inputs and parts that no plan has; index is that of the first part.
func (t *Target) check(path string, index int) error {
	for _, in := range t.Inputs {
		if (in.ETag != "") != object.IsURL(in.Path) {
			return noPlan(path, "found the ETag %q of %s, expected one of objects alone", in.ETag, in.Path)
		}
		if in.Header != nil && !in.Header.in(&in) {
			return noPlan(path, "the header of %s is its bytes %d to %d of %d", in.Path, in.Header.From, in.Header.To, in.Bytes)
		}
	}
	next := int64(0)
	for _, part := range t.Parts {
		if part.Index != index || part.First != next || part.Last < part.First || len(part.Pieces) != len(t.Inputs) {
			return noPlan(path, "part %d is rows %d to %d, expected part %d from row %d on", part.Index, part.First, part.Last, index, next)
		}
		for k := range part.Pieces {
			if piece, in := &part.Pieces[k], &t.Inputs[k]; !piece.in(in) {
				return noPlan(path, "part %d is made of the bytes %d to %d of %s, which has %d", index, piece.From, piece.To, in.Path, in.Bytes)
			}
		}
		index, next = index+1, part.Last
	}
	if next != t.Rows {
		return noPlan(path, "the parts of %s end at row %d of %d", t.Path, next, t.Rows)
	}
	return nil
}

// in reports whether a piece lies in the input.
func (p *Piece) in(in *Input) bool { return 0 <= p.From && p.From <= p.To && p.To <= in.Bytes }
