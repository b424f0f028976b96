package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
)

// The format and version of plans.
const (
	format  = "idxport-plan"
	version = 2
)

// A Plan is a conversion divided into parts.
type Plan struct {
	Format     string            `json:"format"`
	Version    int               `json:"version"`
	ID         string            `json:"plan_id"`              // SHA-256 of the plan as JSON, with ID and Created empty
	Created    string            `json:"created"`              // RFC 3339
	Tool       string            `json:"tool"`                 // the program and its version: another may make other bytes
	Options    json.RawMessage   `json:"options"`              // options that the bytes of the parts depend on, see package convert
	Parameters map[string]string `json:"parameters,omitempty"` // of buckets, such as their endpoint: queries by URL
	Targets    []Target          `json:"targets"`

	// Objects is the store of targets and inputs that are named by URL.
	Objects *object.Store `json:"-"`

	path string // the file or object that it was read from
}

// A Target is one output: a folder of parts.
type Target struct {
	Path      string  `json:"path"`
	Format    string  `json:"format"`
	Extension string  `json:"extension"` // of the parts
	Dataset   string  `json:"dataset"`   // the value of convert.Source.Dataset
	Inputs    []Input `json:"inputs"`
	Rows      int64   `json:"rows"`
	Parts     []Part  `json:"parts"`
}

// An Input is a file, or one version of an object.
type Input struct {
	Path   string `json:"path"`
	Column string `json:"column,omitempty"` // name of the column; empty for the file of class names
	Bytes  int64  `json:"bytes"`            // size of the file
	ETag   string `json:"etag,omitempty"`   // version of an object
	Header *Piece `json:"header,omitempty"` // the header of a file whose parts read only pieces of it
}

// A Part is a range of rows, and the bytes of each input of its target that it is made of.
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
	XXH3 string `json:"xxh3,omitempty"` // 128 bits; empty for an object, which is identified by its ETag
}

// Complete sets the fields that follow from the others, and the time.
func (p *Plan) Complete(created time.Time) {
	p.Format, p.Version = format, version
	p.ID = p.id()
	p.Created = created.UTC().Format(time.RFC3339)
}

// id returns the hash of the plan without its ID and time.
func (p *Plan) id() string {
	bare := *p
	bare.ID, bare.Created = "", ""
	text, _ := json.Marshal(bare) // strings and numbers cannot fail
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Parts returns the number of parts of all targets.
func (p *Plan) Parts() int {
	n := 0
	for _, t := range p.Targets {
		n += len(t.Parts)
	}
	return n
}

// Part returns the part with an index, and its target.
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

// partPrefix is the beginning of the names of parts.
const partPrefix = "part-"

// FileName returns the name of the file of a part: its number and the plan that it belongs to.
func (p *Plan) FileName(t *Target, part *Part) string {
	return fmt.Sprintf("%s%05d-%s%s", partPrefix, part.Index, p.short(), t.Extension)
}

// short returns the beginning of the ID, which distinguishes the plans of one target.
func (p *Plan) short() string { return p.ID[:8] }

// invalid is the error for a file that is not a plan of this program.
func invalid(path, message string, values ...any) *fault.Error {
	return fail(fault.Malformed, "make it again with idxport plan", message, values...).In(path)
}

// fail returns a fault with a hint.
func fail(kind fault.Kind, hint, message string, values ...any) *fault.Error {
	return fault.New(kind, message, values...).WithHint("%s", hint)
}

// Formats and data sets have plain names, and the extension of a part must not lead out of its
// folder.
var (
	plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]+$`) })
	extension = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\.[A-Za-z0-9_]+)+$`) })
)

// check returns an error if the parts do not make up their tables: the ID shows only that the plan
// was not changed, not who made it.
func (p *Plan) check(path string) error {
	if len(p.Targets) == 0 {
		return invalid(path, "it has no targets")
	}
	index, paths := 0, map[string]bool{}
	for i := range p.Targets {
		t := &p.Targets[i]
		named := extension().MatchString(t.Extension) && plainName().MatchString(t.Format) && plainName().MatchString(t.Dataset)
		if t.Path == "" || paths[t.Path] || len(t.Parts) == 0 || !named {
			return invalid(path, "target %d is %q with %d parts in format %q of the data set %q with the extension %q, "+
				"expected a path of its own, parts, plain names, and an extension such as .parquet",
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

// check returns an error for inputs and parts that no plan has; index is that of the first part.
func (t *Target) check(path string, index int) error {
	for _, in := range t.Inputs {
		if (in.ETag != "") != object.IsURL(in.Path) {
			return invalid(path, "found the ETag %q of %s, expected one for objects only", in.ETag, in.Path)
		}
		if in.Header != nil && !in.Header.within(&in) {
			return invalid(path, "the header of %s is its bytes %d to %d of %d", in.Path, in.Header.From, in.Header.To, in.Bytes)
		}
	}
	next := int64(0)
	for _, part := range t.Parts {
		if part.Index != index || part.First != next || part.Last < part.First || len(part.Pieces) != len(t.Inputs) {
			return invalid(path, "part %d is rows %d to %d, expected part %d from row %d on", part.Index, part.First, part.Last, index, next)
		}
		for k := range part.Pieces {
			if piece, in := &part.Pieces[k], &t.Inputs[k]; !piece.within(in) {
				return invalid(path, "part %d is made of the bytes %d to %d of %s, which has %d", index, piece.From, piece.To, in.Path, in.Bytes)
			}
		}
		index, next = index+1, part.Last
	}
	if next != t.Rows {
		return invalid(path, "the parts of %s end at row %d of %d", t.Path, next, t.Rows)
	}
	return nil
}

// within reports whether a piece is in the input.
func (p *Piece) within(in *Input) bool { return 0 <= p.From && p.From <= p.To && p.To <= in.Bytes }
